import { BOX, drawChart, drawLegend, rounded } from '../../pages/chart.ts';
import { markup, NOTHING, type Markup } from '../../pages/markup.ts';
import { drawPage } from '../../pages/page.ts';
import { drawTable } from '../../pages/table.ts';
import { captionOf, cellsOf, columnsOf, descriptionOf } from '../counting/report-lines.ts';
import type { ClientReport, SimulationReport } from '../counting/report.ts';
import { curvesOf, stairs, tickText } from './curves.ts';
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
    caption: `Outcomes of the requests of ${client.client}`,
    columns: Object.fromEntries(columnsOf(client).map((title, i) => [title, i === 0 ? 'text' : 'part'])),
    rows: client.results.map(cellsOf),
  });
  return markup`<h2>${captionOf(client)}</h2>\n${drawClientChart(client)}${table}`;
}

const HEIGHT = 240;

/** Draws the chart of a client on a page, whose text is as large on a narrow page. */
function drawClientChart(client: ClientReport): Markup {
  const { lines, unit, time, count } = curvesOf(client);
  const x = (ms: number): number => rounded((BOX * ms) / unit.ms / time.end);
  const y = (requests: number): number => rounded(BOX * (1 - requests / count.end));
  return markup`<figure>
<figcaption>Requests that continue, by ${unit.name} since the first one arrived</figcaption>
${drawLegend(lines.map(({ label, kind }) => ({ text: label, kind })))}${drawChart({
    label: descriptionOf(client),
    height: HEIGHT,
    xTicks: time.ticks.map((tick) => ({ at: tick / time.end, text: tickText(tick) })),
    yTicks: count.ticks.map((tick) => ({ at: tick / count.end, text: tickText(tick) })),
    shapes: lines.map(({ curve, kind }) => markup`<path class="${kind}" d="${stairs(curve, x, y, BOX)}"/>\n`),
    bounds: [],
  })}</figure>
`;
}
