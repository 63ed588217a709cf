import type { ArrivalKind } from './arrivals.ts';
import { randomFrom } from './random.ts';
import { RATES, readSpan, SPAN_FIELDS } from './span.ts';

/**
 * `{ poisson: 300, per: 1s, from: 0s, to: 2s, seed: 1 }`: requests that come independently of each other, 300 a second on
 * average. The times between them are distributed exponentially. The same seed makes the same requests.
 */
export const poisson: ArrivalKind = {
  fields: [...SPAN_FIELDS, 'seed'],
  read(fields, whole) {
    const mean = fields.get('poisson')!.number(RATES);
    const { fromMicros, lengthMicros, perMicros } = readSpan(fields, whole);
    const seed = fields.get('seed')?.number({ min: 0, max: 2 ** 32 - 1 }) ?? 1;
    return {
      about: Math.ceil((mean * lengthMicros) / perMicros),
      *moments() {
        const random = randomFrom(seed);
        const end = fromMicros + lengthMicros;
        const gap = (): number => (-Math.log(1 - random()) * perMicros) / mean;
        for (let at = fromMicros + gap(); at < end; at += gap()) yield at;
      },
    };
  },
};
