import type { ArrivalKind } from './arrivals.ts';
import { RATES, readSpan, SPAN_FIELDS } from './span.ts';

/** `{ rate: 300, per: 1s, from: 0s, to: 2s }`: requests at equal distances, the first at `from`, the last before `to`. */
export const rate: ArrivalKind = {
  fields: SPAN_FIELDS,
  read(fields, whole) {
    const requests = fields.get('rate')!.number(RATES);
    const { fromMicros, lengthMicros, perMicros } = readSpan(fields, whole);
    const count = Math.ceil((requests * lengthMicros) / perMicros);
    const moment = (_: unknown, i: number): number => fromMicros + (i * perMicros) / requests;
    return { about: count, moments: () => Array.from({ length: count }, moment) };
  },
};
