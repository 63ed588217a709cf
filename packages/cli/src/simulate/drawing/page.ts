import { markup, NOTHING, type Markup } from '../../pages/markup.ts';
import { drawPage } from '../../pages/page.ts';
import { drawTable } from '../../pages/table.ts';
import { captionOf, cellsOf, columnsOf } from '../counting/report-lines.ts';
import type { ClientReport, SimulationReport } from '../counting/report.ts';
import { drawClientChart } from './client-chart.ts';
import { CHART_STYLE } from './style.ts';

/** Returns a report as one HTML page, which needs no script and loads nothing. Its JSON is the report itself. */
export function simulationPage(report: SimulationReport): string {
  const { title, description, clients } = report;
  return drawPage({
    title,
    style: CHART_STYLE,
    main: markup`<h1>${title}</h1>
${description === '' ? NOTHING : markup`<p>${description}</p>\n`}${clients.map(drawClient)}`,
    report,
  });
}

function drawClient(client: ClientReport, index: number): Markup {
  const table = drawTable({
    id: `client${index}`,
    caption: `What became of the requests of ${client.client}`,
    columns: columnsOf(client).map((title, i) => ({ title, kind: i === 0 ? 'text' : 'part' })),
    rows: client.results.map(cellsOf),
  });
  return markup`<h2>${captionOf(client)}</h2>\n${drawClientChart(client)}${table}`;
}
