import type { Limit } from '../../packages/core/src/limits/limit.ts';
import { NAMES } from './case.ts';
import type { Step } from './core.ts';
import { drawn } from './element.ts';
import { curveOf, tokensAt, type Point } from './levels.ts';
import { MARK, placesOf, type Place } from './places.ts';
import type { Compared } from './windows.ts';

/** What the picture shows. */
export interface Shown {
  readonly limits: readonly Limit[];
  readonly steps: readonly Step[];
  readonly compared: readonly Compared[];
  /** The request whose answer is shown. */
  readonly selected: number;
  /** The moment that the buckets are filled for. */
  readonly atMs: number;
  readonly width: number;
}

const [LEFT, RIGHT, BUCKET] = [34, 12, 56];
const [TITLE, CURVE, AXIS, MOST_ROWS] = [22, 92, 24, 16];

/** Draws the tokens of each bucket over time, the buckets at one moment, and the requests in a row for each algorithm. */
export function pictureOf(shown: Shown): SVGElement {
  const endMs = endOf(shown);
  const x = scaleOf(shown, endMs);
  const parts: SVGElement[] = [];
  let y = 0;
  const add = (height: number, draw: (y: number) => readonly SVGElement[]): void => {
    parts.push(...draw(y));
    y += height;
  };
  shown.limits.forEach((limit, index) => {
    const curve = curveOf(limit, index, shown.steps, endMs);
    add(TITLE, (top) => [title(`${NAMES[index]}: ${textOf(limit)}`, top)]);
    add(CURVE + 8, (top) => curveParts(limit, curve, { top, x, endX: x(endMs) }));
    parts.push(
      ...bucketParts(limit, tokensAt(curve, shown.atMs), { top: y - CURVE - 8, left: shown.width - BUCKET + 8 }),
    );
  });
  add(AXIS, (top) => axisParts(endMs, top, x));
  for (const row of rowsOf(shown)) {
    const [marks, height] = marksOf(row, shown, x);
    add(TITLE, (top) => [
      title(`${row.label}: ${row.marks.filter(({ passed }) => passed).length} of ${row.marks.length} pass`, top),
    ]);
    add(height + 10, (top) => [
      drawn('g', { transform: `translate(0 ${top})` }, ...row.edges(endMs, x, height), ...marks),
    ]);
  }
  const now = drawn('line', { class: 'now', x1: x(shown.atMs), x2: x(shown.atMs), y1: TITLE, y2: y });
  const size = { width: shown.width, height: y, viewBox: `0 0 ${shown.width} ${y}` };
  return drawn('svg', { ...size, role: 'img', 'aria-label': summaryOf(shown) }, now, ...parts);
}

/** The passes of each algorithm, in a sentence. */
export function summaryOf(shown: Pick<Shown, 'limits' | 'steps' | 'compared'>): string {
  const { length } = shown.steps;
  return rowsOf(shown)
    .map(({ label, marks }) => `${label}: ${marks.filter(({ passed }) => passed).length} of ${length} requests pass.`)
    .join(' ');
}

interface Mark {
  readonly atMs: number;
  /** When a request that waited continues. */
  readonly startMs: number;
  readonly passed: boolean;
}

interface Row {
  readonly label: string;
  readonly marks: readonly Mark[];
  /** The lines at which windows end. */
  readonly edges: (endMs: number, x: (atMs: number) => number, height: number) => SVGElement[];
}

function rowsOf({ limits, steps, compared }: Pick<Shown, 'limits' | 'steps' | 'compared'>): readonly Row[] {
  const own = steps.map(({ atMs, status, delayMs }) => ({ atMs, startMs: atMs + delayMs, passed: status === 200 }));
  const periodMs = limits[0]!.rate.periodMs;
  return [
    { label: 'Sluice', marks: own, edges: () => [] },
    ...compared.map(({ label, passed }): Row => {
      const marks = steps.map(({ atMs }, i) => ({ atMs, startMs: atMs, passed: passed[i]! }));
      return { label, marks, edges: (endMs, x, height) => windowEdges(endMs, periodMs, (atMs) => x(atMs), height) };
    }),
  ];
}

function windowEdges(endMs: number, periodMs: number, x: (atMs: number) => number, height: number): SVGElement[] {
  const edges = Math.floor(endMs / periodMs);
  if (edges > 60) return [];
  return Array.from({ length: edges }, (_, i) => {
    const at = x((i + 1) * periodMs);
    return drawn('line', { class: 'edge', x1: at, x2: at, y1: -4, y2: height + 4 });
  });
}

function marksOf(row: Row, { selected, width }: Shown, x: Scale): [SVGElement[], height: number] {
  const places = placesIn(row.marks, width, x);
  const made = places.map(({ from, to, row: slot }, i) => {
    const { passed, atMs, startMs } = row.marks[i]!;
    const y = slot * MARK + MARK / 2;
    const kind = `${passed ? 'passed' : 'denied'}${i === selected ? ' selected' : ''}`;
    const shape = passed
      ? drawn('circle', { class: kind, cx: to, cy: y, r: 3 })
      : drawn('path', { class: kind, d: `M${from - 3} ${y - 3}l6 6m0 -6l-6 6` });
    const wait = startMs > atMs ? [drawn('line', { class: 'wait', x1: from, x2: to, y1: y, y2: y })] : [];
    return drawn('g', {}, ...wait, shape);
  });
  return [made, (Math.max(0, ...places.map(({ row: slot }) => slot)) + 1) * MARK];
}

/** Few requests at one time are a column. Very many are as many columns as there is room for. */
function placesIn(marks: readonly Mark[], width: number, x: Scale): readonly Place[] {
  const rows = Math.max(MOST_ROWS, Math.ceil((marks.length * MARK * 2) / plotWidth(width)));
  return placesOf(
    marks.map(({ atMs, startMs }) => ({ from: x(atMs), to: x(startMs) })),
    rows,
  );
}

interface CurvePlace {
  readonly top: number;
  readonly x: (atMs: number) => number;
  readonly endX: number;
}

function curveParts(limit: Limit, curve: readonly Point[], { top, x, endX }: CurvePlace): SVGElement[] {
  const lowest = Math.min(0, ...curve.map(({ tokens }) => tokens));
  const { burst } = limit.rate;
  const y = (tokens: number): number => top + ((burst - tokens) / (burst - lowest)) * CURVE;
  const line = curve.map(({ atMs, tokens }) => `${x(atMs).toFixed(1)} ${y(tokens).toFixed(1)}`).join('L');
  return [
    drawn('path', { class: 'fill', d: `M${x(0)} ${y(0)}L${line}L${endX} ${y(0)}Z` }),
    drawn('path', { class: 'curve', d: `M${line}` }),
    drawn('line', { class: 'axis', x1: LEFT, x2: endX, y1: y(0), y2: y(0) }),
    drawn('text', { class: 'number', x: LEFT - 5, y: y(burst) + 8, 'text-anchor': 'end' }, shortNumber(burst)),
    drawn('text', { class: 'number', x: LEFT - 5, y: y(0) + 3, 'text-anchor': 'end' }, '0'),
  ];
}

function bucketParts({ rate }: Limit, tokens: number, { top, left }: { top: number; left: number }): SVGElement[] {
  const full = Math.max(0, Math.min(1, tokens / rate.burst)) * (CURVE - 24);
  const [width, bottom] = [BUCKET - 20, top + CURVE - 22];
  const number = tokens < 0 ? `${Math.ceil(-tokens)} queued` : String(Math.floor(tokens + 1e-9));
  return [
    drawn('rect', { class: 'water', x: left, y: bottom - full, width, height: full }),
    drawn('path', { class: 'bucket', d: `M${left} ${top}V${bottom}h${width}V${top}` }),
    drawn('text', { class: 'number', x: left + width / 2, y: bottom + 17, 'text-anchor': 'middle' }, number),
  ];
}

function axisParts(endMs: number, top: number, x: (atMs: number) => number): SVGElement[] {
  const step = [1, 2, 5]
    .flatMap((n) => [0.1, 1, 10, 100, 1000, 10_000].map((ten) => n * ten * 1000))
    .toSorted((a, b) => a - b);
  const stepMs = step.find((ms) => x(ms) - x(0) >= 44) ?? endMs;
  return Array.from({ length: Math.floor(endMs / stepMs) + 1 }, (_, i) =>
    drawn(
      'text',
      { class: 'number', x: x(i * stepMs), y: top + 8, 'text-anchor': 'middle' },
      `${Number(((i * stepMs) / 1000).toFixed(1))} s`,
    ),
  );
}

function shortNumber(n: number): string {
  return n < 10_000 ? String(n) : n.toLocaleString('en', { notation: 'compact' });
}

function title(text: string, top: number): SVGElement {
  return drawn('text', { class: 'title', x: 0, y: top + 14 }, text);
}

function textOf({ rate }: Limit): string {
  const seconds = rate.periodMs / 1000;
  return `${rate.burst} at once, ${rate.count} per ${seconds === 1 ? 'second' : `${seconds} s`}`;
}

type Scale = (atMs: number) => number;

function scaleOf({ width }: Shown, endMs: number): Scale {
  return (atMs) => LEFT + (atMs / endMs) * plotWidth(width);
}

function plotWidth(width: number): number {
  return width - LEFT - RIGHT - BUCKET;
}

/** Until a moment after the last request, and longer, up to a period, where requests can still be told apart. */
function endOf(shown: Shown): number {
  const { limits, steps, atMs, width } = shown;
  const last = Math.max(0, ...steps.map((step) => step.atMs + step.delayMs));
  const least = Math.max(last * 1.06, atMs, 1000);
  const periodMs = Math.min(limits[0]!.rate.periodMs, 60_000);
  const gaps = steps.slice(1).map((step, i) => step.atMs - steps[i]!.atMs);
  const gapMs = Math.min(...gaps.filter((gap) => gap > 0));
  const isWideEnough = (gapMs / periodMs) * plotWidth(width) >= MARK;
  let endMs = isWideEnough ? Math.max(least, periodMs) : least;
  while (rightmostOf(shown, endMs) > LEFT + plotWidth(width) + MARK) endMs *= 1.1;
  return endMs;
}

function rightmostOf(shown: Shown, endMs: number): number {
  const [own] = rowsOf(shown);
  return Math.max(0, ...placesIn(own!.marks, shown.width, scaleOf(shown, endMs)).map(({ to }) => to));
}
