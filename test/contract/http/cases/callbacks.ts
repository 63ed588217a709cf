import type { Decision, LimiterEvent } from '@sluice/core';
import { expect, test } from 'vitest';
import type { Framework, NativeRequest } from '../framework.ts';
import { as, brokenStore, stillLimiter, timed, userKey, userOf } from '../limiters.ts';
import { start } from '../start.ts';

/** skip, shadow, onDecision and onDenied. */
export function callbackCases(framework: Framework): void {
  const perUser = () =>
    ({ name: 'PerUser', key: userKey, count: 1, period: '1m', store: timed().store, log: false }) as const;

  test.each([
    ['at once', (request: NativeRequest) => userOf(request) === 'root'],
    ['later', async (request: NativeRequest) => userOf(request) === 'root'],
  ])('skip lets requests through uncounted and without fields: %s', async (_when, skip) => {
    const app = await start(framework, {
      limits: [{ ...perUser(), skip }],
      routes: { '/': { handle: ({ decision }) => typeof decision } },
    });
    expect(await app.statuses(2, '/', as('ann'))).toEqual([200, 429]);
    expect(await app.statuses(3, '/', as('root'))).toEqual([200, 200, 200]);
    const { headers, body } = await app.get('/', as('root'));
    expect(headers).not.toHaveProperty('ratelimit');
    expect(body).toBe('undefined');
  });

  test('shadow: spends and reports, never denies, sets no fields and leaves nothing on the request', async () => {
    const decisions: Decision[] = [];
    const limiter = stillLimiter({ limits: { PerUser: { key: userKey, count: 1, period: '1m' } } });
    const app = await start(framework, {
      limits: [{ limiter, shadow: true, onDecision: (decision) => decisions.push(decision) }],
      routes: { '/': { handle: ({ decision }) => typeof decision } },
    });
    expect(await app.statuses(3, '/', as('ann'))).toEqual([200, 200, 200]);
    expect(decisions.map(({ outcome }) => outcome)).toEqual(['allowed', 'denied', 'denied']);
    const { headers, body } = await app.get('/', as('ann'));
    expect(body).toBe('undefined');
    expect(Object.keys(headers).filter((name) => /ratelimit|retry/.test(name))).toEqual([]);
    expect((await limiter.check([{ limit: 'PerUser', id: 'ann' }])).allowed).toBe(false);
  });

  test('onDecision is called with every decision and its request, and is not awaited', async () => {
    const told: unknown[] = [];
    const app = await start(framework, {
      limits: [
        {
          ...perUser(),
          onDecision(decision, request) {
            told.push([decision.outcome, userOf(request)]);
            return new Promise(() => undefined);
          },
        },
      ],
    });
    expect(await app.statuses(2, '/', as('ann'))).toEqual([200, 429]);
    expect(told).toEqual([['allowed', 'ann'], ['denied', 'ann']]); // prettier-ignore
  });

  test.each([
    ['throws', () => { throw new Error('boom'); }], // prettier-ignore
    ['rejects', () => Promise.reject(new Error('boom'))],
    ['throws undefined', () => { throw undefined; }], // prettier-ignore
  ])('an onDecision that %s harms nothing, and is an event', async (_how, onDecision) => {
    const events: LimiterEvent[] = [];
    const app = await start(framework, {
      limits: [{ ...perUser(), onDecision, onEvent: (event) => events.push(event) }],
    });
    expect(await app.statuses(2, '/', as('ann'))).toEqual([200, 429]);
    expect(events).toMatchObject([
      { type: 'callback-failed', callback: 'onDecision' },
      { type: 'callback-failed', callback: 'onDecision' },
    ]);
    expect(app.errors).toEqual([]);
  });

  test('onDecision of the limiter is called in addition to that of each middleware, with the request, also in shadow mode', async () => {
    const told: unknown[] = [];
    const limiter = stillLimiter({
      limits: { PerUser: { key: userKey, count: 1, period: '1m' } },
      onDecision: ({ outcome }, { request, shadow }) =>
        void told.push(['limiter', outcome, userOf(request as NativeRequest), shadow]),
    });
    const onDecision = ({ outcome }: Decision): void => void told.push(['middleware', outcome]);
    const app = await start(framework, {
      routes: {
        '/': { limits: [{ limiter, onDecision }] },
        '/watched': { limits: [{ limiter, onDecision, shadow: true }] },
      },
    });
    expect((await app.get('/', as('ann'))).status).toBe(200);
    expect((await app.get('/watched', as('ann'))).status).toBe(200);
    expect((await app.get('/', as('ann'))).status).toBe(429);
    expect(told).toEqual([
      ['limiter', 'allowed', 'ann', false],
      ['middleware', 'allowed'],
      ['limiter', 'denied', 'ann', true],
      ['middleware', 'denied'],
      ['limiter', 'denied', 'ann', false],
      ['middleware', 'denied'],
    ]);
  });

  test('onDenied gives an own answer: the fields are set, the status is not', async () => {
    const onDenied = framework.onDenied((_context, decision) => `${decision.limit} ${decision.retryAfterMs}`);
    const app = await start(framework, { limits: [{ ...perUser(), onDenied }] });
    await app.get('/', as('ann'));
    const { status, headers, body } = await app.get('/', as('ann'));
    expect({ status, body }).toEqual({ status: 200, body: 'PerUser 60000' });
    expect(headers.ratelimit).toBe('"PerUser";r=0;t=60');
    expect(headers['retry-after']).toBe('60');
  });

  test('onDenied may answer later, and set the status', async () => {
    const onDenied = framework.onDenied(async ({ status }) => {
      await new Promise((resolve) => setImmediate(resolve));
      status(420);
      return 'calm';
    });
    const app = await start(framework, { limits: [{ ...perUser(), onDenied }] });
    await app.get('/', as('ann'));
    const { status, headers, body } = await app.get('/', as('ann'));
    expect({ status, body }).toEqual({ status: 420, body: 'calm' });
    expect(headers['retry-after']).toBe('60');
  });

  test.each([
    ['throws', () => { throw Object.assign(new Error('boom'), { status: 418, statusCode: 418 }); }], // prettier-ignore
    ['rejects', () => Promise.reject(Object.assign(new Error('boom'), { status: 418, statusCode: 418 }))],
  ])('an onDenied that %s reaches the error handler, with the fields', async (_how, onDenied) => {
    const app = await start(framework, { limits: [{ ...perUser(), onDenied }] });
    await app.get('/', as('ann'));
    const { status, headers } = await app.get('/', as('ann'));
    expect(status).toBe(418);
    expect(headers['retry-after']).toBe('60');
    expect(headers.ratelimit).toBe('"PerUser";r=0;t=60');
    expect(app.errors).toMatchObject([{ message: 'boom' }]);
  });

  test.each([
    ['throws', () => { throw undefined; }], // prettier-ignore
    ['rejects with', () => Promise.reject()],
  ])('an onDenied that %s nothing lets no request through', async (_how, onDenied) => {
    let handled = 0;
    const app = await start(framework, {
      limits: [{ ...perUser(), onDenied }],
      routes: { '/': { handle: () => `${++handled}` } },
    });
    expect(await app.statuses(2, '/', as('ann'))).toEqual([200, 500]);
    expect(handled).toBe(1);
  });

  test('onDenied also answers for a store that can not', async () => {
    const onDenied = framework.onDenied(({ status }, { outcome }) => (status(503), outcome));
    const limiter = stillLimiter({
      limits: { PerUser: { key: userKey, count: 1, period: '1m', onFailure: 'closed' } },
      store: brokenStore(),
    });
    const app = await start(framework, { limits: [{ limiter, onDenied }] });
    const { status, body, headers } = await app.get('/', as('ann'));
    expect({ status, body }).toEqual({ status: 503, body: 'unavailable' });
    expect(headers['retry-after']).toBe('1');
  });
}
