import { BOX, drawChart, drawLegend, rounded } from '../../pages/chart.ts';
import { markup, type Markup } from '../../pages/markup.ts';
import type { ClientReport } from '../counting/report.ts';
import { curvesOf, stairs, tickText } from './curves.ts';
import { descriptionOf } from './description.ts';

const HEIGHT = 240;

/** Draws the chart of a client on a page, whose text is as large on a narrow page. */
export function drawClientChart(client: ClientReport): Markup {
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
