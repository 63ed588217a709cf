import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { allOf, andThen, callAndForget, toNativePromise } from '../../src/async/awaitable.ts';
import { query } from '../definitions/overrides/query.ts';

describe('toNativePromise', () => {
  test.each([[1], [null], [undefined], ['text'], [{}], [query(1 as never)], [() => {}]])(
    'returns a value unchanged: %o',
    (value) => {
      expect(toNativePromise(value)).toBe(value);
    },
  );

  test('returns a native promise unchanged', () => {
    const promise = Promise.resolve(1);
    expect(toNativePromise(promise)).toBe(promise);
  });

  test.each<[what: string, value: unknown]>([
    ['a query with a then', query((give) => give(1))],
    ['a promise of another realm', runInNewContext('Promise.resolve(1)')],
  ])('converts to a native promise: %s', async (_, value) => {
    const promise = toNativePromise(value);
    expect(promise).toBeInstanceOf(Promise);
    expect(await promise).toBe(1);
  });
});

test('andThen calls the function synchronously with a value', () => expect(andThen(1, (value) => value + 1)).toBe(2));

test('andThen calls the function when a promise has resolved', async () => {
  expect(await andThen(Promise.resolve(1), (value) => value + 1)).toBe(2);
  await expect(andThen(Promise.reject(new Error('no')), () => 2)).rejects.toThrow('no');
});

test('allOf returns values synchronously', () => expect(allOf([1, 2])).toEqual([1, 2]));

test('allOf waits when one of the values is a promise', async () => {
  expect(await allOf([1, Promise.resolve(2)])).toEqual([1, 2]);
});

/** Returns the errors that were passed to `onError` when everything has settled. */
async function errorsOf(run: () => unknown): Promise<unknown[]> {
  const errors: unknown[] = [];
  callAndForget(run, (cause) => errors.push(cause));
  await new Promise(setImmediate);
  return errors;
}

test.each<[what: string, run: () => unknown, errors: unknown[]]>([
  ['returns a value: no error', () => 1, []],
  ['returns a promise that resolves: no error', () => Promise.resolve(1), []],
  [
    'throws: its error',
    () => {
      throw 'thrown';
    },
    ['thrown'],
  ],
  ['returns a promise that rejects: its error', () => Promise.reject('rejected'), ['rejected']],
  ['returns a thenable that rejects: its error', () => query((_, reject) => reject('rejected')), ['rejected']],
  [
    'returns a thenable that throws: its error',
    () =>
      query(() => {
        throw 'broken';
      }),
    ['broken'],
  ],
])('a function that %s', async (_, run, errors) => expect(await errorsOf(run)).toEqual(errors));

test('an error that a function throws is passed on synchronously', () => {
  const errors: unknown[] = [];
  callAndForget(
    () => {
      throw 'thrown';
    },
    (cause) => errors.push(cause),
  );
  expect(errors).toEqual(['thrown']);
});
