import { accountId, createLimiter, memoryStore, type LimitSetOptions } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { flowSettings } from '@sluice/core/http';
import { FakeTime } from '@sluice/core/testing';
import { expect, test } from 'vitest';
import { reasonOf } from '../../src/checks/errors.ts';
import { errorOf, runFlow } from '../../src/http/flow.ts';
import { plainExchange } from '../support/plain-exchange.ts';

const SLOW = { count: 1, period: '10s' } as const;
const QUEUE = { ...SLOW, maxWait: '15s' } as const;

test.each<[how: string, overrides: LimitSetOptions['overrides']]>([
  ['in a table', { Orders: { ann: QUEUE } }],
  ['by a function', () => QUEUE],
])('a queue that only an override %s has lets a request wait, also after replace', async (_, overrides) => {
  const time = new FakeTime();
  const limits = { Orders: { key: accountId(() => 'ann'), ...SLOW } };
  const limiter = createLimiter({ limits, time, log: false });
  const settings = flowSettings<object, readonly []>({ limiter }, []);
  limiter.replace({ limits, overrides });
  expect(await runFlow(settings, plainExchange(), [])).toBeNull();
  let outcome: unknown = 'waits';
  const waiting = Promise.resolve(runFlow(settings, plainExchange(), [])).then((ended) => (outcome = ended));
  await time.pass(9999);
  expect(outcome).toBe('waits');
  await time.pass(1);
  await waiting;
  expect(outcome).toBeNull();
});

test('a turn that comes after the deadline of its caller is denied, and frees its slots', async () => {
  const time = new FakeTime();
  const store = memoryStore({ time });
  const key = accountId(() => 'ann');
  const limits = { Orders: { key, ...QUEUE }, InFlight: concurrency({ key, concurrency: 5 }) };
  const limiter = createLimiter({ limits, store, time, log: false });
  const settings = flowSettings<object, readonly []>(
    { limiter, limits: ['Orders', 'InFlight'], slotsUntil: 'handler', deadline: () => 12_000 },
    [],
  );
  const exchange = plainExchange({ onEnd: () => undefined, onHandled: () => undefined });
  expect(await runFlow(settings, exchange, [])).toBeNull();
  const late = runFlow(settings, exchange, []);
  time.set(12_000);
  await time.pass(0);
  expect(await late).toMatchObject({ status: 429, retryAfterSeconds: 1, decision: { reason: 'deadline' } });
  expect(store.stats().slots).toEqual({ InFlight: 1 });
});

test('a thrown object is passed on unchanged', () => {
  for (const cause of [new Error('boom'), { status: 400 }, [], Object.create(null)]) expect(errorOf(cause)).toBe(cause);
});

test.each([undefined, null, '', 0, false, 'route', Symbol('x'), 1n])(
  '%o becomes an error with it as the cause',
  (cause) => {
    expect(errorOf(cause)).toBeInstanceOf(Error);
    expect((errorOf(cause) as Error).cause).toBe(cause);
  },
);

test.each([
  [new TypeError('boom'), 'TypeError: boom'],
  [Object.create(null), '[Object: null prototype] {}'],
  [undefined, 'undefined'],
  ['text', "'text'"],
])('reasonOf shows any thrown value in a log line: %o', (cause, reason) => {
  expect(reasonOf(cause)).toBe(reason);
});
