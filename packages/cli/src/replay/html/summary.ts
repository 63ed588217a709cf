import { band, count, percent } from '../counting/figures-text.ts';
import type { Band } from '../counting/band.ts';
import type { ReplayReport } from '../counting/report.ts';
import { drawLegend } from '../../pages/chart.ts';
import { markup, NOTHING, type Markup } from '../../pages/markup.ts';
import { drawTable } from '../../pages/table.ts';
import { drawTimeline, timelineLegend } from './timeline-chart.ts';

/** Draws what all limits together would have done: the figures, the rate and the peak, and the requests over time. */
export function drawSummary(report: ReplayReport): Markup {
  const { totals, passes, timeline } = report;
  if (totals.requests === 0) return markup`<p>The log has no requests that could be replayed.</p>\n`;
  return markup`<dl class="figures">
${figuresOf(totals).map(
  ({ title, figure, detail }) =>
    markup`<div><dt>${title}</dt><dd>${figure}</dd><dd class="quiet">${detail}</dd></div>\n`,
)}</dl>
${passes.length > 1 ? drawBandNote() : NOTHING}${drawRates(report)}<figure>
<figcaption>Requests per second over time</figcaption>
${drawLegend(timelineLegend(passes.length))}${drawTimeline(timeline, 'All requests', 220)}</figure>
`;
}

interface Figure {
  readonly title: string;
  readonly figure: string;
  readonly detail: string;
}

function figuresOf(totals: ReplayReport['totals']): Figure[] {
  const { requests, denied, deniedSuccesses, delayed, undecidable } = totals;
  const ofAll = (part: Band): string => `${partOf(part, requests)} of ${count(requests)}`;
  const figures = [
    { title: 'requests denied', figure: band(denied), detail: ofAll(denied) },
    {
      title: 'denied, though they had succeeded (2xx)',
      figure: band(deniedSuccesses),
      detail: `${successPart(totals)} of the denied requests`,
    },
  ];
  if (delayed.high > 0) figures.push({ title: 'requests delayed', figure: band(delayed), detail: ofAll(delayed) });
  if (undecidable > 0)
    figures.push({ title: 'not decided', figure: count(undecidable), detail: 'requests with a cost above the burst' });
  return figures;
}

function drawBandNote(): Markup {
  return markup`<p>The log has whole seconds only, so it was replayed twice: with all requests at the start of their second, and spread over it. Where the outcomes differ, a figure shows both: <em>12 to 15</em>.</p>
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
    caption: 'Requests per second',
    columns: [
      { title: 'rate', kind: 'text' },
      { title: 'mean', kind: 'number' },
      { title: 'most in one second', kind: 'number' },
    ],
    rows: [
      ['without the limits', count(rate(requests)), count(totals.peakPerSecond)],
      ['with the limits', band(allowed), band(totals.allowedPeakPerSecond)],
    ],
  });
}

/** Returns the part of denied requests that had succeeded. */
export function successPart(counts: { readonly denied: Band; readonly deniedSuccesses: Band }): string {
  const { denied, deniedSuccesses } = counts;
  return denied.high === 0 ? '0 %' : percent(deniedSuccesses.high / denied.high);
}

/** Returns a part of a whole in percent, of the larger outcome. */
export function partOf(part: Band, whole: number): string {
  return percent(whole === 0 ? 0 : part.high / whole);
}
