import { share } from '../counting/figures-text.ts';
import type { DeniedReport, ReplayReport } from '../counting/report.ts';
import { drawLegend } from '../../pages/chart.ts';
import { markup, NOTHING, type Markup } from '../../pages/markup.ts';
import { barText, drawTimeline, timelineLegend } from './timeline-chart.ts';

/** Draws the most denied ids, with a timeline each. */
export function drawClients({ mostDenied, passes, totals }: ReplayReport): Markup {
  if (totals.requests === 0) return NOTHING;
  if (mostDenied.length === 0) return markup`<h2>Most denied clients</h2>\n<p>No client would have been denied.</p>\n`;
  const inFirst = passes.length > 1 ? `, with all requests ${passes[0]!}` : '';
  return markup`<h2>Most denied clients</h2>
<p>Their requests per second since their first denial${inFirst}.</p>
${drawLegend(timelineLegend(1))}<ol class="clients">
${mostDenied.map(drawClient)}</ol>
`;
}

function drawClient({ limit, id, requests, denied, timeline }: DeniedReport): Markup {
  return markup`<li><figure>
<figcaption>${limit} <code>${id}</code>: ${share(denied, requests)} denied; ${barText(timeline)}</figcaption>
${drawTimeline(timeline, `Requests of ${id}`, 90)}</figure></li>
`;
}
