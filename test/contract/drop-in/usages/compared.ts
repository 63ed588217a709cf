import { describe, expect, test } from 'vitest';
import { timesOf, withoutTimes, type Usage } from './usage.ts';

/** The statuses of denied requests, one of which a usage asks for. */
const DENIED = [429, 418];

/** Compares usages with the own store of a limiter and with ours. */
export function usagesCompared(limiters: readonly (readonly [limiter: string, usages: readonly Usage[]])[]): void {
  describe.each(limiters)('with our store, but for its times, %s answers as with its own', (_limiter, usages) => {
    test.each(usages)('$name', async ({ answers }) => {
      const [own, ours] = [await answers(false), await answers(true)];
      expect(ours.map(withoutTimes)).toEqual(own.map(withoutTimes));
      // In each usage something is denied.
      expect(own.map(({ status }) => status)).toSatisfy((all: number[]) => all.some((one) => DENIED.includes(one)));
    });
  });

  // A bucket is full, and has a token again, before the window of the first request ends.
  test.each(limiters)(
    'behind %s, the times that a client is told are earlier than those of its own store',
    async (_limiter, [usage]) => {
      const [own, ours] = [await usage!.answers(false), await usage!.answers(true)].map((all) => all.map(timesOf));
      const pairs = ours!.flatMap((times, i) => times.map((time, j) => [time, own![i]![j]!] as const));
      expect(pairs.length).toBeGreaterThan(0);
      expect(pairs.filter(([time, theirs]) => time > theirs)).toEqual([]);
      // The oldest versions send the window as Retry-After, whatever the store says.
      expect(pairs.some(([time, theirs]) => time < theirs)).toBe(true);
    },
  );
}
