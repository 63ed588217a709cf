/** A scale from 0 to the end of an axis, with its labels. */
export interface Scale {
  readonly end: number;
  readonly ticks: readonly number[];
}

/** Returns a scale with about `wanted` steps of 1, 2 or 5 times a power of ten, whose end is not below `largest`. */
export function scaleTo(largest: number, wanted: number): Scale {
  const rough = Math.max(largest, Number.MIN_VALUE) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999) ?? 10);
  const steps = Math.ceil((largest / step) * 0.999) || 1;
  return { end: steps * step, ticks: Array.from({ length: steps + 1 }, (_, i) => i * step) };
}
