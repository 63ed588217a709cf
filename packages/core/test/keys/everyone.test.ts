import { createLimiter, everyone } from '@sluice/core';
import { expect, test } from 'vitest';
import { thrown } from '../support/thrown.ts';

test('everyone() gives every request the same id, also without a client address', () => {
  const source = {
    request: {},
    get clientAddress(): never {
      throw new Error('the address was read');
    },
  };
  expect(everyone().idOf!(source, 'Pool')).toBe('everyone');
});

test('everyone() accepts its one id by hand, and rejects any other with a remedy', () => {
  const limiter = createLimiter({ limits: { Pool: { key: everyone(), count: 2, period: '1m' } } });
  expect(limiter.spendSync([{ limit: 'Pool', id: 'everyone' }])).toMatchObject({ id: 'everyone', remaining: 1 });
  const error = thrown(() => limiter.spendSync([{ limit: 'Pool', id: '7' }]));
  expect(error.code).toBe('ERR_ID');
  expect(error.message).toBe(
    "`id` must be 'everyone', the only id of the key everyone(), but was '7'. Write id: 'everyone'. " +
      'For a bucket for each client use another key, such as accountId().',
  );
});
