import type { ArrivalKind } from './arrivals.ts';

/** `{ times: [0s, 120ms, 1.5s] }`: a trace, one request at each of the times, which may be in any order. */
export const times: ArrivalKind = {
  fields: [],
  read(fields) {
    const moments = fields
      .get('times')!
      .items()
      .map((item) => item.micros());
    return { about: moments.length, moments: () => moments.toSorted((a, b) => a - b) };
  },
};
