import { accountId, createLimiter } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { APICallError } from 'ai';
import { expect, test } from 'vitest';
import { BudgetExceededError } from '../src/budget-exceeded-error.ts';

const key = accountId();

async function denied(count: number, period: `${number}s`) {
  const limiter = createLimiter({ limits: { Tokens: { key, count, period } }, time: new FakeTime(), log: false });
  await limiter.spend([{ limit: 'Tokens', id: '1', cost: count }]);
  return limiter.spend([{ limit: 'Tokens', id: '1', cost: 1 }]);
}

test('it has the decision, and names the limit, what is left of it and the wait', async () => {
  const decision = await denied(3, '10s');
  const error = new BudgetExceededError(decision, false);
  expect(error).toMatchObject({
    decision,
    statusCode: 429,
    message: 'Limit "Tokens" does not allow this call: 0 left. It can pass in 4 seconds.',
  });
});

test('without `retry` the AI SDK does not know it as an error of a provider', async () => {
  const error = new BudgetExceededError(await denied(3, '10s'), false);
  expect(APICallError.isInstance(error)).toBe(false);
  expect(error).toMatchObject({ isRetryable: false, responseHeaders: undefined });
});

test('with `retry` it is an error that the AI SDK retries after the wait, in whole milliseconds', async () => {
  const error = new BudgetExceededError(await denied(3, '10s'), true);
  expect(APICallError.isInstance(error)).toBe(true);
  expect(error).toMatchObject({ isRetryable: true, responseHeaders: { 'retry-after-ms': '3334' } });
});

test('with `retry` and a wait of a minute or more it is not retried, because the SDK would wait for less', async () => {
  expect(new BudgetExceededError(await denied(1, '60s'), true).isRetryable).toBe(false);
  expect(new BudgetExceededError(await denied(1, '59s'), true).isRetryable).toBe(true);
});

test('where an override blocks the id, it says so', async () => {
  const blocking = createLimiter({
    limits: { Tokens: { key, count: 3, period: '10s' } },
    overrides: { Tokens: { '1': 'blocked' } },
  });
  const blocked = await blocking.spend([{ limit: 'Tokens', id: '1' }]);
  expect(new BudgetExceededError(blocked, true)).toMatchObject({
    message: 'Limit "Tokens" is blocked for this id.',
    isRetryable: false,
  });
});
