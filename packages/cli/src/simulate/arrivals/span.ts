import type { Value } from '../scenario/value.ts';

/** A span of time in microseconds, with the unit of its rates. */
export interface Span {
  readonly fromMicros: number;
  readonly lengthMicros: number;
  readonly perMicros: number;
}

/** The fields of {@link readSpan}. */
export const SPAN_FIELDS: readonly string[] = ['per', 'from', 'to'];

/** The most requests per `per`. */
export const RATES = { min: 0, max: 1_000_000, fractions: true } as const;

/** Reads `from`, which is 0 if it is not given, `to`, and `per`, which is a second if it is not given. */
export function readSpan(fields: ReadonlyMap<string, Value>, whole: Value): Span {
  const [to, per] = [fields.get('to'), fields.get('per')];
  if (to === undefined) throw whole.wrong('arrivals with an end', 'For example { rate: 300, from: 0s, to: 2s }.');
  const fromMicros = fields.get('from')?.micros() ?? 0;
  const lengthMicros = to.micros() - fromMicros;
  if (lengthMicros <= 0) throw to.wrong('after `from`');
  const perMicros = per?.micros() ?? 1_000_000;
  if (perMicros === 0) throw per!.wrong('above 0s', 'For example per: 1s.');
  return { fromMicros, lengthMicros, perMicros };
}
