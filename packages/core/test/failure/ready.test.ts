import { createLimiter, memoryStore, SluiceError, type ReadyOptions } from '@sluice/core';
import { describe, expect, test } from 'vitest';
import { accountLimits } from '../support/limiter-on-fake-time.ts';
import { deferred, settled } from '../support/promises.ts';
import { breakDown, guarded, transaction } from './support/guarded.ts';
import { answersSoon, hangs, rejects, ScriptedStore, throws, type Behaviour } from './support/scripted-store.ts';

/** A guarded store with a `ready` that does what the test says. */
function readying(ready: (options?: ReadyOptions) => unknown, behaviour: Behaviour = answersSoon) {
  const setup = guarded(behaviour);
  return { ...setup, store: Object.assign(setup.store, { ready: ready as () => Promise<void> }) };
}

/** A wait that has not ended yet, and how it ended once it has. */
function watched(promise: Promise<void>) {
  const state: { outcome?: unknown } = {};
  promise.then(
    () => (state.outcome = 'ready'),
    (error: unknown) => (state.outcome = error),
  );
  return state;
}

describe('limiter.ready()', () => {
  test.each([
    ['the memory store', () => memoryStore()],
    ['a store that has no `ready`', () => new ScriptedStore(answersSoon)],
  ])('resolves at once on %s', async (_what, store) => {
    const limiter = createLimiter({ limits: accountLimits({ Orders: { count: 5, period: '1s' } }), store: store() });
    await expect(limiter.ready()).resolves.toBeUndefined();
    await expect(limiter.ready({ timeoutMs: 1 })).resolves.toBeUndefined();
    await limiter.close();
    await expect(limiter.ready()).rejects.toMatchObject({ code: 'ERR_CLOSED' });
  });

  test.each([
    [{ timeoutMs: 0 }, 'ERR_OPTION', '`ready.timeoutMs` must be a whole number from 1 to 3600000, but was 0.'],
    [{ timeoutMs: '5s' }, 'ERR_OPTION', "`ready.timeoutMs` must be a whole number from 1 to 3600000, but was '5s'."],
    [{ timeout: 5 }, 'ERR_UNKNOWN_OPTION', '`timeout`'],
  ])('with %j is wrong use on every store', async (options, code, message) => {
    for (const store of [memoryStore(), new ScriptedStore(answersSoon)]) {
      const limiter = createLimiter({ limits: accountLimits({ Orders: { count: 5, period: '1s' } }), store });
      const error = { code, message: expect.stringContaining(message) };
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await expect(limiter.ready(options as ReadyOptions)).rejects.toMatchObject(error);
    }
  });

  test('rejects a store whose `ready` is not a method', () => {
    const store = Object.assign(new ScriptedStore(answersSoon), { ready: true as unknown as () => void });
    const limits = accountLimits({ Orders: { count: 5, period: '1s' } });
    expect(() => createLimiter({ limits, store })).toThrow(/`store\.ready` must be a function, but was true/);
  });
});

describe('waiting for a store to be ready', () => {
  test('ends when the store is ready, and leaves nothing that keeps the process alive', async () => {
    const ready = deferred<void>();
    const asked: unknown[] = [];
    const { guard, time, store } = readying((options) => (asked.push(options), ready.promise));
    const wait = watched(guard.ready({ timeoutMs: 500 }));
    await time.pass(400);
    expect([wait, time.pending]).toEqual([{}, 1]);
    ready.resolve();
    await settled();
    expect([wait, time.pending]).toEqual([{ outcome: 'ready' }, 0]);
    expect(asked).toEqual([{ timeoutMs: 500 }]);
    expect(store.calls).toEqual([]);
  });

  test('has 10 seconds by default', async () => {
    const asked: unknown[] = [];
    const { guard } = readying((options) => void asked.push(options));
    await guard.ready();
    expect(asked).toEqual([{ timeoutMs: 10_000 }]);
  });

  test.each([
    ['rejects', rejects],
    ['throws', throws],
  ])('fails as the store does that %s', async (_how, fails) => {
    const ready = (error: unknown) => () => fails(error)([]);
    const coded = new SluiceError('ERR_STORE_UNAVAILABLE', 'Redis at localhost:6379 was not ready within 500 ms.');
    await expect(readying(ready(coded)).guard.ready()).rejects.toBe(coded);
    const cause = new Error('connect ECONNREFUSED');
    await expect(readying(ready(cause)).guard.ready()).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: 'The store did not become ready (Error: connect ECONNREFUSED).',
      cause,
    });
  });

  test('fails a moment after the timeout when the store does not end it by itself', async () => {
    const { guard, time } = readying(() => new Promise(() => {}));
    const wait = watched(guard.ready({ timeoutMs: 500 }));
    await time.pass(599);
    expect(wait).toEqual({});
    await time.pass(1);
    expect(wait.outcome).toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: 'The store did not become ready within 500 ms.',
    });
    expect(time.pending).toBe(0);
  });

  test('fails when the limiter is closed meanwhile, whatever the store does later', async () => {
    const ready = deferred<void>();
    const { guard, time } = readying(() => ready.promise);
    const waits = [watched(guard.ready()), watched(guard.ready({ timeoutMs: 1 }))];
    guard.close();
    await settled();
    expect(waits).toMatchObject([{ outcome: { code: 'ERR_CLOSED' } }, { outcome: { code: 'ERR_CLOSED' } }]);
    expect(time.pending).toBe(0);
    ready.reject(new Error('closed too'));
    await settled();
  });
});

describe('a store that is ready after calls that it could not answer', () => {
  test('decides all that follows: the outage is over', async () => {
    const setup = readying(() => undefined, hangs);
    await breakDown(setup);
    setup.store.behaviour = answersSoon;
    await setup.guard.ready();
    expect(setup.guard.status().state).toBe('up');
    const rulings = await Promise.all(Array.from({ length: 5 }, () => setup.guard.spend([transaction()])));
    expect(rulings.map(({ failure }) => failure)).toEqual(Array(5).fill(undefined));
  });

  test('is an error that names the cause when it can still not answer', async () => {
    const setup = readying(() => undefined, hangs);
    await breakDown(setup);
    const cause = new Error('OOM');
    setup.store.behaviour = rejects(cause);
    await expect(setup.guard.ready()).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: 'The store is connected, but failed to answer (Error: OOM).',
      cause,
    });
    expect(setup.guard.status().state).toBe('failing');
  });
});
