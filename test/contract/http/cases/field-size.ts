import type { Limits } from '@sluice/core';
import { describe, expect, test } from 'vitest';
import type { Framework, NativeRequest } from '../framework.ts';
import { as, stillLimiter, userKey } from '../limiters.ts';
import { start } from '../start.ts';

const MOST_IN_FIELD = 1024;
const MOST_NAMES = 2048;

const nameOf = (i: number): string => `RequestsOfUsersToTheRoute${String(i).padStart(2, '0')}`;
const namesIn = (field = ''): readonly string[] => field.match(/(?<=")\w+(?=")/g) ?? [];

/** Limits of which the last denies the second request, or all do. */
function manyLimits(count: number, narrow: 'last' | 'all'): Limits<NativeRequest> {
  const names = Array.from({ length: count }, (_, i) => nameOf(i));
  const isNarrow = (i: number): boolean => narrow === 'all' || i === count - 1;
  return Object.fromEntries(
    names.map((name, i) => [name, { key: userKey, burst: isNarrow(i) ? 1 : 5, count: 1, period: '1m' }]),
  );
}

/** How large the header fields and the body are when a request has many limits. */
export function fieldSizeCases(framework: Framework): void {
  describe.each(['last', 'all'] as const)('of many limits, the %s of which deny', (narrow) => {
    test('both fields name the same ones, the strictest and those that deny first, in 1 kB', async () => {
      const limits = manyLimits(64, narrow);
      const app = await start(framework, {
        limits: [{ limiter: stillLimiter({ limits }), limits: Object.keys(limits) }],
      });
      const first = nameOf(narrow === 'all' ? 0 : 63);
      for (const status of [200, 429]) {
        // oxlint-disable-next-line no-await-in-loop -- one request after the other
        const { status: got, headers } = await app.get('/', as('ann'));
        expect(got).toBe(status);
        const [policy, state] = [String(headers['ratelimit-policy']), String(headers.ratelimit)];
        expect(policy.length).toBeLessThanOrEqual(MOST_IN_FIELD);
        expect(policy.length).toBeGreaterThan(MOST_IN_FIELD * 0.9);
        expect(state.length).toBeLessThanOrEqual(MOST_IN_FIELD);
        const others = Object.keys(limits).filter((name) => name !== first);
        expect(namesIn(policy)).toEqual([first, ...others].slice(0, namesIn(policy).length));
        expect(namesIn(state)).toEqual(status === 429 && narrow === 'last' ? [first] : namesIn(policy));
      }
    });
  });

  test('a body names as many limits as fit into 2 kB, and counts the others', async () => {
    const limits = manyLimits(100, 'all');
    const app = await start(framework, {
      limits: [{ limiter: stillLimiter({ limits }), limits: Object.keys(limits) }],
    });
    await app.get('/', as('ann'));
    const { body } = await app.get('/', as('ann'));
    const problem = JSON.parse(body) as { detail: string; 'violated-policies': readonly string[] };
    const names = problem['violated-policies'];
    expect(JSON.stringify(names).length).toBeLessThanOrEqual(MOST_NAMES);
    expect(JSON.stringify(names).length).toBeGreaterThan(MOST_NAMES * 0.9);
    expect(names).toEqual(Object.keys(limits).slice(0, names.length));
    expect(problem.detail).toContain(`"${names.at(-1)}" and ${100 - names.length} more exceeded.`);
  });

  test('the fields of several middlewares together are as short, and name the limit that denies', async () => {
    const limits = manyLimits(40, 'last');
    const limiter = stillLimiter({ limits });
    const names = Object.keys(limits);
    const app = await start(framework, {
      limits: [
        { limiter, limits: names.slice(0, 20) },
        { limiter, limits: names.slice(20) },
      ],
    });
    for (const status of [200, 429]) {
      // oxlint-disable-next-line no-await-in-loop -- one request after the other
      const { status: got, headers } = await app.get('/', as('ann'));
      expect(got).toBe(status);
      for (const field of [headers['ratelimit-policy'], headers.ratelimit]) {
        expect(String(field).length).toBeLessThanOrEqual(MOST_IN_FIELD);
        expect(namesIn(String(field))[0]).toBe(nameOf(39));
      }
    }
  });

  test.each(['draft-6', 'draft-7'] as const)(
    'the policies of %s are as short, that of the figures first',
    async (fields) => {
      const limits = manyLimits(200, 'last');
      const app = await start(framework, {
        limits: [{ limiter: stillLimiter({ limits }), limits: Object.keys(limits), fields }],
      });
      const { headers } = await app.get('/', as('ann'));
      const policy = String(headers['ratelimit-policy']);
      expect(policy.length).toBeLessThanOrEqual(MOST_IN_FIELD);
      expect(policy).toMatch(/^1;w=60, 5;w=300, 5;w=300, /);
      expect(policy).toMatch(/, 5;w=300$/);
    },
  );
}
