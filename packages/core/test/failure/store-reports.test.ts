import { createLimiter, type LimiterEvent, type Store } from '@sluice/core';
import type { StoreReport } from '@sluice/core/store';
import { describe, expect, test } from 'vitest';
import { isStoreInUse } from '../../src/limiter/limit-name-registry.ts';
import { CountedTime } from '../support/counted-time.ts';
import { accountLimits } from '../support/limiter-on-fake-time.ts';
import { settled } from '../support/promises.ts';
import { answersAtOnce, answersSoon, hangs, rejects, ScriptedStore, throws } from './support/scripted-store.ts';

const cause = new Error('connect ECONNREFUSED');
const down: StoreReport = { type: 'down', cause };
const up: StoreReport = { type: 'up' };

function limited({ store = new ScriptedStore(answersSoon) } = {}) {
  const time = new CountedTime();
  const events: LimiterEvent[] = [];
  const limiter = createLimiter({
    limits: accountLimits({ Orders: { count: 5, period: '1h', onFailure: 'closed' } }),
    store,
    time,
    log: false,
    onEvent: (event) => events.push(event),
  });
  const spend = () => limiter.spend([{ limit: 'Orders', id: 'one' }]);
  return { limiter, store, time, events, spend, types: () => events.map(({ type }) => type) };
}

describe('a store that reports `down`', () => {
  test('is failing before the first request, with its cause in status and in one event', () => {
    const { limiter, store, events } = limited();
    store.report(down);
    store.report(down);
    expect(limiter.status()).toMatchObject({ state: 'failing', outages: 1, lastFailure: { cause } });
    expect(events).toMatchObject([{ type: 'store-failing', cause }]);
    expect(store.calls).toEqual([]);
  });

  test('is not waited for: the policies decide at once, with the reported cause', async () => {
    const { store, spend } = limited({ store: new ScriptedStore(hangs) });
    store.report(down);
    expect(await spend()).toMatchObject({ outcome: 'unavailable', failure: { policy: 'closed', cause } });
    expect(store.calls).toEqual([]);
  });

  test('at the start explain to a newcomer how to wait for it, and later no more', async () => {
    const { store, time, events, spend } = limited();
    store.report(down);
    await time.pass(100);
    await spend();
    store.report(down);
    const [first, , later] = events.map(({ message }) => message);
    expect(first).toBe(`${later} To start only when the store can answer, wait for limiter.ready().`);
  });

  test('keeps the cause of its latest report', async () => {
    const { limiter, store, spend } = limited();
    const later = new Error('no route to host');
    store.report(down);
    store.report({ type: 'down', cause: later });
    expect(limiter.status().lastFailure?.cause).toBe(later);
    expect(await spend()).toMatchObject({ failure: { cause: later } });
  });

  test('but answers the trial call is up again, and decides', async () => {
    const { limiter, store, time, spend, types } = limited();
    store.report(down);
    await time.pass(100);
    expect(await spend()).toMatchObject({ outcome: 'allowed' });
    expect(limiter.status().state).toBe('up');
    expect(types()).toEqual(['store-failing', 'store-recovered']);
  });

  test('after failed calls begins the outage at once, counted from the first of them', async () => {
    const { store, time, events, spend } = limited({ store: new ScriptedStore(answersSoon) });
    await spend();
    store.behaviour = rejects(cause);
    await spend();
    await time.pass(30);
    store.report(down);
    store.behaviour = answersSoon;
    await time.pass(100);
    await spend();
    expect(events).toMatchObject([
      { type: 'store-failing' },
      { type: 'store-recovered', outageMs: 130, message: expect.stringContaining('made 1 decision.') },
    ]);
  });

  test('a second time begins an outage of its own, with its own decisions', async () => {
    const { store, events, spend } = limited();
    for (const requests of [3, 1]) {
      store.report(down);
      for (let i = 0; i < requests; i++) await spend();
      store.report(up);
      await settled();
    }
    const [, first, , second] = events.map(({ message }) => message);
    expect([first, second]).toEqual([
      expect.stringContaining('policies made 3 decisions.'),
      expect.stringContaining('policies made 1 decision.'),
    ]);
  });

  test('during an outage that calls have found changes nothing but the cause', async () => {
    const { limiter, store, spend, types } = limited({ store: new ScriptedStore(throws(new Error('OOM'))) });
    for (let i = 0; i < 3; i++) await spend();
    store.report(down);
    expect(limiter.status()).toMatchObject({ outages: 1, lastFailure: { cause } });
    expect(types().filter((type) => type === 'store-failing')).toHaveLength(1);
  });

  test('inside `watch` is failing from the start of the limiter', () => {
    class DownAlready extends ScriptedStore {
      override watch(listener: (report: StoreReport) => void): () => void {
        listener(down);
        return super.watch(listener);
      }
    }
    const { limiter, types } = limited({ store: new DownAlready(answersSoon) });
    expect(limiter.status().state).toBe('failing');
    expect(types()).toEqual(['store-failing']);
  });
});

describe('a store that reports `up`', () => {
  test('is tried at once, so that the outage of an idle limiter ends too', async () => {
    const { limiter, store, time, types } = limited();
    store.report(down);
    await time.pass(10);
    store.report(up);
    await settled();
    expect(store.calls.map(({ name, batch }) => [name, batch])).toEqual([['check', []]]);
    expect(limiter.status().state).toBe('up');
    expect(types()).toEqual(['store-failing', 'store-recovered']);
  });

  test('decides the next request, without a failed one in between', async () => {
    const { store, time, spend } = limited();
    store.report(down);
    expect(await spend()).toMatchObject({ outcome: 'unavailable' });
    await time.pass(10);
    store.report(up);
    expect(await spend()).toMatchObject({ outcome: 'allowed' });
  });

  test('is still failing until it answers', async () => {
    const { limiter, store, time, spend, types } = limited();
    store.report(down);
    store.behaviour = rejects(new Error('LOADING'));
    store.report(up);
    await settled();
    expect(await spend()).toMatchObject({ outcome: 'unavailable' });
    expect(limiter.status().state).toBe('failing');
    store.behaviour = answersSoon;
    await time.pass(99);
    expect(await spend()).toMatchObject({ outcome: 'unavailable' });
    await time.pass(1);
    expect(await spend()).toMatchObject({ outcome: 'allowed' });
    expect(types()).toEqual(['store-failing', 'store-recovered']);
  });

  test('and throws when it is tried, or answers at once, gets no error back', () => {
    const { limiter, store } = limited({ store: new ScriptedStore(throws(new TypeError('no'))) });
    store.report(down);
    expect(() => store.report(up)).not.toThrow();
    store.behaviour = answersAtOnce;
    store.report(up);
    expect(limiter.status().state).toBe('up');
  });

  test('while it is up is not called for that', () => {
    const { limiter, store, events } = limited();
    store.report(up);
    expect(store.calls).toEqual([]);
    expect(limiter.status().state).toBe('up');
    expect(events).toEqual([]);
  });
});

describe('the reports of a store', () => {
  test('reach every limiter on it, and each ends with its own limiter', async () => {
    const store = new ScriptedStore(answersSoon);
    const one = limited({ store });
    const other = createLimiter({ limits: accountLimits({ Mails: { count: 5, period: '1h' } }), store, log: false });
    await one.limiter.close();
    store.report(down);
    expect([one.limiter.status().state, other.status().state]).toEqual(['up', 'failing']);
    await other.close();
    expect(store.listeners.size).toBe(0);
  });

  test('are ignored from the beginning of close, also if the store continues', async () => {
    const listeners: ((report: StoreReport) => void)[] = [];
    class GoesOn extends ScriptedStore {
      override watch(listener: (report: StoreReport) => void): () => void {
        listeners.push(listener);
        return () => {};
      }
    }
    const { limiter, events } = limited({ store: new GoesOn(answersSoon) });
    const closing = limiter.close();
    for (const listener of listeners) listener(down);
    await closing;
    for (const listener of listeners) listener(down);
    expect(limiter.status().state).toBe('up');
    expect(events).toEqual([]);
  });

  test('of pressure become the events of a store that is nearly full, whatever the store', () => {
    const { store, types } = limited();
    const largest = { limit: 'Orders', size: 80 };
    store.report({ type: 'pressure', size: 95, maxKeys: 100, evicted: 0, largest });
    store.report({ type: 'pressure', size: 100, maxKeys: 100, evicted: 3, largest });
    expect(types()).toEqual(['warning', 'buckets-evicted']);
  });

  test('of being down mean nothing for a store that can not fail', () => {
    const { limiter, store, events } = limited({ store: new ScriptedStore(answersAtOnce, { answersAtOnce: true }) });
    store.report(down);
    expect([limiter.status().state, events]).toEqual(['up', []]);
  });

  test('end with a function that watch returns: another value is an error, before the limiter is made', () => {
    const store = Object.assign(new ScriptedStore(answersSoon), { watch: () => true as never });
    expect(() => limited({ store })).toThrow(/`store\.watch\(…\)` must be a function, but was true/);
    expect(isStoreInUse(store)).toBe(false);
  });

  test('are asked for by a method: another value is an error', () => {
    const store = Object.assign(new ScriptedStore(answersSoon), { watch: true }) as unknown as Store;
    expect(() => limited({ store: store as ScriptedStore })).toThrow(/`store\.watch` must be a function, but was true/);
  });
});
