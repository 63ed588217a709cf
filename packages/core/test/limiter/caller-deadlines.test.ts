import { accountId, createLimiter, memoryStore, type LimiterEvent, type SpendOptions, type Store } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { readMetrics } from '@sluice/core/metrics';
import { callsOf, FakeTime } from '@sluice/core/testing';
import { expect, test } from 'vitest';
import { holding } from '../kinds/concurrency/slots/support/holding.ts';
import { heldStore } from '../support/held-store.ts';
import { later } from '../support/later-store.ts';
import { accountLimits, limiterOnFakeTime } from '../support/limiter-on-fake-time.ts';
import { settled } from '../support/promises.ts';
import { rejected, thrown } from '../support/thrown.ts';

/** One request every 100 ms. */
const QUEUE = { burst: 1, count: 10, period: '1s', maxWait: '700ms' };
const entry = [{ limit: 'Queue', id: '7' }];

function queue(store?: (time: FakeTime) => Store) {
  const time = new FakeTime();
  const kept = store?.(time) ?? memoryStore({ time });
  const events: LimiterEvent[] = [];
  const onEvent = (event: LimiterEvent): void => void events.push(event);
  const limiter = createLimiter({ limits: accountLimits({ Queue: QUEUE }), store: kept, time, log: false, onEvent });
  const level = async () => (await limiter.check([{ limit: 'Queue', id: '7', cost: 0 }])).resetAfterMs;
  return { limiter, time, events, level };
}

const STORES = [
  ['the memory store', undefined],
  ['a store that answers later', later],
] as const;

for (const [name, store] of STORES) {
  test(`what could begin only after its caller has given up is denied at once and takes nothing: ${name}`, async () => {
    const { limiter, time, level } = queue(store);
    const begun: number[] = [];
    const runs = Array.from({ length: 8 }, () =>
      limiter.run(entry, () => void begun.push(time.nowMs), { within: 250 }),
    );
    await settled();
    expect(await level()).toBe(300);
    await time.pass(1000);
    const decisions = (await Promise.all(runs)).map(({ decision }) => decision);
    expect(begun).toEqual([0, 100, 200]);
    expect(decisions.map(({ allowed, reason }) => [allowed, reason])).toEqual([
      ...Array.from({ length: 3 }, () => [true, undefined]),
      ...Array.from({ length: 5 }, () => [false, 'deadline']),
    ]);
    // The delay that they would have had.
    expect(decisions.slice(3)).toMatchObject(Array.from({ length: 5 }, () => ({ retryAfterMs: 300, limit: 'Queue' })));
    expect(time.pending).toBe(0);
  });

  test(`what could begin only when its caller gives up is too late, and a microsecond before it is not: ${name}`, async () => {
    const { limiter } = queue(store);
    await limiter.spend(entry);
    expect(await limiter.spend(entry, { within: 100 })).toMatchObject({ reason: 'deadline', retryAfterMs: 100 });
    expect(await limiter.spend(entry, { within: 100.001 })).toMatchObject({ allowed: true, delayMs: 100 });
  });

  test(`what would be denied anyway is denied for its limit, with the wait as without a deadline: ${name}`, async () => {
    const { limiter } = queue(store);
    for (let i = 0; i < 8; i++) await limiter.spend(entry);
    const { retryAfterMs } = await limiter.spend(entry);
    expect(retryAfterMs).toBe(100);
    for (const within of [1, 300, '1h'])
      expect(await limiter.spend(entry, { within })).toMatchObject({ allowed: false, retryAfterMs, reason: undefined });
  });

  test(`a caller that has given up is denied without the store: ${name}`, async () => {
    const { limiter, level, events } = queue(store);
    for (const within of [0, -1, -Infinity, '0s']) {
      const decision = await limiter.spend(entry, { within });
      expect(decision).toMatchObject({ outcome: 'denied', reason: 'deadline', limit: null, id: null, results: [] });
      expect(decision).toMatchObject({ remaining: 0, retryAfterMs: 1000, overloaded: false, blocked: false });
      expect(await limiter.refund(decision)).toEqual([]);
    }
    expect(await level()).toBe(0);
    expect(events).toMatchObject([{ type: 'deadline-denied', count: 1 }]);
  });
}

test('a caller that has given up makes no call of the store', async () => {
  const time = new FakeTime();
  const kinds: string[] = [];
  const inner = later(time);
  const store: Store = { ...inner, run: (operation) => (kinds.push(operation.kind), inner.run(operation)) };
  const { limiter } = limiterOnFakeTime({ Queue: QUEUE }, { store, time });
  await limiter.spend(entry, { within: 0 });
  await limiter.spend({ firstOf: [entry] }, { within: -1 });
  expect(kinds).toEqual([]);
});

test.each([Infinity, '1h', 1e300])('a caller that waits for %o waits for maxWait', async (within) => {
  const { limiter } = queue();
  for (let i = 0; i < 8; i++) expect(limiter.spendSync(entry, { within })).toMatchObject({ delayMs: i * 100 });
  expect(limiter.spendSync(entry, { within })).toMatchObject({ allowed: false, reason: undefined });
});

test.each([NaN, '5', 'soon', '-1s', '4000d', null, {}, 5n])(
  'within: %o is an error, before anything is taken',
  async (within) => {
    const { limiter, level } = queue();
    const options = { within } as SpendOptions;
    expect(await rejected(() => limiter.spend(entry, options))).toMatchObject({
      code: 'ERR_DURATION',
      path: 'spend.within',
    });
    expect(thrown(() => limiter.spendSync(entry, options))).toMatchObject({ code: 'ERR_DURATION' });
    const run = () => limiter.run(entry, () => expect.unreachable(), options);
    expect(await rejected(run)).toMatchObject({ code: 'ERR_DURATION' });
    expect(await level()).toBe(0);
  },
);

test('a handle has the same option', async () => {
  const { limiter } = queue();
  const handle = limiter.limit('Queue');
  expect(handle.spendSync('7', { within: 100 })).toMatchObject({ allowed: true });
  expect(await handle.spend('7', { within: 100 })).toMatchObject({ reason: 'deadline' });
  expect(handle.spendSync('7', { within: 100 })).toMatchObject({ reason: 'deadline' });
  expect(await handle.run('7', () => expect.unreachable(), { within: 50 })).toMatchObject({ allowed: false });
  const settle = (): never => expect.unreachable();
  expect(await handle.run('7', settle, { within: 50, settle })).toMatchObject({ decision: { reason: 'deadline' } });
});

test('of a batch, limits without a queue take nothing either, and no slot is held', async () => {
  const { limiter, inStore } = holding({
    Queue: QUEUE,
    Tokens: { count: 5, period: '1m' },
    InFlight: { concurrency: 3 },
  });
  const all = ['Queue', 'Tokens', 'InFlight'].map((limit) => ({ limit, id: 'a' }));
  expect(limiter.spendSync(all, { hold: true, within: 50 })).toMatchObject({ allowed: true });
  const denied = limiter.spendSync(all, { hold: true, within: 50 });
  expect(denied).toMatchObject({ allowed: false, reason: 'deadline', limit: 'Queue', retryAfterMs: 100 });
  expect(limiter.checkSync([{ limit: 'Tokens', id: 'a', cost: 0 }]).remaining).toBe(4);
  expect(inStore()).toBe(1);
});

test('of alternatives, one that could begin only too late does not pass', async () => {
  const { limiter } = limiterOnFakeTime({ Queue: QUEUE, Other: { count: 1, period: '1h' } });
  const firstOf = [entry, [{ limit: 'Other', id: '7' }]] as const;
  const decide = () => limiter.spend({ firstOf }, { within: 50 });
  expect(await decide()).toMatchObject({ allowed: true, limit: 'Queue' });
  expect(await decide()).toMatchObject({ allowed: true, limit: 'Other' });
  expect(await decide()).toMatchObject({ allowed: false, limit: 'Queue', reason: 'deadline' });
  expect(limiter.spendSync({ firstOf }, { within: 0 })).toMatchObject({ reason: 'deadline', results: [] });
});

test('an unlimited id waits for nothing, but a caller that has given up is denied', async () => {
  const { limiter } = limiterOnFakeTime({ Queue: QUEUE }, { overrides: { Queue: { '7': 'unlimited' } } });
  expect(await limiter.spend(entry, { within: 1 })).toMatchObject({ allowed: true, limit: null });
  expect(await limiter.spend(entry, { within: 0 })).toMatchObject({ allowed: false, limit: null, reason: 'deadline' });
});

test('a blocked id stays blocked', () => {
  const { limiter } = limiterOnFakeTime({ Queue: QUEUE }, { overrides: { Queue: { '7': 'blocked' } } });
  expect(limiter.spendSync(entry, { within: 1 })).toMatchObject({ blocked: true, reason: undefined });
});

test('a share of a queue is not lengthened', () => {
  const { limiter } = limiterOnFakeTime({ Queue: QUEUE });
  const shared = [{ ...entry[0]!, share: 0.25 }];
  for (let i = 0; i < 2; i++) expect(limiter.spendSync(shared, { within: 5000 }).delayMs).toBe(i * 100);
  expect(limiter.spendSync(shared, { within: 5000 })).toMatchObject({ allowed: false, reason: undefined });
  expect(limiter.spendSync(entry, { within: 150 })).toMatchObject({ allowed: false, reason: 'deadline' });
});

test('a store is waited for no longer than the caller waits, and what it took is given back', async () => {
  const time = new FakeTime();
  const { store, inner, answer } = heldStore(time);
  const limiter = createLimiter({ limits: accountLimits({ Queue: QUEUE }), store, time, log: false });
  const ended: unknown[] = [];
  void limiter.run(entry, () => expect.unreachable(), { within: 20 }).then(({ decision }) => ended.push(decision));
  await time.pass(19.999);
  expect(ended).toEqual([]);
  await time.pass(0.001);
  expect(ended).toMatchObject([{ outcome: 'denied', reason: 'deadline', failure: undefined, retryAfterMs: 1000 }]);
  const left = async () => (await callsOf(inner).check([{ limit: 'Queue', id: '7', incrementTicks: 0, fitTicks: 0, capTicks: 0, mode: 'check-only' }])).levelsTicks; // prettier-ignore
  expect(await left()).not.toEqual([0]);
  answer();
  await settled();
  answer();
  await settled();
  expect(await left()).toEqual([0]);
});

test('callers with short deadlines open no breaker, and hide no store that hangs', async () => {
  const time = new FakeTime();
  const { store, answer } = heldStore(time);
  const limiter = createLimiter({ limits: accountLimits({ Queue: QUEUE }), store, time, log: false });
  for (let i = 0; i < 5; i++) {
    const decided = limiter.spend(entry, { within: 1 });
    await time.pass(1);
    expect((await decided).reason).toBe('deadline');
  }
  answer();
  await settled();
  expect(limiter.status()).toMatchObject({ state: 'up', outages: 0, lastFailure: undefined });
  answer();
  await settled();
  for (let i = 0; i < 5; i++) void limiter.spend(entry, { within: 1 });
  await time.pass(50);
  expect(limiter.status()).toMatchObject({ state: 'failing', lastFailure: { cause: { code: 'ERR_STORE_DEADLINE' } } });
});

test('an answer after the deadline of a caller lets nothing begin, also where the store would be waited for longer', async () => {
  const time = new FakeTime();
  const { store, answer } = heldStore(time);
  const failure = { deadlineMs: 20 };
  const limiter = createLimiter({ limits: accountLimits({ Queue: QUEUE }), store, time, log: false, failure });
  const decided = limiter.spend(entry, { within: 30 });
  // The process was busy: the clock is further than any timer has run.
  time.set(31);
  answer();
  expect(await decided).toMatchObject({ outcome: 'denied', reason: 'deadline' });
});

test('a turn that comes late because the process was busy lets nothing begin, and frees its slot', async () => {
  const { limiter, time, inStore, events } = holding({ Queue: QUEUE, InFlight: { concurrency: 3 } });
  const all = [...entry, { limit: 'InFlight', id: 'a' }];
  const begun: number[] = [];
  const runs = [1, 2, 3].map(() => limiter.run(all, () => void begun.push(time.nowMs), { within: 300 }));
  await settled();
  const before = inStore();
  time.set(time.nowMs + 400);
  await time.pass(0);
  const ended = await Promise.all(runs);
  expect([before, inStore(), begun]).toEqual([2, 0, [1000]]);
  expect(ended.slice(1).map(({ allowed, decision }) => [allowed, decision.reason])).toEqual([
    [false, 'deadline'],
    [false, 'deadline'],
  ]);
  expect(events).toMatchObject([{ type: 'deadline-denied', count: 1 }]);
});

test('a turn that comes late gives its tokens back', async () => {
  const { limiter, time, level } = queue();
  await limiter.spend(entry);
  const late = limiter.run(entry, () => expect.unreachable(), { within: 150 });
  time.set(160);
  await time.pass(0);
  expect((await late).decision.reason).toBe('deadline');
  expect(await level()).toBe(0);
});

test('slots that a store takes too late are free again', async () => {
  const time = new FakeTime();
  const { store, inner, answer } = heldStore(time);
  const limits = { InFlight: concurrency({ key: accountId(), concurrency: 3 }) };
  const limiter = createLimiter({ limits, store, time, log: false });
  const late = limiter.spend([{ limit: 'InFlight', id: '7' }], { hold: true, within: 20 });
  await time.pass(20);
  expect((await late).reason).toBe('deadline');
  expect(inner.stats().slots).toEqual({ InFlight: 1 });
  answer();
  await settled();
  expect(inner.stats().slots).toEqual({});
});

test('in shadow mode a denial because of a deadline is only reported', async () => {
  const seen: unknown[] = [];
  const onDecision = ({ reason }: { reason: unknown }, { shadow }: { shadow: boolean }): void =>
    void seen.push([reason, shadow]);
  const { limiter } = limiterOnFakeTime({ Queue: QUEUE }, { onDecision });
  for (let i = 0; i < 2; i++) await limiter.spend(entry, { within: 50, shadow: true });
  expect(seen).toEqual([
    [undefined, true],
    ['deadline', true],
  ]);
});

test('denials are counted by limit, and reported once a minute and at the end', async () => {
  const { limiter, time, events } = queue();
  const counted = () => readMetrics(limiter).find(({ name }) => name === 'sluice.deadline.denials')!.samples;
  expect(counted()).toEqual([{ attributes: { limit: 'Queue' }, value: 0 }]);
  for (let i = 0; i < 4; i++) limiter.spendSync(entry, { within: 1 });
  expect(counted()).toEqual([{ attributes: { limit: 'Queue' }, value: 3 }]);
  await time.pass(60_000);
  limiter.spendSync(entry);
  limiter.spendSync(entry, { within: 1 });
  limiter.spendSync(entry, { within: 1 });
  await limiter.close();
  const counts = events.flatMap((event) => (event.type === 'deadline-denied' ? [event.count] : []));
  expect(counts).toEqual([1, 3, 1]);
});

test('a closed limiter rejects calls whose callers have given up, too', async () => {
  const { limiter } = queue();
  await limiter.close();
  expect(await rejected(() => limiter.spend(entry, { within: 0 }))).toMatchObject({ code: 'ERR_CLOSED' });
});

test('the reason is in the JSON of a decision', () => {
  const { limiter } = queue();
  expect(JSON.parse(JSON.stringify(limiter.spendSync(entry)))).not.toHaveProperty('reason');
  expect(JSON.parse(JSON.stringify(limiter.spendSync(entry, { within: 1 })))).toMatchObject({ reason: 'deadline' });
});
