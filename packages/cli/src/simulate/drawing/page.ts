import { markup, NOTHING, type Markup } from '../../pages/markup.ts';
import { drawPage } from '../../pages/page.ts';
import { drawTable } from '../../pages/table.ts';
import { captionOf, cellsOf, columnsOf } from '../counting/report-lines.ts';
import type { ClientReport, SimulationReport } from '../counting/report.ts';
import { picture } from './picture.ts';
import { SIMULATION_STYLE } from './style.ts';

/** Returns a report as one HTML page without scripts, which loads nothing. */
export function simulationPage({ title, description, clients }: SimulationReport): string {
  return drawPage({
    title,
    style: SIMULATION_STYLE,
    main: markup`<h1>${title}</h1>
${description === '' ? NOTHING : markup`<p>${description}</p>\n`}<div class="scroll" role="region" aria-label="Picture" tabindex="0">
${picture(title, clients, NOTHING)}</div>
${clients.map(drawClient)}`,
  });
}

function drawClient(client: ClientReport, index: number): Markup {
  return drawTable({
    id: `client${index}`,
    caption: captionOf(client),
    columns: columnsOf(client).map((title, i) => ({ title, kind: i === 0 ? 'text' : 'part' })),
    rows: client.results.map(cellsOf),
  });
}
