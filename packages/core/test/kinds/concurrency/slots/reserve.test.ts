import { describe, expect, test } from 'vitest';
import { memoryStore, type HeldDecision, type SpendEntry } from '@sluice/core';
import { callsOf, FakeTime } from '@sluice/core/testing';
import { fill, holdingRemotely, slot } from './support/holding.ts';
import { RemoteStore } from './support/remote-store.ts';

const BLOCKS = { InFlight: { concurrency: 10, reserve: 4 } };

/** Holds a slot and releases it, every half second. */
async function busy(hold: (entry: SpendEntry) => Promise<HeldDecision>, time: FakeTime, ms: number): Promise<string[]> {
  const outcomes: string[] = [];
  for (let passed = 0; passed < ms; passed += 500) {
    const held = await hold(slot());
    await time.pass(250);
    await held.release();
    await time.pass(250);
    outcomes.push(held.outcome);
  }
  return outcomes;
}

async function releaseAll(all: readonly HeldDecision[]): Promise<void> {
  for (const held of all) await held.release();
}

test('the slots of a reserve serve the next requests, also those that are released, without a call of the store', async () => {
  const { hold, store, inStore } = holdingRemotely(BLOCKS);
  await releaseAll([await hold(slot())]);
  expect(store.named()).toEqual(['spend']);
  for (let i = 0; i < 100; i++) await releaseAll([await hold(slot()), await hold(slot({ cost: 3 }))]);
  expect(store.named()).toEqual([]);
  expect(inStore()).toBe(4);
});

/** A clock that moves by half a millisecond at each reading. */
class MovingTime extends FakeTime {
  moves = false;

  override nowMicros(): number {
    if (this.moves) this.set(this.nowMs + 0.5);
    return super.nowMicros();
  }
}

test('a request that idle slots let through uses them, also if they expire while it is decided', async () => {
  const released: boolean[] = [];
  for (let readings = 1; readings <= 6; readings++) {
    const time = new MovingTime(1000);
    const { hold, store } = holdingRemotely({ InFlight: { concurrency: 10, reserve: 2, expiry: '1s' } }, {}, { time });
    await releaseAll([await hold(slot())]);
    store.named();
    time.set(2000 - 0.5 * readings - 0.25);
    time.moves = true;
    const held = await hold(slot());
    time.moves = false;
    expect(held.allowed).toBe(true);
    if (store.named().includes('spend')) continue;
    // Too old to become idle again.
    time.set(2001);
    await held.release();
    released.push(store.named().includes('release'));
  }
  expect(new Set(released)).toEqual(new Set([true]));
});

test('a decision by idle slots has the level that the store has reported last', async () => {
  const { hold, limiter } = holdingRemotely(BLOCKS);
  const first = await hold(slot({ cost: 2 }));
  expect(first.remaining).toBe(8);
  expect(await limiter.check([slot({ cost: 2 })])).toMatchObject({ allowed: true, remaining: 10 });
  expect(await hold(slot({ cost: 2 }))).toMatchObject({ allowed: true, remaining: 8 });
});

test('never are more slots taken in the store than the limit has, and all of them can be used', async () => {
  const time = new FakeTime(1000);
  const memory = memoryStore({ time });
  const gateways = Array.from({ length: 3 }, () =>
    holdingRemotely(BLOCKS, {}, { time, store: new RemoteStore(time, memory) }),
  );
  const [one, two, three] = gateways as [(typeof gateways)[0], (typeof gateways)[0], (typeof gateways)[0]];
  await one.hold(slot());
  await two.hold(slot());
  expect(one.inStore()).toBe(8);
  const all = await fill(() => three.hold(slot()));
  expect(all).toHaveLength(2);
  expect(one.inStore()).toBe(10);
  expect(await fill(() => one.hold(slot()))).toHaveLength(3);
  expect(await fill(() => two.hold(slot()))).toHaveLength(3);
  expect(one.inStore()).toBe(10);
});

test('of requests that come at once, the first takes a reserve, and the others take what they need', async () => {
  const { hold, store, inStore } = holdingRemotely({ InFlight: { concurrency: 100, reserve: 20 } });
  store.manner = 'slow';
  const pending = Array.from({ length: 30 }, () => hold(slot()));
  await store.answerSlow();
  expect((await Promise.all(pending)).every(({ allowed }) => allowed)).toBe(true);
  expect(inStore()).toBe(20 + 29);
});

test('at most a reserve of slots is idle: more are released, those of one decision in one call', async () => {
  const { hold, store, inStore } = holdingRemotely(BLOCKS);
  const all = [await hold(slot({ cost: 3 })), await hold(slot({ cost: 3 })), await hold(slot({ cost: 2 }))];
  const before = inStore();
  expect(before).toBeGreaterThanOrEqual(8);
  store.named();
  await releaseAll(all);
  expect(inStore()).toBe(4);
  expect(store.named().every((name) => name === 'release')).toBe(true);
  await releaseAll([await hold(slot({ cost: 10 - 4 }))]);
  expect(store.named()).toEqual(['spend', 'release']);
  expect(inStore()).toBe(4);
});

test('idle slots are given back between one and two seconds after their last use, in one call for all buckets', async () => {
  const { hold, store, time, inStore } = holdingRemotely({ ...BLOCKS, Other: { concurrency: 5, reserve: 2 } });
  await releaseAll([await hold(slot(), slot({ limit: 'Other' }))]);
  store.named();
  await time.pass(999);
  expect([inStore(), inStore('Other')]).toEqual([4, 2]);
  // Used again: one of them stays for another second.
  await releaseAll([await hold(slot())]);
  await time.pass(1);
  expect([inStore(), inStore('Other')]).toEqual([1, 0]);
  expect(store.named()).toEqual(['release']);
  await time.pass(1000);
  expect(inStore()).toBe(0);
  expect(store.named()).toEqual(['release']);
  expect(time.pending).toBe(0);
});

test('a slot in use is kept and renewed, however long, while the idle ones of its reserve are given back', async () => {
  const { hold, time, inStore } = holdingRemotely(BLOCKS);
  const held = await hold(slot());
  await time.pass(60_000);
  expect(inStore()).toBe(1);
  await held.release();
  await time.pass(2000);
  expect(inStore()).toBe(0);
});

test('a denied batch returns the idle slots that it was to use', async () => {
  const { hold, store, inStore } = holdingRemotely({ ...BLOCKS, Rate: { count: 1, period: '1h' } });
  await hold(slot(), slot({ limit: 'Rate' }));
  for (let i = 0; i < 5; i++) expect((await hold(slot(), slot({ limit: 'Rate' }))).limit).toBe('Rate');
  store.named();
  expect(
    await fill(async () => (store.calls.length > 0 ? ({ allowed: false } as HeldDecision) : hold(slot()))),
  ).toHaveLength(4);
  // Three were idle; the fourth took the next reserve.
  expect(store.named()).toEqual(['spend']);
  expect(inStore()).toBe(8);
});

test('a request that needs more slots than are idle asks the store for all of them, and the idle ones stay', async () => {
  const { hold, store, inStore } = holdingRemotely(BLOCKS);
  await hold(slot());
  store.named();
  const large = await hold(slot({ cost: 5 }));
  expect(large.allowed).toBe(true);
  // No reserve is smaller than what the request needs.
  expect(store.calls.splice(0)).toMatchObject([
    { name: 'spend', batch: [{ incrementTicks: 5, holding: { upTo: 5 } }] },
  ]);
  expect(inStore()).toBe(9);
  await hold(slot({ cost: 3 }));
  expect(store.named()).toEqual([]);
});

test('a request of cost 0 asks the store, and takes no reserve', async () => {
  const { hold, inStore } = holdingRemotely(BLOCKS);
  await hold(slot({ cost: 0 }));
  expect(inStore()).toBe(0);
});

test('`check-only` is answered by idle slots, and takes none of them', async () => {
  const { hold, store } = holdingRemotely(BLOCKS);
  await hold(slot());
  store.named();
  for (let i = 0; i < 5; i++) expect((await hold(slot({ mode: 'check-only', cost: 3 }))).allowed).toBe(true);
  expect(await hold(slot({ mode: 'spend-only', cost: 3 }))).toMatchObject({ results: [{ spent: 3 }] });
  expect(store.named()).toEqual([]);
});

describe('with shares', () => {
  const large = () => slot();
  const small = () => slot({ share: 0.8 });

  test('a reserve never exceeds the share of the request that takes it', async () => {
    const { hold, inStore } = holdingRemotely({ InFlight: { concurrency: 10, reserve: 10 } });
    await hold(small());
    expect(inStore()).toBe(8);
    expect(await fill(() => hold(small()))).toHaveLength(7);
  });

  test('requests with a small share never use slots above it, even idle ones that others have taken', async () => {
    const { hold, inStore } = holdingRemotely({ InFlight: { concurrency: 10, reserve: 10 } });
    await releaseAll([await hold(large())]);
    expect(inStore()).toBe(10);
    expect(await fill(() => hold(small()))).toHaveLength(8);
    expect(await fill(() => hold(large()))).toHaveLength(2);
  });

  test('slots that were taken above it stay for others, and those below it serve it', async () => {
    const { hold, store } = holdingRemotely({ InFlight: { concurrency: 10, reserve: 5 } });
    await hold(slot({ cost: 5 }));
    const upper = [await hold(large())];
    expect(store.named()).toEqual(['spend', 'spend']);
    // The sixth to the tenth slot are taken, and four are idle: two of them are within eight.
    expect(await fill(() => hold(small()))).toHaveLength(2);
    expect(await fill(() => hold(large()))).toHaveLength(2);
    await releaseAll(upper);
    expect((await hold(small())).allowed).toBe(true);
  });

  test('slots that were taken within a share serve others, too', async () => {
    const { hold, store } = holdingRemotely({ InFlight: { concurrency: 10, reserve: 5 } });
    await releaseAll([await hold(small())]);
    store.named();
    await hold(slot({ cost: 5 }));
    expect(store.named()).toEqual([]);
  });
});

describe('when idle slots may have expired', () => {
  test('because the process stood still, the store is asked', async () => {
    const { hold, store, time } = holdingRemotely(BLOCKS);
    await releaseAll([await hold(slot())]);
    store.named();
    time.set(time.nowMs + 9999);
    await releaseAll([await hold(slot())]);
    expect(store.named()).toEqual([]);
    time.set(time.nowMs + 1);
    await hold(slot());
    expect(store.named()).toContain('spend');
  });

  test('because the store does not answer, a closed limit does not live on by them', async () => {
    const { hold, store, time } = holdingRemotely(BLOCKS, { failure: { onFailure: 'closed' } });
    await busy(hold, time, 5000);
    store.manner = new Error('down');
    const outcomes = await busy(hold, time, 20_000);
    // They were taken five seconds before the outage.
    expect(outcomes.slice(0, 10).every((outcome) => outcome === 'allowed')).toBe(true);
    expect(outcomes.slice(10).every((outcome) => outcome === 'unavailable')).toBe(true);
  });

  test('because the store may have lost them, it is asked again after one expiry, however often they were used', async () => {
    const time = new FakeTime(1000);
    const memory = memoryStore({ time });
    const limits = { InFlight: { concurrency: 4, reserve: 4 } };
    const one = holdingRemotely(limits, {}, { time, store: new RemoteStore(time, memory) });
    const two = holdingRemotely(limits, {}, { time, store: new RemoteStore(time, memory) });
    await busy(one.hold, time, 1000);
    callsOf(memory).reset([{ limit: 'InFlight', id: 'a', slots: true }]);
    expect(await fill(() => two.hold(slot()))).toHaveLength(4);
    const outcomes = await busy(one.hold, time, 20_000);
    expect(outcomes.slice(0, 18).every((outcome) => outcome === 'allowed')).toBe(true);
    expect(outcomes.slice(18).every((outcome) => outcome === 'denied')).toBe(true);
  });

  test('slots that a late renewal has brought back are released, and not used again', async () => {
    const { hold, store, time, inStore } = holdingRemotely(BLOCKS);
    const held = await hold(slot());
    time.set(time.nowMs + 20_000);
    await time.pass(2000);
    expect(inStore()).toBe(1);
    store.named();
    await held.release();
    expect(inStore()).toBe(0);
    expect(store.named()).toEqual(['release']);
  });
});
