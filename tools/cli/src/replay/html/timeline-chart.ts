import { durationText } from '../../console/number-text.ts';
import type { TimelineReport } from '../counting/timeline.ts';
import { timeText } from '../counting/figures-text.ts';
import { BOX, drawChart, rounded, type LegendEntry, type Tick } from '../../pages/chart.ts';
import { markup, NOTHING, type Markup } from '../../pages/markup.ts';

const DAY_MS = 86_400_000;

/** Draws requests per second over time, and how many of them are denied: the smaller and the larger outcome. */
export function drawTimeline(timeline: TimelineReport, about: string, height: number): Markup {
  const { startMs, stepMs, counts } = timeline;
  const [requests = [], ...denied] = counts;
  if (requests.length === 0) return NOTHING;
  const rates = (list: readonly number[]): number[] => list.map((each) => (each * 1000) / stepMs);
  const sure = requests.map((each, i) => each - Math.min(...denied.map((pass) => pass[i]!)));
  const allowed = requests.map((each, i) => each - Math.max(...denied.map((pass) => pass[i]!)));
  const peak = Math.max(...rates(requests));
  const top = roundAbove(peak);
  const layer = (kind: string, list: readonly number[]): Markup =>
    markup`<path class="${kind}" d="${steps(rates(list), top)}"/>`;
  const endMs = startMs + requests.length * stepMs;
  return drawChart({
    label: `${about}, from ${timeText(startMs)} to ${timeText(endMs)} (UTC): at most ${rateText(peak)} requests per second, of which at most ${rateText(Math.max(...rates(allowed)))} are allowed, in means over ${durationText(stepMs)}`,
    height,
    xTicks: timeTicks(startMs, endMs),
    yTicks: [0, 0.5, 1].map((at) => ({ at, text: rateText(at * top) })),
    shapes: [
      layer('denied', requests),
      denied.length > 1 ? layer('between', sure) : NOTHING,
      layer('allowed', allowed),
    ],
    bounds: [],
  });
}

/** Returns what a bar of {@link drawTimeline} is. */
export function barText({ stepMs }: TimelineReport): string {
  return stepMs === 1000 ? 'each bar is one second' : `each bar is the mean of ${durationText(stepMs)}`;
}

/** Returns the legend of {@link drawTimeline}. */
export function timelineLegend(passes: number): LegendEntry[] {
  const between: LegendEntry = { text: 'denied in one of the two outcomes', kind: 'between', isArea: true };
  return [
    { text: 'allowed', kind: 'allowed', isArea: true },
    ...(passes > 1 ? [between] : []),
    { text: passes > 1 ? 'denied in both' : 'denied', kind: 'denied', isArea: true },
  ];
}

function steps(values: readonly number[], top: number): string {
  const width = BOX / values.length;
  const path = values.map((value, i) => `V${rounded(BOX - (BOX * value) / top)}H${rounded((i + 1) * width)}`);
  return `M0 ${BOX}${path.join('')}V${BOX}Z`;
}

function timeTicks(startMs: number, endMs: number): Tick[] {
  const shown = (ms: number): string => (endMs - startMs > DAY_MS ? timeText(ms).slice(5, 16) : timeText(ms).slice(11));
  return [0, 0.5, 1].map((at) => ({ at, text: shown(startMs + at * (endMs - startMs)) }));
}

/** Returns 1, 2, 4 or 6 times a power of ten, so that its half is a short number too. */
function roundAbove(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, Number.MIN_VALUE)));
  return power * ([1, 2, 4, 6].find((each) => each * power >= value) ?? 10);
}

function rateText(rate: number): string {
  return rate.toLocaleString('en', { notation: 'compact', maximumSignificantDigits: 3 });
}
