import { markup, Markup } from '../../pages/markup.ts';
import { captionOf } from '../counting/report-lines.ts';
import type { ClientReport, Curve } from '../counting/report.ts';
import { scaleTo } from './scale.ts';
import { COLOURS } from './style.ts';

/** In the units of the picture. */
export const WIDTH = 880;
export const PANEL_HEIGHT = 300;
const [LEFT, RIGHT, TOP, BOTTOM] = [60, 620, 34, 244];
/** The least distance of two labels. */
const LINE_HEIGHT = 18;

interface Line {
  readonly label: string;
  readonly curve: Curve;
  readonly kind: string;
}

/** Draws how many requests of a client have continued over time, by each algorithm. */
export function drawPanel(client: ClientReport): Markup {
  const lines = linesOf(client);
  const points = lines.flatMap(({ curve }) => curve);
  const unit = unitOf(Math.max(1, ...points.map(([ms]) => ms)));
  const time = scaleTo(Math.max(...points.map(([ms]) => ms), unit.ms / 1000) / unit.ms, 8);
  const count = scaleTo(Math.max(1, client.requests), 5);
  const x = (ms: number): number => rounded(LEFT + ((RIGHT - LEFT) * ms) / unit.ms / time.end);
  const y = (requests: number): number => rounded(BOTTOM - ((BOTTOM - TOP) * requests) / count.end);
  const labels = spread(lines.map(({ curve }) => y(curve.at(-1)?.[1] ?? 0) + 5));
  return markup`<text class="title" x="10" y="20">${captionOf(client)}</text>
${count.ticks.map((tick) => {
  const text = String(Number(tick.toPrecision(6)));
  return markup`<path class="grid" d="M${LEFT} ${y(tick)}H${RIGHT}"/><text class="end quiet" x="${LEFT - 8}" y="${y(tick) + 5}">${text}</text>`;
})}
${time.ticks.map((tick) => {
  const text = String(Number(tick.toPrecision(6)));
  return markup`<text class="middle quiet" x="${x(tick * unit.ms)}" y="${BOTTOM + 20}">${text}</text>`;
})}
<text class="middle quiet" x="${(LEFT + RIGHT) / 2}" y="${BOTTOM + 42}">requests that continue, by ${unit.name} since the first one arrived</text>
${lines.map(({ curve, kind }) => markup`<path class="${kind}" d="${pathOf(curve, x, y)}H${RIGHT}"/>\n`)}${lines.map(
    ({ label, kind }, i) => markup`<text class="${kind}" x="${RIGHT + 10}" y="${labels[i]!}">${label}</text>\n`,
  )}`;
}

function linesOf({ requests, arrivals, results }: ClientReport): readonly Line[] {
  const curves = results.map(({ algorithm, allowed, curve }, i) => {
    return { label: `${algorithm}: ${allowed}`, curve, kind: `line${i % COLOURS}` };
  });
  return [{ label: `requests: ${requests}`, curve: arrivals, kind: 'arrivals quiet' }, ...curves];
}

function unitOf(ms: number): { readonly ms: number; readonly name: string } {
  if (ms < 3000) return { ms: 1, name: 'milliseconds' };
  if (ms < 300_000) return { ms: 1000, name: 'seconds' };
  return ms < 18_000_000 ? { ms: 60_000, name: 'minutes' } : { ms: 3_600_000, name: 'hours' };
}

/** Stairs: each point is a step up. */
function pathOf(curve: Curve, x: (ms: number) => number, y: (requests: number) => number): string {
  return `M${LEFT} ${y(0)}${curve.map(([ms, requests]) => `H${x(ms)}V${y(requests)}`).join('')}`;
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

function rounded(coordinate: number): number {
  return Math.round(coordinate * 10) / 10;
}
