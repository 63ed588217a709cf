import { rounded } from '../../pages/chart.ts';
import { Markup, markup } from '../../pages/markup.ts';
import { captionOf, descriptionOf } from '../counting/report-lines.ts';
import type { ClientReport, SimulationReport } from '../counting/report.ts';
import { curvesOf, stairs, tickText } from './curves.ts';
import { PICTURE_STYLE } from './style.ts';

/** In the units of the picture. */
const WIDTH = 880;
const PANEL_HEIGHT = 300;
const [LEFT, RIGHT, TOP, BOTTOM] = [60, 620, 34, 244];
/** The least distance of two labels. */
const LINE_HEIGHT = 18;
/** In characters. */
const MAX_TITLE = 90;

/** Returns a report as a picture: a file of SVG with a panel for each client, and colours for light and dark pages. */
export function simulationPicture({ title, clients }: SimulationReport): string {
  const height = PANEL_HEIGHT * clients.length;
  return markup`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="title desc">
<title id="title">${title}</title>
<desc id="desc">${clients.map(descriptionOf).join(' ')}</desc>
<style>${new Markup(PICTURE_STYLE)}</style>
<rect class="ground" width="${WIDTH}" height="${height}"/>
${clients.map((client, i) => markup`<g transform="translate(0 ${PANEL_HEIGHT * i})">\n${drawPanel(client)}</g>\n`)}</svg>
`.text;
}

/** Draws how many requests of a client have continued over time, by each algorithm. */
function drawPanel(client: ClientReport): Markup {
  const { lines, unit, time, count } = curvesOf(client);
  const x = (ms: number): number => rounded(LEFT + ((RIGHT - LEFT) * ms) / unit.ms / time.end);
  const y = (requests: number): number => rounded(BOTTOM - ((BOTTOM - TOP) * requests) / count.end);
  const labels = spread(lines.map(({ curve }) => y(curve.at(-1)?.[1] ?? 0) + 5));
  return markup`<text class="title" x="10" y="20">${shortened(captionOf(client))}</text>
${count.ticks.map((tick) => {
  return markup`<path class="grid" d="M${LEFT} ${y(tick)}H${RIGHT}"/><text class="end quiet" x="${LEFT - 8}" y="${y(tick) + 5}">${tickText(tick)}</text>`;
})}
${time.ticks.map((tick) => {
  return markup`<text class="middle quiet" x="${x(tick * unit.ms)}" y="${BOTTOM + 20}">${tickText(tick)}</text>`;
})}
<text class="middle quiet" x="${(LEFT + RIGHT) / 2}" y="${BOTTOM + 42}">requests that continue, by ${unit.name} since the first one arrived</text>
${lines.map(({ curve, kind }) => markup`<path class="${kind}" d="${stairs(curve, x, y, RIGHT)}"/>\n`)}${lines.map(
    ({ label, kind }, i) => markup`<text class="${kind}" x="${RIGHT + 10}" y="${labels[i]!}">${label}</text>\n`,
  )}`;
}

/** Keeps a title within the picture. */
function shortened(title: string): string {
  return title.length > MAX_TITLE ? `${title.slice(0, MAX_TITLE - 1)}…` : title;
}

/** Moves labels apart that would overlap: upwards from the lowest, but not above the plot. */
function spread(wanted: readonly number[]): readonly number[] {
  const placed = [...wanted];
  const upwards = wanted.map((_, index) => index).toSorted((a, b) => wanted[b]! - wanted[a]!);
  let limit = Infinity;
  for (const i of upwards) limit = (placed[i] = Math.min(placed[i]!, limit)) - LINE_HEIGHT;
  limit = TOP + 5;
  for (const i of upwards.toReversed()) limit = (placed[i] = Math.max(placed[i]!, limit)) + LINE_HEIGHT;
  return placed;
}
