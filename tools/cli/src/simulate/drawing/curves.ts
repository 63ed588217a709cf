import type { ClientReport, Curve } from '../counting/report.ts';
import { COLOURS } from './style.ts';

/** A curve of a picture: how many requests there were up to a moment. */
interface Line {
  readonly label: string;
  readonly curve: Curve;
  /** Its classes in the style. */
  readonly kind: string;
}

/** The curves of a client with their scales. */
export interface Curves {
  readonly lines: readonly Line[];
  /** The unit of the scale of time. */
  readonly unit: { readonly ms: number; readonly name: string };
  readonly time: Scale;
  readonly count: Scale;
}

/** Returns how many requests of a client have arrived, and have continued by each algorithm. */
export function curvesOf(client: ClientReport): Curves {
  const lines = linesOf(client);
  const points = lines.flatMap(({ curve }) => curve);
  const longestMs = Math.max(1, ...points.map(([ms]) => ms));
  const unit = unitOf(longestMs);
  return {
    lines,
    unit,
    time: scaleTo(longestMs / unit.ms, 8),
    count: scaleTo(Math.max(1, client.requests), 5),
  };
}

/** Returns a path of stairs: each point is a step up, and the last one lasts to the right end. */
export function stairs(
  curve: Curve,
  x: (ms: number) => number,
  y: (requests: number) => number,
  right: number,
): string {
  return `M${x(0)} ${y(0)}${curve.map(([ms, requests]) => `H${x(ms)}V${y(requests)}`).join('')}H${right}`;
}

/** Returns the text of a tick without the errors of binary fractions. */
export function tickText(tick: number): string {
  return String(Number(tick.toPrecision(6)));
}

function linesOf({ requests, arrivals, results }: ClientReport): readonly Line[] {
  const curves = results.map(({ algorithm, allowed, curve }, i) => {
    return { label: `${algorithm}: ${allowed}`, curve, kind: `line${i % COLOURS}` };
  });
  return [{ label: `requests: ${requests}`, curve: arrivals, kind: 'arrivals quiet' }, ...curves];
}

function unitOf(ms: number): Curves['unit'] {
  if (ms < 3000) return { ms: 1, name: 'milliseconds' };
  if (ms < 300_000) return { ms: 1000, name: 'seconds' };
  return ms < 18_000_000 ? { ms: 60_000, name: 'minutes' } : { ms: 3_600_000, name: 'hours' };
}

/** A scale from 0 to the end of an axis, with its labels. */
interface Scale {
  readonly end: number;
  readonly ticks: readonly number[];
}

/** Returns a scale with about `wanted` steps of 1, 2 or 5 times a power of ten, whose end is not below `largest`. */
function scaleTo(largest: number, wanted: number): Scale {
  const rough = Math.max(largest, Number.MIN_VALUE) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999) ?? 10);
  const steps = Math.ceil((largest / step) * 0.999) || 1;
  return { end: steps * step, ticks: Array.from({ length: steps + 1 }, (_, i) => i * step) };
}
