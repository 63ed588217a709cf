import {
  accountId,
  createLimiter,
  memoryStore,
  type Limiter,
  type LimiterEvent,
  type Limits,
  type Store,
} from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { quota } from '@sluice/core/quota';
import { storeGuard, otherNumbers } from '@sluice/core/store';
import { FakeTime } from '@sluice/core/testing';
import { expect, test } from 'vitest';

type OtherNumbers = Extract<LimiterEvent, { type: 'other-numbers' }>;

/** A store that several processes of a test share. Its buckets are those of a memory store; it answers by promises. */
function sharedStore(time: FakeTime): () => Store {
  const memory = memoryStore({ time });
  return () => ({
    name: 'redis',
    guard: storeGuard,
    traits: { periods: true, slots: true },
    run: async (operation) => memory.run(operation),
    holders: async (buckets) => memory.holders(buckets),
    otherNumbers,
    close: () => {},
  });
}

interface Process {
  readonly limiter: Limiter;
  readonly events: OtherNumbers[];
  readonly lines: string[];
}

const key = accountId();
const requests = (count: number) => ({ limits: { Requests: { key, count, period: '1h' } } }) as const;

function service(count: number, store: Store, time: FakeTime): Process {
  const events: OtherNumbers[] = [];
  const lines: string[] = [];
  const onEvent = (event: LimiterEvent): void => {
    if (event.type === 'other-numbers') events.push(event);
  };
  const limiter = createLimiter({ ...requests(count), store, time, onEvent, log: (line) => lines.push(line) });
  return { limiter, events, lines };
}

/** Lets time pass in steps of less than a second, so that all looks of a step end in it. */
async function pass(time: FakeTime, seconds: number): Promise<void> {
  for (let i = 0; i < 2 * seconds; i++) {
    time.advance(500);
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  }
}

test('two services that name a limit alike are told so, once, with both numbers and the remedy', async () => {
  const time = new FakeTime();
  const connect = sharedStore(time);
  const one = service(100, connect(), time);
  await one.limiter.ready();
  expect(one.lines).toEqual([]);
  const other = service(5, connect(), time);
  await other.limiter.ready();
  expect(other.lines).toEqual([
    'Sluice: Limit "Requests" has had, in another process on this store, other numbers: 100 per 1 h, burst 100 there, ' +
      '5 per 1 h, burst 5 here. They share the buckets. During a roll-out of new numbers, ignore this. If it is another ' +
      'service, give each store its own `prefix`.',
  ]);
  expect(other.events).toMatchObject([
    { level: 'info', limit: 'Requests', here: '5 per 1 h, burst 5', there: '100 per 1 h, burst 100' },
  ]);
  await pass(time, 300);
  expect(one.events).toMatchObject([{ level: 'info', there: '5 per 1 h, burst 5' }]);
  expect(other.events).toHaveLength(1);
});

test('it is a warning when both have been in use for ten minutes, once', async () => {
  const time = new FakeTime();
  const connect = sharedStore(time);
  const [one, other] = [service(100, connect(), time), service(5, connect(), time)];
  await pass(time, 590);
  expect([one, other].map(({ events }) => events.map(({ level }) => level))).toEqual([['info'], ['info']]);
  await pass(time, 40);
  expect([one, other].map(({ events }) => events.map(({ level }) => level))).toEqual([
    ['info', 'warning'],
    ['info', 'warning'],
  ]);
  await pass(time, 1500);
  expect([one, other].map(({ events }) => events.length)).toEqual([2, 2]);
});

test('a roll-out whose old numbers come and go is one event for each set, and no warning', async () => {
  const time = new FakeTime();
  const connect = sharedStore(time);
  const fresh = service(5, connect(), time);
  for (let round = 0; round < 6; round++) {
    const old = service(100, connect(), time);
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await pass(time, 300);
    // oxlint-disable-next-line no-await-in-loop
    await old.limiter.close();
    // oxlint-disable-next-line no-await-in-loop
    await pass(time, 120);
  }
  service(7, connect(), time);
  await pass(time, 60);
  expect(fresh.events.map(({ level, there }) => [level, there])).toEqual([
    ['info', '100 per 1 h, burst 100'],
    ['info', '7 per 1 h, burst 7'],
  ]);
});

test('numbers of a process that ended more than a minute ago, or equal ones, are no event', async () => {
  const time = new FakeTime();
  const connect = sharedStore(time);
  const ended = service(100, connect(), time);
  await ended.limiter.ready();
  await ended.limiter.close();
  await pass(time, 60);
  const [one, twin] = [service(5, connect(), time), service(5, connect(), time)];
  await pass(time, 700);
  expect([one.events, twin.events]).toEqual([[], []]);
});

test('a program without `ready` is told within two seconds, although it decides nothing', async () => {
  const time = new FakeTime();
  const connect = sharedStore(time);
  service(100, connect(), time);
  await pass(time, 2);
  const other = service(5, connect(), time);
  await pass(time, 2);
  expect(other.events).toHaveLength(1);
});

test('replaced numbers are those of the limit, and its earlier ones are no event unless another process has them', async () => {
  const time = new FakeTime();
  const connect = sharedStore(time);
  const live = service(100, connect(), time);
  await live.limiter.ready();
  live.limiter.replace(requests(5));
  await pass(time, 120);
  expect(live.events).toEqual([]);
  const old = service(100, connect(), time);
  await old.limiter.ready();
  expect(old.events).toMatchObject([{ there: '5 per 1 h, burst 5' }]);
  await pass(time, 30);
  expect(live.events).toMatchObject([{ there: '100 per 1 h, burst 100' }]);
});

test('a limit of another name, kind, calendar or process alone, and one that is disabled, is not compared', async () => {
  const time = new FakeTime();
  const connect = sharedStore(time);
  const all: LimiterEvent[] = [];
  const onEvent = (event: LimiterEvent): void => void all.push(event);
  const sets: readonly Limits[] = [
    { Requests: { key, count: 5, period: '1h' } },
    { Requests: quota({ key, count: 5, per: 'day' }) },
    { Requests: quota({ key, count: 5, per: 'month' }) },
    { Requests: concurrency({ key, concurrency: 5 }) },
    { Requests: concurrency({ key, concurrency: 9, scope: 'process' }) },
    { Requests: { key, count: 9, period: '1h', disabled: true } },
    { Other: { key, count: 9, period: '1h' } },
  ];
  for (const limits of sets) createLimiter({ limits, store: connect(), time, onEvent, log: false });
  await pass(time, 60);
  expect(all).toEqual([]);
});

test('a store that fails keeps nothing from `ready` and no request from its decision, and is asked again', async () => {
  const time = new FakeTime();
  const connect = sharedStore(time);
  service(100, connect(), time);
  let isDown = true;
  const store = connect();
  const failing: Store = {
    ...store,
    holders: async (buckets) => {
      if (isDown) throw new Error('down');
      return store.holders!(buckets);
    },
  };
  const other = service(5, failing, time);
  await other.limiter.ready();
  expect((await other.limiter.spend([{ limit: 'Requests', id: 'a' }])).allowed).toBe(true);
  expect(other.events).toEqual([]);
  isDown = false;
  await pass(time, 30);
  expect(other.events).toHaveLength(1);
});
