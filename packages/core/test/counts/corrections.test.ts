import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { CorrectionMessage } from '@sluice/core/metrics';
import { expect, onTestFinished, test } from 'vitest';
import { limiterOnFakeTime } from '../support/limiter-on-fake-time.ts';

const order = (cost: number) => [{ limit: 'Orders', id: '7', cost }];

/** Everything that is published from now on, without its limiter. */
function corrections() {
  const { limiter } = limiterOnFakeTime({ Orders: { count: 10, period: '10s' } });
  const messages: Omit<CorrectionMessage, 'limiter'>[] = [];
  const listener = (message: unknown): void => {
    const { limiter: of, ...rest } = message as CorrectionMessage;
    expect(of).toBe(limiter);
    messages.push(rest);
  };
  subscribe('sluice:correction', listener);
  onTestFinished(() => void unsubscribe('sluice:correction', listener));
  return { limiter, messages };
}

test('sluice:correction has a message for each charge, refund and reset', async () => {
  const { limiter, messages } = corrections();
  await limiter.charge(order(3));
  await limiter.refund(order(2));
  await limiter.refund(limiter.spendSync(order(4)));
  await limiter.reset([{ limit: 'Orders', id: '7' }]);
  expect(messages).toEqual([
    { limit: 'Orders', cost: 3, direction: 'charged' },
    { limit: 'Orders', cost: 2, direction: 'refunded' },
    { limit: 'Orders', cost: 4, direction: 'refunded' },
    { limit: 'Orders', cost: 0, direction: 'reset' },
  ]);
});

test('sluice:correction has the true cost of a settlement, and its difference beside it', async () => {
  const { limiter, messages } = corrections();
  await limiter.limit('Orders').run('7', () => 1, { cost: 4, settle: (spent) => spent });
  await limiter.limit('Orders').run('7', () => 3, { cost: 2, settle: (spent) => spent });
  expect(messages).toEqual([
    { limit: 'Orders', cost: 1, direction: 'settled' },
    { limit: 'Orders', cost: 3, direction: 'refunded' },
    { limit: 'Orders', cost: 3, direction: 'settled' },
    { limit: 'Orders', cost: 1, direction: 'charged' },
  ]);
});
