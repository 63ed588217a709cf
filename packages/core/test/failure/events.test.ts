import { describe, expect, test } from 'vitest';
import { SluiceError } from '../../src/checks/errors.ts';
import { breakDown, guarded, transaction } from './support/guarded.ts';
import { answersAtOnce, answersSoon, hangs, rejects, throws, type Behaviour } from './support/scripted-store.ts';

const down = new Error('connect ECONNREFUSED');
const open = transaction({ limit: 'Open', onFailure: 'open' });
const ofType = (events: readonly { type: string }[], type: string) => events.filter((event) => event.type === type);

describe('an outage', () => {
  test('is reported once when it begins and once when it ends, with its length, and not for each request', async () => {
    const { guard, store, time, events } = guarded(throws(down));
    for (let ms = 0; ms < 5000; ms += 10) {
      for (let i = 0; i < 10; i++) await guard.spend([open]);
      await time.pass(10);
    }
    expect(events).toMatchObject([{ type: 'store-failing', cause: down }]);
    store.behaviour = answersAtOnce;
    await time.pass(100);
    for (let i = 0; i < 10; i++) await guard.spend([open]);
    expect(events).toMatchObject([{ type: 'store-failing' }, { type: 'store-recovered', outageMs: 5100 }]);
  });

  test('of many decisions that miss together is one', async () => {
    const { guard, time, events } = guarded(hangs);
    const rulings = Array.from({ length: 1000 }, () => guard.spend([open]));
    await time.pass(50);
    await Promise.all(rulings);
    expect(events).toHaveLength(1);
    expect(guard.status().outages).toBe(1);
  });

  test('is not reported for one or two failures of a store that has answered before', async () => {
    const { guard, store, events } = guarded(answersAtOnce);
    await guard.spend([open]);
    store.behaviour = throws(down);
    await guard.spend([open]);
    await guard.spend([open]);
    expect(events).toEqual([]);
  });

  test('is reported again when it happens again', async () => {
    const setup = guarded(hangs);
    for (let outage = 0; outage < 2; outage++) {
      setup.store.behaviour = hangs;
      await breakDown(setup);
      setup.store.behaviour = answersAtOnce;
      await setup.time.pass(100);
      await setup.guard.spend([open]);
    }
    const types = ['store-failing', 'store-recovered', 'store-failing', 'store-recovered'];
    expect(setup.events.map(({ type }) => type)).toEqual(types);
  });

  test('names the consequence and what to check', async () => {
    const { guard, store, time, events } = guarded(throws(down));
    for (let i = 0; i < 7; i++) await guard.spend([open]);
    store.behaviour = answersAtOnce;
    await time.pass(1234);
    await guard.spend([open]);
    expect(events.map(({ message }) => message)).toEqual([
      'The store is failing (Error: connect ECONNREFUSED). Until it answers, each limit follows its onFailure policy ' +
        '(local: this process decides alone; closed: requests get a 503; open: requests pass), and one decision every ' +
        "100 ms tries the store. Check the store's server and the network to it.",
      'The store answers again after 1234 ms, and decides again. During the outage, failure policies made 7 decisions.',
    ]);
  });

  test('is counted from its first failure, in decisions and in time', async () => {
    const { guard, store, time, events } = guarded(answersAtOnce);
    await guard.spend([open]);
    await failFor(1, 100);
    await guard.spend([open]);
    await failFor(3, 100);
    expect(ofType(events, 'store-failing')).toHaveLength(1);
    await guard.spend([open]);
    expect(events.at(-1)).toMatchObject({
      outageMs: 300,
      message: expect.stringContaining('after 300 ms, and decides again. During the outage, failure policies made 3 d'),
    });

    async function failFor(decisions: number, everyMs: number): Promise<void> {
      store.behaviour = throws(down);
      for (let i = 0; i < decisions; i++) {
        await guard.spend([open]);
        await time.pass(everyMs);
      }
      store.behaviour = answersAtOnce;
    }
  });

  test('does not count what policies decided about a broken bucket before it', async () => {
    const { guard, store, time, events } = guarded(rejects(new SluiceError('ERR_STORE_BUCKET', 'Orders:a is a list')));
    for (let i = 0; i < 5; i++) await guard.spend([open]);
    store.behaviour = throws(down);
    for (let i = 0; i < 3; i++) await guard.spend([open]);
    store.behaviour = answersAtOnce;
    await time.pass(100);
    await guard.spend([open]);
    expect(events.at(-1)?.message).toContain('made 3 decisions');
  });

  test.each([
    [100.2, '101 ms'],
    [9999.001, '10000 ms'],
    [10_000.001, '10 s'],
    [3_599_600, '3600 s'],
  ])('of %d ms is reported as %s, and in full in the event', async (ms, shown) => {
    const { guard, store, time, events } = guarded(throws(down));
    for (let i = 0; i < 3; i++) await guard.spend([open]);
    store.behaviour = answersAtOnce;
    await time.pass(ms);
    await guard.spend([open]);
    expect(events.at(-1)).toMatchObject({
      outageMs: ms,
      message: expect.stringContaining(`again after ${shown}, and`),
    });
  });

  test('names a cause that is not an error as well', async () => {
    const { guard, events } = guarded(rejects('gone'));
    for (let i = 0; i < 3; i++) await guard.spend([open]);
    expect(events[0]?.message).toContain("The store is failing ('gone').");
  });
});

describe('a store that has never answered', () => {
  const notYet =
    'The store has not answered yet (Error: connect ECONNREFUSED). Until it does, each limit follows its onFailure ' +
    'policy (local: this process decides alone; closed: requests get a 503; open: requests pass). Check that the ' +
    "store's server is running, its address and the network to it. To start only when the store can answer, wait for limiter.ready().";

  test('is reported at the first failed decision, once, before it counts as failing', async () => {
    const { guard, events, onceEvents } = guarded(throws(down));
    await guard.spend([open]);
    expect(onceEvents).toEqual([{ type: 'warning', message: notYet, once: true }]);
    expect(events).toEqual([]);
    for (let i = 0; i < 10; i++) await guard.spend([open]);
    expect(onceEvents).toHaveLength(1);
    expect(events.map(({ type }) => type)).toEqual(['store-failing']);
  });

  test('is not reported again after the store has answered', async () => {
    const { guard, store, events, onceEvents } = guarded(throws(down));
    await guard.spend([open]);
    store.behaviour = answersAtOnce;
    await guard.spend([open]);
    store.behaviour = throws(down);
    await guard.spend([open]);
    await guard.spend([open]);
    expect([onceEvents.length, events.length]).toEqual([1, 0]);
  });

  test('is reported once for many decisions that miss their deadline together', async () => {
    const { guard, time, onceEvents } = guarded(hangs);
    const rulings = Array.from({ length: 1000 }, () => guard.spend([open]));
    await time.pass(50);
    await Promise.all(rulings);
    expect(onceEvents).toHaveLength(1);
  });
});

describe('a broken bucket', () => {
  const broken = new SluiceError('ERR_STORE_BUCKET', 'Orders:a holds a list');

  test('is reported at once and then once a minute with a count, however many requests there are', async () => {
    const { guard, time, events } = guarded(rejects(broken));
    for (let i = 0; i < 500; i++) await guard.spend([open]);
    await time.pass(60_000);
    for (let i = 0; i < 500; i++) await guard.spend([open]);
    expect(events).toMatchObject([
      { type: 'bucket-broken', count: 1, cause: broken },
      { type: 'bucket-broken', count: 500, cause: broken },
    ]);
    expect(events.map(({ message }) => message)).toEqual([
      "The store can't use a bucket (Orders:a holds a list). The onFailure policies made 1 decision " +
        'instead. If something else writes to the store under its key, stop that and reset the bucket.',
      "The store can't use a bucket (Orders:a holds a list). The onFailure policies made 500 decisions " +
        'instead. If something else writes to the store under its key, stop that and reset the bucket.',
    ]);
  });
});

describe('what is lost', () => {
  test('is reported at once, then once a minute as a sum, and the rest when the store has recovered', async () => {
    const { guard, store, time, events } = guarded(throws(down));
    for (let i = 0; i < 30; i++) {
      await guard.charge([open]);
      await guard.refund(store, [open, transaction()]);
    }
    store.behaviour = answersSoon;
    await time.pass(100);
    await guard.spend([open]);
    const counts = (type: string) => ofType(events, type).map((event) => (event as { count?: number }).count);
    expect(counts('charge-lost')).toEqual([1, 29]);
    expect(counts('refund-lost')).toEqual([2, 58]);
    expect(events.at(-1)?.type).toBe('store-recovered');
  });

  test('names the clients that have too many or too few tokens now', async () => {
    const { guard, store, events } = guarded(throws(down));
    await guard.charge([open]);
    await guard.refund(store, [open]);
    expect(events.map(({ message }) => message)).toEqual([
      '1 charge was lost because the store is failing (Error: connect ECONNREFUSED). These clients have more tokens ' +
        "left than they should. With onFailure: 'local', this process takes the charges during an outage.",
      '1 refund was lost because the store is failing (Error: connect ECONNREFUSED). These clients have fewer tokens ' +
        'left than they should until their buckets are full again. To fill one at once, call limiter.reset().',
    ]);
    const { guard: other, store: otherStore, events: sums } = guarded(throws(down));
    await other.charge([open, transaction({ limit: 'B', onFailure: 'closed' })]);
    await other.refund(otherStore, [open, transaction()]);
    expect(sums.map(({ message }) => message)).toEqual([
      expect.stringContaining('2 charges were lost'),
      expect.stringContaining('2 refunds were lost'),
    ]);
  });
});

describe('status', () => {
  /** A guard whose wall clock shows noon of 1 July 2026. */
  function guardedAtNoon(behaviour: Behaviour) {
    const setup = guarded(behaviour);
    setup.time.setWall(Date.parse('2026-07-01T12:00:00Z'));
    return setup;
  }

  test('is up from the start, without a failure', () => {
    const { guard, time } = guardedAtNoon(answersAtOnce);
    time.step(60_000);
    const since = new Date('2026-07-01T12:00:00Z');
    expect(guard.status()).toEqual({ state: 'up', since, outages: 0, decidedByPolicy: 0, lastFailure: undefined });
  });

  test('contains since when the store fails, the cause, and how often a policy decided', async () => {
    const { guard, store, time } = guardedAtNoon(throws(down));
    time.step(60_000);
    for (let i = 0; i < 7; i++) await guard.spend([open]);
    await guard.check([open]);
    await guard.charge([transaction()]);
    await guard.refund(store, [open]);
    time.step(60_000);
    const since = new Date('2026-07-01T12:01:00Z');
    const lastFailure = { cause: down, at: since };
    expect(guard.status()).toEqual({ state: 'failing', since, outages: 1, decidedByPolicy: 8, lastFailure });
  });

  test('contains since when the store is up again, and the last failure', async () => {
    const { guard, store, time } = guardedAtNoon(throws(down));
    for (let i = 0; i < 3; i++) await guard.spend([open]);
    store.behaviour = answersAtOnce;
    await time.pass(60_000);
    await guard.spend([open]);
    const since = new Date('2026-07-01T12:01:00Z');
    const lastFailure = { cause: down, at: new Date('2026-07-01T12:00:00Z') };
    expect(guard.status()).toEqual({ state: 'up', since, outages: 1, decidedByPolicy: 3, lastFailure });
  });

  test('follows a wall clock that was set meanwhile', async () => {
    const { guard, time } = guardedAtNoon(answersAtOnce);
    time.step(60_000);
    time.setWall(Date.parse('2026-07-01T13:00:00Z'));
    expect(guard.status().since).toEqual(new Date('2026-07-01T12:59:00Z'));
  });
});
