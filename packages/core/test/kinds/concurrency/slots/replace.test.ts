import { describe, expect, test } from 'vitest';
import { fill, holding, holdingRemotely, limitsOf, slot } from './support/holding.ts';

const IN_FLIGHT = { InFlight: { concurrency: 4 } };

function started() {
  const made = holding(IN_FLIGHT);
  return { ...made, replace: (numbers: object) => made.limiter.replace({ limits: limitsOf(numbers as never) }) };
}

describe('while slots are held, a limit that is', () => {
  test('raised lets more in at once', async () => {
    const { hold, replace } = started();
    await fill(() => hold(slot()));
    replace({ InFlight: { concurrency: 6 } });
    expect(await fill(() => hold(slot()))).toHaveLength(2);
  });

  test('lowered lets nobody in until fewer are held, and takes no slot away', async () => {
    const { hold, replace, inStore, time } = started();
    const all = await fill(() => hold(slot()));
    replace({ InFlight: { concurrency: 2 } });
    time.advance(60_000);
    for (const left of [4, 3, 2]) {
      expect(inStore()).toBe(left);
      expect(hold(slot())).toMatchObject({ outcome: 'denied', remaining: 0 });
      await all.pop()!.release();
    }
    expect(await fill(() => hold(slot()))).toHaveLength(1);
  });

  test('removed is still renewed and released', async () => {
    const { hold, replace, inStore, time } = started();
    const all = await fill(() => hold(slot()));
    replace({});
    time.advance(60_000);
    expect(inStore()).toBe(4);
    for (const held of all) await held.release();
    expect(inStore()).toBe(0);
  });

  test('now of another kind is still released, and its tokens are counted apart', async () => {
    const { hold, replace, inStore } = started();
    const all = await fill(() => hold(slot()));
    replace({ InFlight: { count: 1, period: '1h' } });
    expect([hold(slot()).allowed, hold(slot()).allowed]).toEqual([true, false]);
    for (const held of all) await held.release();
    expect(inStore()).toBe(0);
    replace({ InFlight: { concurrency: 2 } });
    expect(await fill(() => hold(slot()))).toHaveLength(2);
  });

  test('now counted by this process alone counts them, and then those of the process', async () => {
    const { hold, replace, inStore } = started();
    const all = await fill(() => hold(slot()));
    replace({ InFlight: { concurrency: 4, scope: 'process' } });
    expect(hold(slot()).allowed).toBe(false);
    for (const held of all) await held.release();
    expect(inStore()).toBe(0);
    expect(await fill(() => hold(slot()))).toHaveLength(4);
    expect(inStore()).toBe(0);
  });
});

test('idle slots of a limit that has no reserve any more are used up, and then given back', async () => {
  const { hold, limiter, store, inStore, time } = holdingRemotely({ InFlight: { concurrency: 4, reserve: 4 } });
  await (await hold(slot())).release();
  store.named();
  limiter.replace({ limits: limitsOf(IN_FLIGHT) });
  const held = await hold(slot());
  expect(store.named()).toEqual([]);
  await time.pass(3000);
  expect(inStore()).toBe(1);
  await held.release();
  await time.pass(2000);
  expect(inStore()).toBe(0);
});

test('idle slots within a lowered limit are used', async () => {
  const { hold, limiter, store } = holdingRemotely({ InFlight: { concurrency: 10, reserve: 4 } });
  const large = await hold(slot({ cost: 4 }));
  await hold(slot());
  await large.release();
  limiter.replace({ limits: limitsOf({ InFlight: { concurrency: 4, reserve: 4 } }) });
  store.named();
  expect(await hold(slot())).toMatchObject({ allowed: true, remaining: 0 });
  expect(store.named()).toEqual([]);
});

test('idle slots above a lowered limit are not used', async () => {
  const { hold, limiter } = holdingRemotely({ InFlight: { concurrency: 4, reserve: 4 } });
  await (await hold(slot())).release();
  limiter.replace({ limits: limitsOf({ InFlight: { concurrency: 2, reserve: 2 } }) });
  expect(await fill(() => hold(slot()))).toHaveLength(2);
});
