import { describe, expect, test } from 'vitest';
import { fill, holding, limitsOf, slot } from './support/holding.ts';

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
