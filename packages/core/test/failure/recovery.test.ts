import { describe, expect, test } from 'vitest';
import { deferred } from '../support/promises.ts';
import { breakDown, decided, guarded, passed, transaction } from './support/guarded.ts';
import { answersAtOnce, answersSoon, hangs, reading, rejects, remembers, throws } from './support/scripted-store.ts';

const down = new Error('connect ECONNREFUSED');

describe('recovery', () => {
  test('one live decision every 100 ms tries the store; the others are answered at once', async () => {
    const { guard, store, time } = guarded(throws(down));
    for (let i = 0; i < 3; i++) void guard.spend([transaction()]);
    store.calls.length = 0;
    for (let ms = 0; ms < 1000; ms += 10) {
      await time.pass(10);
      void guard.spend([transaction()]);
      void guard.check([transaction()]);
    }
    expect(store.calls).toHaveLength(10);
  });

  test('the first answer gives all decisions back to the store', async () => {
    const setup = guarded(hangs);
    await breakDown(setup);
    setup.store.behaviour = answersSoon;
    await setup.time.pass(99);
    expect(await setup.guard.spend([transaction()])).toMatchObject({ failure: { policy: 'local' } });
    await setup.time.pass(1);
    for (let i = 0; i < 5; i++) expect((await setup.guard.spend([transaction()])).failure).toBeUndefined();
  });

  test.each(['charge', 'refund', 'reset'] as const)('a %s tries the store as well', async (name) => {
    const setup = guarded(hangs);
    await breakDown(setup);
    setup.store.behaviour = answersAtOnce;
    await setup.time.pass(100);
    const { guard, store } = setup;
    await (name === 'refund' ? guard.refund(store, [transaction()]) : guard[name]([transaction()]));
    expect(guard.status().state).toBe('up');
  });

  test('an answer from memory decides, but does not end the outage', async () => {
    const setup = guarded(hangs);
    await breakDown(setup);
    const { guard, store, time, events } = setup;
    store.behaviour = remembers;
    await time.pass(100);
    expect(await guard.spend([transaction()])).toMatchObject({ origin: { store }, failure: undefined });
    expect(guard.status().state).toBe('failing');
    expect(events.map(({ type }) => type)).toEqual(['store-failing']);
  });

  test('an answer from memory does not use up the try of its 100 ms', async () => {
    const setup = guarded(hangs);
    await breakDown(setup);
    const { guard, store, time } = setup;
    store.behaviour = remembers;
    await time.pass(100);
    await guard.spend([transaction()]);
    store.behaviour = answersSoon;
    await guard.spend([transaction()]);
    expect(guard.status().state).toBe('up');
  });

  test('an answer from memory does not part failures in a row', async () => {
    const { guard, store } = guarded(throws(down));
    for (let i = 0; i < 3; i++) {
      store.behaviour = remembers;
      await guard.spend([transaction()]);
      store.behaviour = throws(down);
      await guard.spend([transaction()]);
    }
    expect(guard.status().state).toBe('failing');
  });

  test('what missed its deadline in the outage does not bring it back after the end', async () => {
    const { guard, store, time } = guarded(hangs, { deadlineMs: 1000 });
    const old = Array.from({ length: 5 }, () => guard.spend([transaction()]));
    await time.pass(500);
    store.behaviour = rejects(down);
    for (let i = 0; i < 3; i++) await guard.spend([transaction()]);
    expect(guard.status().state).toBe('failing');
    const last = deferred<unknown>();
    await time.pass(499);
    store.behaviour = () => last.promise;
    // The first probe comes a deadline after the outage began.
    time.step(600);
    const probe = guard.spend([transaction()]);
    last.resolve(reading([1]));
    await probe;
    expect(guard.status().state).toBe('up');
    await time.pass(1000);
    await Promise.all(old);
    expect(guard.status()).toMatchObject({ state: 'up', outages: 1 });
  });

  test('a store that fails repeatedly does not grant a whole local burst at each outage', async () => {
    const { guard, store, time } = guarded(hangs);
    let admitted = 0;
    for (let outage = 0; outage < 5; outage++) {
      store.behaviour = throws(down);
      for (let i = 0; i < 30; i++) if (passed(await guard.spend([transaction()]))) admitted++;
      store.behaviour = answersAtOnce;
      await time.pass(100);
      void guard.spend([transaction({ id: 'b' })]);
      expect(guard.status()).toMatchObject({ state: 'up', outages: outage + 1 });
      await time.pass(50);
    }
    // A burst of 10 once, and what came back in the 0.6 s since: less than one token.
    expect(admitted).toBe(10);
  });

  test('after recovery, local buckets are not used', async () => {
    const setup = guarded(hangs);
    await breakDown(setup);
    for (let i = 0; i < 11; i++) void setup.guard.spend([transaction()]);
    expect(passed(await setup.guard.spend([transaction()]))).toBe(false);
    setup.store.behaviour = answersAtOnce;
    await setup.time.pass(100);
    const batchAnswer = decided(await setup.guard.spend([transaction()]));
    expect([passed(batchAnswer), batchAnswer.origin.store]).toEqual([true, setup.store]);
  });
});
