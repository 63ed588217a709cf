import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { allOf, andThen, callAndForget, toNativePromise } from '../../src/async/awaitable.ts';
import { query } from '../limits/overrides/query.ts';

describe('what came from outside', () => {
  test.each([[1], [null], [undefined], ['text'], [{}], [query(1 as never)], [() => {}]])(
    'stays as it is: %o',
    (value) => {
      expect(toNativePromise(value)).toBe(value);
    },
  );

  test('stays the promise that it is', () => {
    const promise = Promise.resolve(1);
    expect(toNativePromise(promise)).toBe(promise);
  });

  test.each<[what: string, value: unknown]>([
    ['a query with a then', query((give) => give(1))],
    ['a promise of another realm', runInNewContext('Promise.resolve(1)')],
  ])('becomes a promise of ours: %s', async (_, value) => {
    const promise = toNativePromise(value);
    expect(promise).toBeInstanceOf(Promise);
    expect(await promise).toBe(1);
  });
});

test('a value goes on at once', () => expect(andThen(1, (value) => value + 1)).toBe(2));

test('a promise goes on when it is there', async () => {
  expect(await andThen(Promise.resolve(1), (value) => value + 1)).toBe(2);
  await expect(andThen(Promise.reject(new Error('no')), () => 2)).rejects.toThrow('no');
});

test('values that are all there are together at once', () => expect(allOf([1, 2])).toEqual([1, 2]));

test('values of which one comes later are together when it is there', async () => {
  expect(await allOf([1, Promise.resolve(2)])).toEqual([1, 2]);
});

/** What has come to `onError` once everything has settled. */
async function errorsOf(run: () => unknown): Promise<unknown[]> {
  const errors: unknown[] = [];
  callAndForget(run, (cause) => errors.push(cause));
  await new Promise(setImmediate);
  return errors;
}

test.each<[what: string, run: () => unknown, errors: unknown[]]>([
  ['gives a value: nothing comes', () => 1, []],
  ['gives a promise that resolves: nothing comes', () => Promise.resolve(1), []],
  [
    'throws: that comes',
    () => {
      throw 'thrown';
    },
    ['thrown'],
  ],
  ['gives a promise that rejects: that comes', () => Promise.reject('rejected'), ['rejected']],
  ['gives a thenable that rejects: that comes', () => query((_, refuse) => refuse('refused')), ['refused']],
  [
    'gives a thenable that throws: that comes',
    () =>
      query(() => {
        throw 'broken';
      }),
    ['broken'],
  ],
])('a function that %s', async (_, run, errors) => expect(await errorsOf(run)).toEqual(errors));

test('what a function throws comes at once', () => {
  const errors: unknown[] = [];
  callAndForget(
    () => {
      throw 'thrown';
    },
    (cause) => errors.push(cause),
  );
  expect(errors).toEqual(['thrown']);
});
