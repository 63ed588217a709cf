import { expect, test, vi } from 'vitest';
import { rejected } from '../../../support/thrown.ts';
import { fill, holding, holdingRemotely, slot } from './support/holding.ts';

const LIMITS = {
  InFlight: { concurrency: 4 },
  Other: { concurrency: 8 },
  Here: { concurrency: 1, scope: 'process' },
};

test('`close` releases all slots in one call, and leaves no timer', async () => {
  const { hold, limiter, store, time, inStore } = holdingRemotely(LIMITS);
  await hold(slot({ cost: 2 }), slot({ limit: 'Other' }), slot({ limit: 'Here' }));
  store.named();
  await limiter.close();
  expect([inStore(), inStore('Other')]).toEqual([0, 0]);
  expect(store.named()).toEqual(['release']);
  const alarm = vi.spyOn(time, 'alarm');
  await time.pass(60_000);
  expect(alarm).not.toHaveBeenCalled();
  expect(store.named()).toEqual([]);
});

test('`close` waits until the store has released them', async () => {
  const { hold, limiter, store, inStore } = holdingRemotely(LIMITS);
  await hold(slot());
  store.manner = 'slow';
  let isClosed = false;
  const closed = Promise.resolve(limiter.close()).then(() => (isClosed = true));
  await Promise.resolve();
  expect(isClosed).toBe(false);
  await store.answerSlow();
  await closed;
  expect(inStore()).toBe(0);
});

test('a release after `close` does nothing, on every store', async () => {
  for (const { hold, limiter, store, inStore } of [holdingRemotely(LIMITS), holding(LIMITS)]) {
    const all = [await hold(slot()), await hold(slot({ limit: 'Other' })), await hold(slot({ limit: 'Here' }))];
    await limiter.close();
    for (const held of all) await held.release();
    expect([inStore(), inStore('Other')]).toEqual([0, 0]);
    expect('named' in store ? store.named().filter((name) => name === 'release') : ['release']).toHaveLength(1);
  }
});

test('a hold that is pending while the limiter is closed has no slot afterwards, and leaves no timer', async () => {
  const { hold, limiter, store, time, inStore } = holdingRemotely(LIMITS);
  const first = await hold(slot());
  store.manner = 'slow';
  const alarm = vi.spyOn(time, 'alarm');
  const pending = [hold(slot(), slot({ limit: 'Here' })), hold(slot({ limit: 'Other' }))];
  // The release of the first one keeps the limiter open.
  const closed = limiter.close();
  await store.answerSlow();
  for (const held of pending) expect((await held).allowed).toBe(true);
  await store.answerSlow();
  await closed;
  await store.answerSlow();
  expect([inStore(), inStore('Other')]).toEqual([0, 0]);
  for (const held of [first, ...(await Promise.all(pending))]) await held.release();
  alarm.mockClear();
  await time.pass(60_000);
  expect(alarm).not.toHaveBeenCalled();
});

test('a hold that the closed limiter answers by its policy leaves what the store takes late to expire', async () => {
  const { hold, limiter, store, time, inStore } = holdingRemotely(LIMITS);
  store.manner = 'slow';
  const pending = hold(slot());
  await limiter.close();
  expect(await pending).toMatchObject({ allowed: true, failure: { policy: 'local' } });
  await store.answerSlow();
  await (await pending).release();
  expect(inStore()).toBe(1);
  await time.pass(10_000);
  expect(inStore()).toBe(0);
});

test('after `close` nothing can be held, not even in this process', async () => {
  const { limiter } = holdingRemotely(LIMITS);
  await limiter.close();
  for (const limit of ['InFlight', 'Here']) {
    expect(await rejected(() => limiter.spend([slot({ limit })], { hold: true }))).toMatchObject({
      code: 'ERR_CLOSED',
    });
  }
});

test('a hold whose override is known only after `close` is not decided', async () => {
  let answer!: (numbers: undefined) => void;
  const overrides = () => new Promise<undefined>((resolve) => (answer = resolve));
  const { limiter } = holdingRemotely(LIMITS, { overrides });
  const pending = limiter.spend([slot({ limit: 'Here' })], { hold: true });
  await limiter.close();
  answer(undefined);
  expect(await rejected(() => pending)).toMatchObject({ code: 'ERR_CLOSED' });
});

test('another limiter on the same store keeps its slots', async () => {
  const one = holdingRemotely(LIMITS);
  const other = holdingRemotely({ Others: { concurrency: 3 } }, {}, { time: one.time, store: one.store });
  await fill(() => other.hold(slot({ limit: 'Others' })));
  await one.hold(slot());
  await one.limiter.close();
  await one.time.pass(60_000);
  expect([other.inStore('Others'), one.inStore()]).toEqual([3, 0]);
});
