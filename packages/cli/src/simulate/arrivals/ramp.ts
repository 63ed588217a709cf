import type { ArrivalKind } from './arrivals.ts';
import { RATES, readSpan, SPAN_FIELDS } from './span.ts';

/**
 * `{ ramp: [0, 500], per: 1s, from: 0s, to: 10s }`: a rate that changes evenly from the first number to the second.
 *
 * Up to the part x of the span, `length × (a x + (b − a) x² / 2)` requests have come. Request i comes where this is i.
 */
export const ramp: ArrivalKind = {
  fields: SPAN_FIELDS,
  read(fields, whole) {
    const rates = fields.get('ramp')!;
    const [from, to, ...others] = rates.items();
    if (from === undefined || to === undefined || others.length > 0) {
      throw rates.wrong('a list of two rates', 'For example ramp: [0, 500].');
    }
    const { fromMicros, lengthMicros, perMicros } = readSpan(fields, whole);
    const a = (from.number(RATES) * lengthMicros) / perMicros;
    const b = (to.number(RATES) * lengthMicros) / perMicros;
    const count = Math.ceil((a + b) / 2);
    // The root of the quadratic equation in the form that has no difference of nearly equal numbers.
    const part = (i: number): number => (i === 0 ? 0 : (2 * i) / (a + Math.sqrt(Math.max(0, a * a + 2 * (b - a) * i))));
    return {
      about: count,
      moments: () => Array.from({ length: count }, (_, i) => fromMicros + lengthMicros * part(i)),
    };
  },
};
