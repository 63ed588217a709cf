import { describe, expect, test } from 'vitest';
import { checkFailureOptions } from '../../src/limits/failure-options.ts';
import { StoreGuard } from '../../src/failure/store-guard.ts';
import { DECISION_MAKER } from '../../src/decision/decide.ts';
import { StoreCalls } from '../../src/store/store-calls.ts';
import { systemTime } from '../../src/time/system-time.ts';
import { breakDown, guarded, transaction } from './support/guarded.ts';
import { answersSoon, hangs, remembers, ScriptedStore, throws } from './support/scripted-store.ts';

const down = new Error('connect ECONNREFUSED');

type Guarded = ReturnType<typeof guarded>;

/** The calls of a limiter, each with its own way to be answered without the store. */
const calls = {
  spend: ({ guard }: Guarded) => guard.spend([transaction()]),
  check: ({ guard }: Guarded) => guard.check([transaction()]),
  charge: ({ guard }: Guarded) => guard.charge([transaction()]),
  refund: ({ guard, store }: Guarded) => guard.refund(store, [transaction()]),
};

/** A guard that leaves its store alone, and has just given an answer by policy. */
async function brokenDown(): Promise<Guarded> {
  const setup = guarded(hangs);
  await breakDown(setup);
  return setup;
}

/** Lets so much time pass without the event loop, as a caller does that never leaves the microtask queue. */
function spin({ time }: Guarded, call: () => unknown, ms: number): unknown[] {
  return Array.from({ length: ms }, () => {
    time.step(1);
    return call();
  });
}

describe.each(Object.entries(calls))('policy answers to %s', (_name, call) => {
  test('are returned at once for 10 ms, and then wait until the event loop has run', async () => {
    const setup = await brokenDown();
    const answers = spin(setup, () => call(setup), 11);
    const waits = answers.map((answer) => answer instanceof Promise);
    expect([waits.indexOf(true), waits.lastIndexOf(false)]).toEqual([9, 8]);
    const order: number[] = [];
    for (const [i, answer] of answers.entries()) void Promise.resolve(answer).then(() => order.push(i));
    await setup.time.pass(0);
    expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(call(setup)).not.toBeInstanceOf(Promise);
  });

  test('are all returned at once where the event loop runs by itself', async () => {
    const setup = await brokenDown();
    for (let turn = 0; turn < 10; turn++) {
      const answers = spin(setup, () => call(setup), 9);
      expect(answers.some((answer) => answer instanceof Promise)).toBe(false);
      await setup.time.pass(0);
    }
  });
});

test('policy answers that wait for the event loop are returned in order, all after one turn', async () => {
  const setup = await brokenDown();
  const order: string[] = [];
  const spend = (name: string): void => {
    const answer = setup.guard.spend([transaction()]);
    expect(answer).toBeInstanceOf(Promise);
    void Promise.resolve(answer).then(() => order.push(name));
  };
  spin(setup, () => setup.guard.spend([transaction()]), 10);
  setup.time.step(1);
  for (const name of ['first', 'second', 'third']) spend(name);
  await setup.time.pass(0);
  expect(order).toEqual(['first', 'second', 'third']);
});

test('a reset that can be made nowhere waits as well, and rejects nowhere else than where it was called', async () => {
  const setup = await brokenDown();
  const resets = spin(setup, () => setup.guard.reset([transaction()]), 12) as Promise<void>[];
  const settled = Promise.allSettled(resets);
  await setup.time.pass(0);
  expect(new Set((await settled).map(({ status }) => status))).toEqual(new Set(['rejected']));
});

test('what a store remembers waits as well', async () => {
  const setup = guarded(remembers);
  const answered: number[] = [];
  for (let i = 0; i < 12; i++) {
    setup.time.step(1);
    void Promise.resolve(setup.guard.spend([transaction()])).then(() => answered.push(i));
    // The microtasks that such an answer takes, and no turn of the event loop.
    // oxlint-disable-next-line no-await-in-loop
    for (let ticks = 0; ticks < 10; ticks++) await undefined;
  }
  expect(answered).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  await setup.time.pass(0);
  expect(answered).toHaveLength(12);
});

test('what waits for the event loop when the limiter is closed is answered', async () => {
  const setup = await brokenDown();
  const answers = spin(setup, () => setup.guard.spend([transaction()]), 12);
  setup.guard.close();
  await setup.time.pass(0);
  expect(await Promise.all(answers)).toHaveLength(12);
});

test('policy answers for a store that answers at once are values, however many there are', () => {
  const setup = guarded(throws(down));
  const answers = spin(setup, () => setup.guard.spend([transaction()]), 100);
  expect(answers.some((answer) => answer instanceof Promise)).toBe(false);
  expect(setup.time.pending).toBe(0);
});

describe('a loop of awaited calls that begins before its store is connected', () => {
  /** On the real event loop, which is what is tested: a store that is connected by a timer, and rejects before. */
  function connectingGuard() {
    const store = new ScriptedStore(() => Promise.reject(down));
    systemTime.alarm(20, () => (store.behaviour = answersSoon));
    return new StoreGuard({
      store,
      failure: checkFailureOptions({ deadlineMs: 10 }),
      emit: () => {},
      calls: new StoreCalls(systemTime, false),
      makes: DECISION_MAKER,
    });
  }

  const WITHIN_MS = 20_000;

  test('gets to the store by itself', async () => {
    const guard = connectingGuard();
    const endMs = performance.now() + WITHIN_MS;
    // oxlint-disable-next-line no-await-in-loop -- this is what is tested
    while ((await guard.decide('spend', [transaction()])).failure !== undefined)
      expect(performance.now()).toBeLessThan(endMs);
    expect(guard.status().state).toBe('up');
  });

  test('gets to the store by itself when it resets', async () => {
    const guard = connectingGuard();
    const endMs = performance.now() + WITHIN_MS;
    const isReset = () =>
      Promise.resolve(guard.run({ kind: 'reset', batch: [transaction()] })).then(
        () => true,
        () => false,
      );
    // oxlint-disable-next-line no-await-in-loop -- this is what is tested
    while (!(await isReset())) expect(performance.now()).toBeLessThan(endMs);
    expect(guard.status().state).toBe('up');
  });
});
