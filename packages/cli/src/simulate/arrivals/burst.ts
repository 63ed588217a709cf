import type { ArrivalKind } from './arrivals.ts';

/** `{ burst: 200, at: 5s, over: 100ms }`: 200 requests from `at` on, at equal distances, the last before `at + over`. */
export const burst: ArrivalKind = {
  fields: ['at', 'over'],
  read(fields) {
    const count = fields.get('burst')!.number({ min: 1, max: 1_000_000 });
    const at = fields.get('at')?.micros() ?? 0;
    const over = fields.get('over')?.micros() ?? 0;
    return { about: count, moments: () => Array.from({ length: count }, (_, i) => at + (i * over) / count) };
  },
};
