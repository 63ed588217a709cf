import { memoryStore } from '@sluice/core';
import type { StoreOperation, StoreReading } from '@sluice/core/store';
import { FakeTime } from '@sluice/core/testing';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { RemoteStore } from '../kinds/concurrency/slots/support/remote-store.ts';
import { settled } from '../support/promises.ts';
import { id, key, LIMITS, on, quiet, scene } from './scene.ts';

// So that calls are asked for at their earliest, after three quarters of `ahead`.
beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0));
afterEach(() => void vi.restoreAllMocks());

/** A scheduler on a store that answers later, and what the store was asked. */
function remoteScene(ahead = '50ms', limits: object = LIMITS) {
  const time = new FakeTime();
  const store = new RemoteStore(time);
  const questions: { readonly atMs: number; readonly passed: boolean }[] = [];
  const run = store.run.bind(store);
  store.run = async (operation: StoreOperation): Promise<StoreReading> => {
    const atMs = time.nowMs;
    const reading = await run(operation);
    if (operation.kind === 'spend') questions.push({ atMs, passed: reading.passed === 0 });
    return reading;
  };
  const failure = { deadlineMs: 10_000 };
  return { ...scene({ ahead }, { store, failure, limits: limits as typeof LIMITS }, time), store, questions };
}

/** In steps, so that the store answers before the time has passed. */
async function pass(time: FakeTime, ms: number): Promise<void> {
  // oxlint-disable-next-line no-await-in-loop -- one after the other
  for (let left = ms; left > 0; left -= 5) await time.pass(Math.min(5, left));
}

const api = (cost: number) => [{ limit: 'Api', id, cost }] as const;

describe('on a store that answers later', () => {
  test('calls begin as there is room, without a wait between', async () => {
    const { run, time, starts } = remoteScene('50ms', { Api: { key, burst: 3, count: 10, period: '1s' } });
    for (let i = 0; i < 5; i++) void run(`${i}`, on('Api'));
    await settled();
    await pass(time, 500);
    expect(starts.map(([, atMs]) => atMs)).toEqual([0, 0, 0, 100, 200]);
  });

  test('one question is for as many calls as can pass, and after those that passed none is denied', async () => {
    const { run, time, starts, questions } = remoteScene('200ms', { Api: { key, burst: 1, count: 100, period: '1s' } });
    for (let i = 0; i < 200; i++) void run(`${i}`, on('Api'));
    await settled();
    await pass(time, 2500);
    expect(starts.map(([, atMs]) => atMs)).toEqual(Array.from({ length: 200 }, (_, i) => i * 10));
    expect(questions.filter(({ passed }) => !passed).length).toBeLessThanOrEqual(2);
    expect(new Set(questions.map(({ atMs }) => atMs)).size).toBeLessThanOrEqual(20);
  });

  test('after one that passed, as many are asked for together as can pass', async () => {
    const { run, store, time } = remoteScene('200ms', { Api: { key, burst: 1, count: 100, period: '1s' } });
    store.manner = 'slow';
    for (let i = 0; i < 50; i++) quiet(run(`${i}`, on('Api')));
    expect(store.named()).toHaveLength(1);
    await store.answerSlow();
    expect(store.named()).toHaveLength(20);
    await store.answerSlow();
    // One, and those that come in three quarters of 200 ms.
    await pass(time, 160);
    expect(store.named()).toHaveLength(16);
  });

  test('after one that was denied, as many are asked for together as can pass, and keep their order if they can not', async () => {
    const { run, time, store, limiter, names } = remoteScene('200ms', {
      Api: { key, burst: 1, count: 100, period: '1s' },
    });
    await limiter.restrict([{ limit: 'Api', id, forMs: 500 }]);
    for (let i = 0; i < 50; i++) void run(`${i}`, on('Api'));
    await settled();
    store.named();
    store.manner = 'slow';
    // Not 200 ms before the end of the wait, but when three quarters of that have passed.
    await pass(time, 450);
    expect(store.named()).toHaveLength(16);
    store.manner = 'answers';
    await limiter.restrict([{ limit: 'Api', id, forMs: 500 }]);
    await store.answerSlow();
    await pass(time, 2000);
    expect(names()).toEqual(Array.from({ length: 50 }, (_, i) => `${i}`));
  });

  test('what is asked for together ends before a call of another lane that comes first', async () => {
    const { run, time, store, limiter, names } = remoteScene('200ms', {
      ...LIMITS,
      Api: { key, burst: 1, count: 50, period: '1s' },
    });
    await limiter.restrict([{ limit: 'Api', id, forMs: 500 }]);
    const all = ['1', '2', '3', '4', 'between', '5', '6', '7', '8'];
    for (const name of all) void run(name, name === 'between' ? on('Api', 'Other') : on('Api'));
    await settled();
    store.calls.length = 0;
    store.manner = 'slow';
    await pass(time, 450);
    expect(store.calls.map(({ batch }) => batch.length)).toEqual([1, 1, 1, 1, 2]);
    store.manner = 'answers';
    await store.answerSlow();
    await pass(time, 500);
    expect(names()).toEqual(all);
  });

  test('the next ones are asked for when few can pass, so that little is lost where that is late', async () => {
    const { run, time, questions } = remoteScene('50ms', { Api: { key, burst: 1, count: 1000, period: '1s' } });
    for (let i = 0; i < 500; i++) quiet(run(`${i}`, on('Api')));
    await settled();
    await time.pass(100);
    const times = [...new Set(questions.map(({ atMs }) => atMs))];
    // One, and three quarters of 20 that come meanwhile.
    expect(times).toEqual([0, 16, 32, 48, 64, 80, 96]);
  });

  test('a call of another cost than the one before is asked for when it can pass', async () => {
    const { run, time, questions, starts } = remoteScene('50ms', { Api: { key, burst: 5, count: 100, period: '1s' } });
    for (let i = 0; i < 40; i++) void run(`${i}`, api(1 + (i % 5)));
    await pass(time, 3000);
    expect(starts).toHaveLength(40);
    expect(new Set(questions.map(({ atMs }) => atMs)).size).toBeLessThanOrEqual(24);
    expect(questions.filter(({ passed }) => !passed).length).toBeLessThanOrEqual(18);
  });

  test('calls that come while others wait ask nothing', async () => {
    const { run, time, questions } = remoteScene();
    quiet(run('first', on('Api')), run('second', on('Api')));
    await pass(time, 10);
    const before = questions.length;
    for (let i = 0; i < 50; i++) quiet(run('more', on('Api')));
    await pass(time, 10);
    expect(questions.length).toBe(before);
  });

  test('calls of other costs keep their order', async () => {
    const { run, time, names } = remoteScene('200ms', { Api: { key, burst: 5, count: 50, period: '1s' } });
    const costs = Array.from({ length: 40 }, (_, i) => 1 + ((i * 7) % 5));
    for (const [i, cost] of costs.entries()) void run(`${i}`, api(cost));
    await pass(time, 5000);
    expect(names()).toEqual(costs.map((_, i) => `${i}`));
  });

  test('calls that were asked for together and denied keep their order', async () => {
    const { run, time, names, limiter } = remoteScene('200ms', { Api: { key, burst: 1, count: 50, period: '1s' } });
    for (let i = 0; i < 30; i++) void run(`${i}`, on('Api'));
    await pass(time, 20);
    await limiter.restrict([{ limit: 'Api', id, forMs: 500 }]);
    await pass(time, 2000);
    expect(names()).toEqual(Array.from({ length: 30 }, (_, i) => `${i}`));
  });

  test('a question is not for calls that come after one of another lane', async () => {
    const { run, time, names } = remoteScene('200ms', {
      ...LIMITS,
      Api: { key, burst: 1, count: 50, period: '1s' },
    });
    for (let i = 0; i < 4; i++) void run(`first ${i}`, on('Api'));
    await pass(time, 5);
    void run('between', on('Api', 'Other'));
    for (let i = 0; i < 12; i++) void run('after', on('Api'));
    await pass(time, 1000);
    expect(names().indexOf('between')).toBe(4);
  });

  test('a call that left while it was asked for is not begun, and its tokens and slots are free', async () => {
    const { run, time, store, limiter, scheduler, starts } = remoteScene();
    const leaving = new AbortController();
    store.manner = 'slow';
    const call = run('leaves', on('Api', 'Busy'), { signal: leaving.signal });
    quiet(call);
    leaving.abort(new Error('gone'));
    store.manner = 'answers';
    await store.answerSlow();
    await expect(call).rejects.toThrow('gone');
    await pass(time, 1);
    const [tokens, slots] = await Promise.all([limiter.check(on('Api')), limiter.check(on('Busy'))]);
    expect([starts.length, scheduler.size, tokens.remaining, slots.remaining]).toEqual([0, 0, 1, 2]);
  });

  test('a call that left while it was asked for and denied is not asked for again', async () => {
    const { run, time, store, scheduler, starts, limiter } = remoteScene();
    await limiter.spend(on('Api'));
    const leaving = new AbortController();
    store.manner = 'slow';
    quiet(run('leaves', on('Api'), { signal: leaving.signal }));
    leaving.abort(new Error('gone'));
    void run('stays', on('Api'));
    store.manner = 'answers';
    await store.answerSlow();
    await pass(time, 500);
    expect([starts.map(([name]) => name), scheduler.size]).toEqual([['stays'], 0]);
  });

  test('a call that has waited for half of its time while it was asked for goes first', async () => {
    const { run, time, store, names, limiter } = remoteScene('0ms');
    await limiter.spend(on('Api'));
    await limiter.restrict([{ limit: 'Api', id, forMs: 700 }]);
    store.manner = 'slow';
    void run('patient', on('Api'), { priority: -5, within: '1s' });
    void run('urgent', on('Api'), { priority: 9 });
    await pass(time, 510);
    store.manner = 'answers';
    await store.answerSlow();
    await pass(time, 1000);
    expect(names()).toEqual(['patient', 'urgent']);
  });

  test('a turn that was found out too late is given back', async () => {
    const { run, time, store, limiter, starts } = remoteScene('50ms', {
      ...LIMITS,
      Api: { key, burst: 1, count: 25, period: '1s' },
    });
    await pass(time, 1000);
    store.manner = 'slow';
    const call = run('late', on('Api', 'Busy'), { within: '120ms' });
    quiet(call);
    await pass(time, 100);
    store.manner = 'answers';
    await limiter.restrict([{ limit: 'Api', id, forMs: 40 }]);
    await store.answerSlow();
    await expect(call).rejects.toMatchObject({ reason: 'within', retryAfterMs: 40 });
    await pass(time, 40);
    const [tokens, slots] = await Promise.all([limiter.check(on('Api')), limiter.check(on('Busy'))]);
    expect([starts.length, tokens.allowed, slots.remaining]).toEqual([0, true, 2]);
  });

  test('nothing is taken for a call whose turn comes after its time', async () => {
    const { run, store, limiter } = remoteScene('50ms', { Api: { key, burst: 1, count: 25, period: '1s' } });
    await limiter.spend(on('Api'));
    store.calls.length = 0;
    await expect(run('late', on('Api'), { within: '20ms' })).rejects.toMatchObject({ retryAfterMs: 40 });
    expect(store.named()).toEqual(['spend']);
  });

  test('slots that another process holds are asked for every 10 to 250 ms, less and less often', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    const time = new FakeTime();
    const memory = memoryStore({ time });
    const holder = scene({}, { store: new RemoteStore(time, memory) }, time);
    const decision = await holder.limiter.spend([{ limit: 'Busy', id, cost: 2 }], { hold: true });
    const store = new RemoteStore(time, memory);
    const { run, starts } = scene({}, { store }, time);
    void run('waits', on('Busy'));
    await pass(time, 100);
    const soon = store.named().filter((name) => name === 'spend').length;
    await pass(time, 9900);
    const later = store.named().filter((name) => name === 'spend').length;
    expect(soon).toBeGreaterThanOrEqual(3);
    expect(later).toBeGreaterThan(40);
    expect(later).toBeLessThan(120);
    await decision.release();
    await pass(time, 250);
    expect(starts).toHaveLength(1);
  });
});

describe('while the store is down', () => {
  const down = (onFailure: 'open' | 'closed' | 'local') => {
    const time = new FakeTime();
    const store = new RemoteStore(time);
    return { ...scene({}, { store, failure: { onFailure } }, time), store };
  };

  test('with `closed`, calls wait, and begin when it is back', async () => {
    const { run, time, store, starts } = down('closed');
    store.manner = new Error('down');
    for (let i = 0; i < 5; i++) void run('waits', on('Api'));
    const late = run('late', on('Api'), { within: '5s' });
    quiet(late);
    await pass(time, 10_000);
    await expect(late).rejects.toMatchObject({ reason: 'within', retryAfterMs: undefined });
    expect(starts).toEqual([]);
    // Once a second.
    expect(store.named().filter((name) => name === 'spend').length).toBeLessThan(20);
    store.manner = 'answers';
    await pass(time, 2000);
    expect(starts).toHaveLength(5);
    expect(starts.at(-1)![1] - starts[0]![1]).toBe(400);
  });

  test('with `open`, all that wait begin', async () => {
    const { run, time, store, starts } = down('open');
    store.manner = new Error('down');
    for (let i = 0; i < 5; i++) void run('waits', on('Api'));
    await pass(time, 1);
    expect(starts).toHaveLength(5);
  });

  test('with `local`, this process keeps the limit by itself', async () => {
    const { run, time, store, starts } = down('local');
    store.manner = new Error('down');
    for (let i = 0; i < 50; i++) void run('waits', on('Api'));
    await pass(time, 3000);
    expect(starts.length).toBeGreaterThan(25);
    expect(starts.length).toBeLessThanOrEqual(31);
  });
});
