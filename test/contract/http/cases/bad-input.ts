import {
  accountId,
  by,
  clientNetwork,
  SluiceError,
  type Decision,
  type Key,
  type Limiter,
  type LimiterEvent,
  type Store,
} from '@sluice/core';
import { describe, expect, test } from 'vitest';
import type { Framework, NativeRequest, Options } from '../framework.ts';
import { as, brokenStore, lateStore, stillLimiter, timed, userKey } from '../limiters.ts';
import { start } from '../start.ts';

const boom = (): never => {
  throw Object.assign(new Error('boom'), { status: 418, statusCode: 418 });
};

const later = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** What a client sends, or a function of the user does, that leaves a limit without an id or a cost. */
interface BadInput {
  readonly what: string;
  readonly status: number;
  readonly key?: Key<NativeRequest>;
  readonly cost?: () => number | Promise<number>;
  readonly skip?: () => boolean | Promise<boolean>;
}

const OWN = { name: 'own', canonical: (text: string) => text };

const BAD_INPUTS: readonly BadInput[] = [
  { what: 'sends an id of 300 characters', status: 400, key: accountId(() => 'x'.repeat(300)) },
  {
    what: 'sends an id of 300 characters that is read later',
    status: 400,
    key: accountId(async () => 'x'.repeat(300)),
  },
  {
    what: 'sends an id of 5,000 characters in an own format',
    status: 400,
    key: by(() => 'x'.repeat(5000), { format: OWN }),
  },
  { what: 'asks for a cost above the burst', status: 400, cost: () => 1001 },
  { what: 'asks for a cost above the burst that is read later', status: 400, cost: async () => 1001 },
  { what: 'makes the key function throw', status: 418, key: accountId(boom) },
  { what: 'makes the key function reject', status: 418, key: accountId(async () => boom()) },
  { what: 'makes the key function reject later', status: 418, key: accountId(() => later().then(boom)) },
  { what: 'makes the key function give undefined', status: 500, key: accountId(() => undefined as never) },
  { what: 'makes the cost function throw', status: 418, cost: boom },
  { what: 'makes the cost function reject', status: 418, cost: async () => boom() },
  { what: 'makes the cost function give NaN', status: 500, cost: () => NaN },
  { what: 'makes the skip function throw', status: 418, skip: boom },
  { what: 'makes the skip function reject', status: 418, skip: async () => boom() },
];

/** Bad input for one limit must not be a way around the limits beside it. */
export function badInputCases(framework: Framework): void {
  const withBad = ({ key = userKey }: Partial<BadInput>, store: Store = timed().store): Limiter<NativeRequest> =>
    stillLimiter({
      limits: {
        PerClient: { key: clientNetwork(), count: 3, period: '1h' },
        Bad: { key, count: 1000, period: '1h' },
      },
      store,
    });

  for (const [kind, storeOf] of [
    ['memory', () => timed().store],
    ['promise', () => lateStore()],
  ] as const) {
    // prettier-ignore
    describe(`with a ${kind} store`, () => {
      test.each(BAD_INPUTS)('a client that $what is denied by the flood limit beside it', async (bad) => {
        const { status, cost, skip } = bad;
        for (const order of [['PerClient', 'Bad'], ['Bad', 'PerClient']]) { // prettier-ignore
          let handled = 0;
          const limits = order.map((limit) => (limit === 'Bad' && cost !== undefined ? { limit, cost } : limit));
          const app = await start(framework, {
            limits: [{ limiter: withBad(bad, storeOf()), limits, skip }],
            routes: { '/': { handle: () => `${++handled}` } },
          });
          expect(await app.statuses(5, '/', as('ann'))).toEqual([status, status, status, 429, 429]);
          expect(app.errors).toHaveLength(3);
          // What a client causes leaves one line where a framework prints the stacks of errors.
          expect(app.errors.every((error) => (error as Error).stack === String(error))).toBe(status === 400);
          expect(handled).toBe(0);
        }
      });
    });
  }

  test('the limits that are known take from all their buckets or from none', async () => {
    const limiter = stillLimiter({
      limits: {
        Bad: { key: accountId(boom), count: 5, period: '1h' },
        Wide: { key: userKey, count: 5, period: '1h' },
        Narrow: { key: userKey, count: 2, period: '1h' },
      },
    });
    const app = await start(framework, { limits: [{ limiter, limits: ['Bad', 'Wide', 'Narrow'] }] });
    expect(await app.statuses(4, '/', as('ann'))).toEqual([418, 418, 429, 429]);
    expect(await remaining(limiter, 'Wide')).toBe(3);
  });

  test('a bad limit beside one that does not apply: the error alone, and no decision', async () => {
    const decisions: Decision[] = [];
    const limit = { count: 5, period: '1h' };
    const limiter = stillLimiter({
      limits: { Absent: { key: accountId(() => null), ...limit }, Bad: { key: accountId(boom), ...limit } },
    });
    const onDecision = (decision: Decision): void => void decisions.push(decision);
    const app = await start(framework, { limits: [{ limiter, limits: ['Absent', 'Bad'], onDecision }] });
    expect((await app.get()).status).toBe(418);
    expect(decisions).toEqual([]);
  });

  test('the error is the first by the order of the limits, not by time', async () => {
    const failing = (text: string, wait: () => Promise<unknown>): Key<NativeRequest> =>
      accountId(async () => (await wait(), boomOf(text)));
    const limit = { count: 5, period: '1h' };
    const limiter = stillLimiter({
      limits: { A: { key: failing('A', later), ...limit }, B: { key: failing('B', async () => 0), ...limit } },
    });
    const app = await start(framework, { limits: [{ limiter, limits: ['A', 'B'] }] });
    expect((await app.get()).status).toBe(500);
    expect(app.errors).toMatchObject([{ message: 'A' }]);
  });

  test('a key that is still pending when another rejects is waited for and counted', async () => {
    const limiter = stillLimiter({
      limits: {
        Bad: { key: accountId(async () => boom()), count: 5, period: '1h' },
        Slow: { key: accountId(async () => (await later(), 'ann')), count: 2, period: '1h' },
      },
    });
    const app = await start(framework, { limits: [{ limiter, limits: ['Bad', 'Slow'] }] });
    expect(await app.statuses(3)).toEqual([418, 418, 429]);
  });

  test('the answer of the error handler has the fields of the limits that were decided', async () => {
    for (const store of [timed().store, lateStore()]) {
      const limiter = withBad({ key: accountId(boom) }, store);
      const app = await start(framework, { limits: [{ limiter, limits: ['PerClient', 'Bad'] }] });
      const { status, headers } = await app.get();
      expect(status).toBe(418);
      expect(headers.ratelimit).toBe('"PerClient";r=2;t=1200');
      expect(headers['ratelimit-policy']).toBe('"PerClient";q=3;w=3600');
      expect(headers).not.toHaveProperty('retry-after');
    }
  });

  test('onDecision is called with the decision, and onDenied answers the denial', async () => {
    const told: string[] = [];
    const app = await start(framework, {
      limits: [
        {
          limiter: withBad({ key: accountId(boom) }),
          limits: ['PerClient', 'Bad'],
          onDecision: ({ outcome, results }) => told.push(`${outcome} ${String(results.map(({ limit }) => limit))}`),
          onDenied: framework.onDenied(({ status }, { limit }) => (status(420), `${limit}`)),
        },
      ],
    });
    expect(await app.statuses(4)).toEqual([418, 418, 418, 420]);
    expect(told).toEqual([...Array(3).fill('allowed PerClient'), 'denied PerClient']);
  });

  test('the 503 of a closed limit takes precedence over the error', async () => {
    const limiter = stillLimiter({
      limits: {
        PerClient: { key: clientNetwork(), count: 3, period: '1h', onFailure: 'closed' },
        Bad: { key: accountId(boom), count: 3, period: '1h' },
      },
      store: brokenStore(),
    });
    const app = await start(framework, { limits: [{ limiter, limits: ['PerClient', 'Bad'] }] });
    expect((await app.get()).status).toBe(503);
    expect(app.errors).toEqual([]);
  });

  test('the denial of a blocked id takes precedence over the error of the other limit', async () => {
    const limit = { count: 3, period: '1h' };
    const limiter = stillLimiter({
      limits: { PerUser: { key: userKey, ...limit }, Bad: { key: accountId(boom), ...limit } },
      overrides: { PerUser: { ann: 'blocked' } },
    });
    const app = await start(framework, { limits: [{ limiter, limits: ['PerUser', 'Bad'] }] });
    expect(await app.statuses(2, '/', as('ann'))).toEqual([403, 403]);
    expect(app.errors).toEqual([]);
  });

  test('shadow: bad input is counted, the error reaches the error handler, and no request is denied', async () => {
    const outcomes: string[] = [];
    const app = await start(framework, {
      limits: [
        {
          limiter: withBad({ key: accountId(boom) }),
          limits: ['PerClient', 'Bad'],
          shadow: true,
          onDecision: ({ outcome }) => outcomes.push(outcome),
        },
      ],
    });
    expect(await app.statuses(4)).toEqual([418, 418, 418, 418]);
    expect(outcomes).toEqual(['allowed', 'allowed', 'allowed', 'denied']);
    expect((await app.get()).headers).not.toHaveProperty('ratelimit');
  });

  test('settle is not called for a request that never reached its handler: the full cost is taken', async () => {
    let asked = 0;
    const settle = framework.settle(() => (asked++, 0));
    const limits = {
      Held: { key: userKey, count: 9, period: '1h' },
      Checked: { key: userKey, count: 9, period: '1h' },
      Watched: { key: userKey, count: 9, period: '1h' },
      Absent: { key: accountId(() => null), count: 9, period: '1h' },
      Bad: { key: accountId(boom), count: 9, period: '1h' },
    };
    const limiter = stillLimiter({ limits });
    const uses = [
      { limit: 'Held', cost: 2, settle },
      { limit: 'Checked', cost: 3, mode: 'check-only', settle },
      { limit: 'Watched', mode: 'check-only' },
      { limit: 'Absent', mode: 'check-only', settle },
      { limit: 'Bad', settle },
    ];
    const app = await start(framework, { limits: [{ limiter, limits: uses }] as Options[] });
    expect((await app.get('/', as('ann'))).status).toBe(418);
    expect(await remaining(limiter, 'Held')).toBe(7);
    expect(await remaining(limiter, 'Checked')).toBe(6);
    expect(await remaining(limiter, 'Watched')).toBe(9);
    expect(asked).toBe(0);
  });

  test('a full cost that can’t be charged is an event', async () => {
    const events: LimiterEvent[] = [];
    const late = lateStore();
    const refuse = (): Promise<never> => Promise.reject(new SluiceError('ERR_CLOSED', 'The store is closed.'));
    const limiter = stillLimiter({
      limits: {
        Checked: { key: userKey, count: 9, period: '1h' },
        Bad: { key: accountId(boom), count: 9, period: '1h' },
      },
      store: { ...late, run: (operation) => (operation.kind === 'charge' ? refuse() : late.run(operation)) },
      onEvent: (event) => events.push(event),
    });
    const settle = framework.settle(() => 0);
    const limits = [{ limit: 'Checked', mode: 'check-only', settle }, 'Bad'];
    const app = await start(framework, { limits: [{ limiter, limits }] as Options[] });
    expect((await app.get('/', as('ann'))).status).toBe(418);
    expect(events).toMatchObject([{ type: 'callback-failed', callback: 'settle', cause: { code: 'ERR_CLOSED' } }]);
  });
}

function boomOf(text: string): never {
  throw new Error(text);
}

async function remaining(limiter: Limiter<NativeRequest>, limit: string): Promise<number> {
  return (await limiter.check([{ limit, id: 'ann' }])).remaining;
}
