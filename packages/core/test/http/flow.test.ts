import { expect, test } from 'vitest';
import { reasonOf } from '../../src/checks/errors.ts';
import { errorOf } from '../../src/http/flow.ts';

test('a thrown object is passed on unchanged', () => {
  for (const cause of [new Error('boom'), { status: 400 }, [], Object.create(null)]) expect(errorOf(cause)).toBe(cause);
});

test.each([undefined, null, '', 0, false, 'route', Symbol('x'), 1n])(
  '%o becomes an error with it as the cause',
  (cause) => {
    expect(errorOf(cause)).toBeInstanceOf(Error);
    expect((errorOf(cause) as Error).cause).toBe(cause);
  },
);

test.each([
  [new TypeError('boom'), 'TypeError: boom'],
  [Object.create(null), '[Object: null prototype] {}'],
  [undefined, 'undefined'],
  ['text', "'text'"],
])('reasonOf shows any thrown value in a log line: %o', (cause, reason) => {
  expect(reasonOf(cause)).toBe(reason);
});
