import { expect, test } from 'vitest';
import { callAndForget } from '../../src/async/call-and-forget.ts';
import { query } from '../limits/overrides/query.ts';

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
