import type { ReplayReport } from '../counting/report.ts';
import { timeText } from '../counting/figures-text.ts';
import { drawClients } from './clients.ts';
import { drawInput } from './input.ts';
import { drawLimits } from './limits.ts';
import { markup, NOTHING, type Markup } from '../../pages/markup.ts';
import { drawPage } from '../../pages/page.ts';
import { drawRoutes } from './routes.ts';
import { STYLE } from './style.ts';
import { drawSummary } from './summary.ts';

/** Returns a report as one HTML page, which needs no script and loads nothing. Its JSON is the report itself. */
export function reportPage(report: ReplayReport): string {
  const { input, partial, notes } = report;
  const span = input.fromMs === null ? 'no requests' : `${timeText(input.fromMs)} to ${timeText(input.toMs!)} (UTC)`;
  return drawPage({
    title: `${partial.length > 0 ? 'Part of the log: ' : ''}What the limits would have done, ${span}`,
    style: STYLE,
    main: markup`<h1>What the limits would have done</h1>
<p class="quiet">${span}</p>
<p>The requests of a log were replayed: decided by the limits as a server would have decided them. A client is what a limit counts by, such as an address, an account or an API key.</p>
${drawPartial(partial)}${drawSummary(report)}${drawLimits(report)}${drawRoutes(report)}${drawClients(report)}<h2>What this report can’t tell</h2>
<ul>
${notes.map((note) => markup`<li>${note}</li>\n`)}</ul>
${drawInput(report)}`,
    report,
  });
}

function drawPartial(partial: readonly string[]): Markup {
  if (partial.length === 0) return NOTHING;
  return markup`<div class="partial"><p><strong>This report is about a part of the log only:</strong></p>
<ul>${partial.map((why) => markup`<li>${why}</li>`)}</ul></div>
`;
}
