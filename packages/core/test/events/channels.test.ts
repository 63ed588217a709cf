import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createLimiter, memoryStore, type DecisionMessage, type Store, type StoreMessage } from '@sluice/core';
import { storeGuard } from '@sluice/core/store';
import { FakeTime } from '@sluice/core/testing';
import { afterEach, expect, test } from 'vitest';
import { guarded, transaction } from '../failure/support/guarded.ts';
import { answersSoon, rejects } from '../failure/support/scripted-store.ts';
import { accountLimits, limiterOnFakeTime } from '../support/limiter-on-fake-time.ts';

const numbers = { Orders: { count: 1, period: '1m' } };
const orders = [{ limit: 'Orders', id: '7' }];
const ends: (() => void)[] = [];

afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** The messages of a channel from now on. */
function messagesOf<Message>(name: string): Message[] {
  const messages: Message[] = [];
  const listener = (message: unknown): unknown => messages.push(message as Message);
  subscribe(name, listener);
  ends.push(() => unsubscribe(name, listener));
  return messages;
}

test('sluice:decision receives each decision of spend with its limiter, and no decision of check', () => {
  const messages = messagesOf<DecisionMessage>('sluice:decision');
  const { limiter } = limiterOnFakeTime(numbers);
  const decisions = [limiter.spendSync(orders), limiter.spendSync(orders)];
  limiter.checkSync(orders);
  expect(messages.map(({ decision }) => decision.outcome)).toEqual(['allowed', 'denied']);
  expect(messages).toEqual(decisions.map((decision) => ({ limiter, decision, shadow: false })));
});

test('sluice:decision reports how long the store took', async () => {
  const messages = messagesOf<DecisionMessage>('sluice:decision');
  const time = new FakeTime();
  const store: Store = memoryStore({ time });
  const slow: Store = Object.assign(Object.create(store) as Store, {
    guard: storeGuard,
    traits: {},
    run: async (...args: Parameters<Store['run']>) => {
      time.advance(12);
      return store.run(...args);
    },
  });
  const limiter = createLimiter({ limits: accountLimits(numbers), store: slow, time, log: false });
  await limiter.spend(orders);
  expect(messages).toMatchObject([{ durationMs: 12 }]);
});

test('sluice:decision leaves out the duration of a decision that began before anyone subscribed', async () => {
  const { limiter } = limiterOnFakeTime(numbers, { overrides: () => Promise.resolve(undefined) });
  const { limiter: other } = limiterOnFakeTime(numbers);
  const decision = limiter.spend(orders);
  const messages = messagesOf<DecisionMessage>('sluice:decision');
  await decision;
  expect(messages).toEqual([]);
  other.spendSync(orders);
  expect(messages).toHaveLength(1);
});

test('a listener that throws changes no decision and no tokens', async () => {
  const uncaught: unknown[] = [];
  process.setUncaughtExceptionCaptureCallback((error) => uncaught.push(error));
  ends.push(() => process.setUncaughtExceptionCaptureCallback(null));
  const error = new Error('of a listener');
  for (const name of ['sluice:decision', 'sluice:correction']) {
    const listener = (): never => {
      throw error;
    };
    subscribe(name, listener);
    ends.push(() => unsubscribe(name, listener));
  }
  const { limiter } = limiterOnFakeTime(numbers);
  const decisions = [limiter.spendSync(orders), limiter.spendSync(orders)];
  expect(decisions.map(({ outcome }) => outcome)).toEqual(['allowed', 'denied']);
  await limiter.refund(decisions[0]!);
  expect(limiter.checkSync(orders).remaining).toBe(1);
  await new Promise(setImmediate);
  expect(uncaught).toEqual([error, error, error]);
});

test('sluice:store gets the beginning and the end of an outage', async () => {
  const messages = messagesOf<StoreMessage>('sluice:store');
  const cause = new Error('gone');
  const { guard, store, time } = guarded(rejects(cause));
  for (let request = 0; request < 3; request++) await guard.spend([transaction()]);
  expect(messages).toEqual([{ store, state: 'failing', cause }]);
  store.behaviour = answersSoon;
  await time.pass(200);
  await guard.spend([transaction()]);
  expect(messages).toEqual([
    { store, state: 'failing', cause },
    { store, state: 'up', outageMs: 200 },
  ]);
});
