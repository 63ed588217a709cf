import { parseList } from 'structured-headers';
import { expect, test } from 'vitest';
import type { Framework } from '../framework.ts';
import { timed } from '../limiters.ts';
import { start } from '../start.ts';

/** Clients that do what the fields say are not denied. */
export function obeyedFieldCases(framework: Framework): void {
  test.each([
    { count: 7, period: '1s', cost: 1 },
    { burst: 20, count: 1000, period: '1s', cost: 3 },
    { burst: 1, count: 3, period: '10s', cost: 1 },
    { burst: 5, count: 3, period: '7s', cost: 5 },
    { burst: 30, count: 7, period: '13m', cost: 4 },
  ])(
    'a client that waits exactly Retry-After is not denied, and it is never 0: $burst, $count per $period',
    async (limit) => {
      const { time, store } = timed();
      const app = await start(framework, { limits: [{ name: 'Requests', ...limit, store }] });
      for (let denials = 0; denials < 3;) {
        const { status, headers } = await app.get();
        if (status === 200) continue;
        denials++;
        const seconds = Number(headers['retry-after']);
        expect(seconds).toBeGreaterThanOrEqual(1);
        time.advance(seconds * 1000);
        expect((await app.get()).status).toBe(200);
      }
    },
  );

  test.each([
    { count: 7, period: '1s' },
    { burst: 2, count: 3, period: '10s' },
    { burst: 12, count: 5, period: '1m' },
  ])('a client that sends at most q requests per w is never denied: $burst, $count per $period', async (limit) => {
    const { time, store } = timed();
    const app = await start(framework, { limits: [{ name: 'Requests', ...limit, store }] });
    for (let window = 0; window < 4; window++) {
      const { status, headers } = await app.get();
      const [, parameters] = parseList(headers['ratelimit-policy'] as string)[0]!;
      const [q, w] = [parameters.get('q') as number, parameters.get('w') as number];
      expect([status, ...(await app.statuses(q - 1))]).toEqual(Array(q).fill(200));
      time.advance(w * 1000);
    }
  });
}
