import { expect, test } from 'vitest';
import { reasonOf } from '../../src/checks/errors.ts';
import { errorOf } from '../../src/http/flow.ts';

test('an object that was thrown is thrown on as it is', () => {
  for (const cause of [new Error('boom'), { status: 400 }, [], Object.create(null)]) expect(errorOf(cause)).toBe(cause);
});

test.each([undefined, null, '', 0, false, 'route', Symbol('x'), 1n])('%o becomes an error that carries it', (cause) => {
  expect(errorOf(cause)).toBeInstanceOf(Error);
  expect((errorOf(cause) as Error).cause).toBe(cause);
});

test.each([
  [new TypeError('boom'), 'TypeError: boom'],
  [Object.create(null), '[Object: null prototype] {}'],
  [undefined, 'undefined'],
  ['text', "'text'"],
])('whatever was thrown can stand in a log line: %o', (cause, reason) => {
  expect(reasonOf(cause)).toBe(reason);
});
