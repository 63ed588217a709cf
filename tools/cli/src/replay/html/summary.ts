import { countText } from '../../console/number-text.ts';
import { band } from '../counting/figures-text.ts';
import type { ReplayReport } from '../counting/report.ts';
import { drawLegend } from '../../pages/chart.ts';
import { markup, NOTHING, type Markup } from '../../pages/markup.ts';
import { drawTable } from '../../pages/table.ts';
import { drawFigures } from './figures.ts';
import { barText, drawTimeline, timelineLegend } from './timeline-chart.ts';

/** Draws what all limits together would have done: the figures, the rate and the peak, and the requests over time. */
export function drawSummary(report: ReplayReport): Markup {
  const { totals, passes, timeline } = report;
  if (totals.requests === 0) return markup`<p>The log has no requests that could be replayed.</p>\n`;
  return markup`${drawFigures(report)}${totals.deniedSuccesses.high > 0 ? drawSuccessNote() : NOTHING}${drawBandNote(report)}${drawRates(report)}<figure>
<figcaption>Requests per second over time, of all clients together: ${barText(timeline)}.</figcaption>
${drawLegend(timelineLegend(passes.length))}${drawTimeline(timeline, 'All requests', 220)}</figure>
`;
}

function drawSuccessNote(): Markup {
  return markup`<p>Denied requests that had succeeded may be those of a crawler, which should be denied, or of a client that should not. The most denied clients are shown below.</p>
`;
}

function drawBandNote({ denials }: ReplayReport): Markup {
  if (denials === 'exact') return NOTHING;
  const examples =
    'the outcomes of two replays, with all requests at the start of their second, and spread over it. They are examples, not bounds';
  const twoNumbers =
    denials === 'bounds'
      ? `those of denied requests and clients are the fewest and the most that the limits can have denied, and other figures are ${examples}`
      : `they are ${examples}`;
  return markup`<p>The log has whole seconds only. Where that matters, a figure is two numbers, such as <em>12 to 15</em>: ${twoNumbers}.</p>
`;
}

function drawRates({ totals, input }: ReplayReport): Markup {
  const { requests, denied } = totals;
  // A log of one moment is one of a second.
  const seconds = Math.max(1, (input.toMs! - input.fromMs!) / 1000);
  const rate = (number: number): number => Number((number / seconds).toPrecision(3));
  const allowed = { low: rate(requests - denied.high), high: rate(requests - denied.low) };
  return drawTable({
    id: 'rates',
    caption: 'Requests per second, of all clients together',
    columns: { rate: 'text', mean: 'number', 'most in one second': 'number' },
    rows: [
      ['without the limits', countText(rate(requests)), countText(totals.peakPerSecond)],
      ['with the limits', band(allowed), band(totals.allowedPeakPerSecond)],
    ],
  });
}
