import { countText } from '../../console/number-text.ts';
import type { BurstCurve } from '../counting/curve.ts';
import { band, percent } from '../counting/figures-text.ts';
import type { InputReport, LimitReport } from '../counting/report.ts';
import { isRateTooLow, isShorterThanPeriod, sizeName } from '../counting/smallest-size.ts';
import { BOX, drawChart, drawLegend, rounded, type LegendEntry, type Tick } from '../../pages/chart.ts';
import { markup, type Markup } from '../../pages/markup.ts';
import { drawTable } from '../../pages/table.ts';

const HEIGHT = 220;

/** Draws the curve of a limit: how many ids would ever be denied, by the burst. */
export function drawCurve(limit: LimitReport, curve: BurstCurve, input: InputReport): Markup {
  const { name } = limit;
  const { points } = curve;
  const size = sizeName(limit);
  const scales = scalesOf(points, limit.burst);
  const bounds = boundsOf(limit, curve, input);
  const isBand = points.some(({ deniedIds: { low, high } }) => low !== high);
  const [most, least] = [points[0]!, points.at(-1)!];
  return markup`<figure>
<figcaption>How many clients ${name} would deny at least once, by its ${size}. Both axes are logarithmic: each step multiplies the number, which leaves room for small ones.</figcaption>
${drawLegend([
  { text: 'clients denied', kind: 'curve' },
  ...(isBand ? [{ text: 'between the two outcomes', kind: 'between', isArea: true } as const] : []),
  ...bounds.map(({ kind, text }) => ({ kind, text })),
])}${drawChart({
    label: `With ${size} ${countText(most.burst)}, ${band(most.deniedIds)} clients are denied at least once; with ${countText(least.burst)}, ${band(least.deniedIds)}`,
    height: HEIGHT,
    xTicks: xTicks(scales),
    yTicks: yTicks(scales),
    shapes: shapesOf(points, scales, isBand),
    bounds: bounds.map(({ kind, value }) => ({ kind, at: scales.x(value) })),
  })}</figure>
<details><summary>The curve of ${name} as a table</summary>
${drawTable({
  id: `curve-${name}`,
  caption: `Clients that ${name} would deny at least once, by its ${size}`,
  columns: { [size]: 'number', 'clients denied': 'number', 'requests of these clients': 'number' },
  rows: points.map(({ burst, deniedIds, theirRequests }) => [countText(burst), band(deniedIds), band(theirRequests)]),
})}</details>
`;
}

/** Positions from 0 to 1 on logarithmic axes. */
interface Scales {
  readonly low: number;
  readonly high: number;
  readonly most: number;
  readonly x: (burst: number) => number;
  readonly y: (ids: number) => number;
}

function scalesOf(points: BurstCurve['points'], burst: number): Scales {
  const low = Math.max(1, Math.min(burst, points[0]!.burst));
  const high = Math.max(burst, points.at(-1)!.burst, 2 * low);
  const most = Math.max(1, ...points.map(({ deniedIds }) => deniedIds.high));
  const x = (value: number): number => Math.log(value / low) / Math.log(high / low);
  // From one more than the number, because the logarithm of 0 has no place.
  const y = (value: number): number => Math.log(1 + value) / Math.log(1 + most);
  return { low, high, most, x, y };
}

interface Bound extends LegendEntry {
  readonly value: number;
}

function boundsOf(limit: LimitReport, { knee }: BurstCurve, input: InputReport): Bound[] {
  const size = sizeName(limit);
  const { suggestion } = limit;
  const bound = (kind: 'now' | 'knee' | 'suggested', value: number, text: string): Bound => ({ kind, value, text });
  const bounds = [bound('now', limit.burst, `this limit: ${size} ${countText(limit.burst)}`)];
  if (isShorterThanPeriod(limit, input)) return bounds;
  if (knee !== null) {
    const text = `bend of the curve (knee): from ${size} ${countText(knee)} on, a larger one helps few more`;
    bounds.push(bound('knee', knee, text));
  }
  if (suggestion !== null && !isRateTooLow(limit)) {
    const { burst, denyAtMost } = suggestion;
    const text = `smallest that denies at most ${percent(denyAtMost)}: ${size} ${countText(burst)}`;
    bounds.push(bound('suggested', burst, text));
  }
  return bounds;
}

function shapesOf(points: BurstCurve['points'], { x, y }: Scales, isBand: boolean): Markup[] {
  const corners = (end: 'low' | 'high'): string[] =>
    points.flatMap(({ burst, deniedIds }, i) => {
      const at = rounded(BOX * x(burst));
      const level = rounded(BOX * (1 - y(deniedIds[end])));
      const before = i === 0 ? level : rounded(BOX * (1 - y(points[i - 1]!.deniedIds[end])));
      return [`${at} ${before}`, `${at} ${level}`];
    });
  const line = (end: 'low' | 'high'): Markup => markup`<path class="curve" d="M${corners(end).join('L')}"/>`;
  if (!isBand) return [line('high')];
  const around = [...corners('high'), ...corners('low').toReversed()].join('L');
  return [markup`<path class="between" d="M${around}Z"/>`, line('low'), line('high')];
}

function xTicks({ low, high, x }: Scales): Tick[] {
  const powers = powersOfTen(low, high);
  const shown = powers.length < 2 ? [low, high] : powers;
  return shown.map((value) => ({ at: x(value), text: shortCount(value) }));
}

function yTicks({ most, y }: Scales): Tick[] {
  return [0, ...powersOfTen(most > 100 ? 10 : 1, most)].map((value) => ({ at: y(value), text: shortCount(value) }));
}

function powersOfTen(from: number, to: number): number[] {
  return Array.from({ length: 16 }, (_, i) => 10 ** i).filter((power) => power >= from && power <= to);
}

function shortCount(value: number): string {
  return value.toLocaleString('en', { notation: 'compact' });
}
