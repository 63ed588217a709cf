import { by, createLimiter, compound, type SluiceError } from '@sluice/core';
import { expect, test } from 'vitest';

const OWN = { name: 'own', canonical: (text: string): string => text };
const key = by<string>((text) => text, { format: OWN });
const limits = {
  Own: { key, count: 1, period: '1h' },
  Pairs: { key: compound(key, key), count: 1, period: '1h' },
} as const;
const limiter = createLimiter({ limits });

const errorOf = (act: () => unknown): SluiceError => {
  try {
    act();
  } catch (error) {
    return error as SluiceError;
  }
  throw new Error('Nothing was thrown.');
};

// V8 hashes texts of more than 16,383 characters by their length alone: in a map they would be a list.
test('no map gets an id of an own format that is as long as a client likes', () => {
  const ids = Array.from({ length: 2000 }, (_, i) => `${i}`.padStart(100_000, 'x'));
  for (const id of ids) {
    const calls = [
      () => limiter.spendSync([{ limit: 'Own', id }]),
      () => limiter.spendSync([{ limit: 'Pairs', id: `a:${id}` }]),
      () => limiter.usage([{ limit: 'Own', id }]),
    ];
    const error = errorOf(calls[0]!);
    expect(error).toMatchObject({ code: 'ERR_ID', status: 400 });
    expect(error.message.length).toBeLessThan(500);
    expect(errorOf(calls[1]!)).toMatchObject({ code: 'ERR_ID', status: 400 });
  }
});

test('ids of 4,096 characters have buckets of their own', () => {
  const spend = (id: string): boolean => limiter.spendSync([{ limit: 'Own', id }]).allowed;
  const long = 'x'.repeat(4095);
  expect([`${long}1`, `${long}2`, `${long}1`].map(spend)).toEqual([true, true, false]);
  expect(() => spend(`${long}12`)).toThrow('`id` of limit "Own" must be at most 4096 characters long, but was');
});
