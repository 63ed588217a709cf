import { inspect as inspectByNode } from 'node:util';
import { afterEach, expect, test, vi } from 'vitest';
import { shown } from '../../src/checks/errors.ts';
import { inspect, inspectAnywhere } from '../../src/runtime/inspect.ts';

afterEach(() => vi.unstubAllGlobals());

class Point {
  readonly x = 1;
}

const usual: unknown[] = [
  undefined,
  null,
  true,
  0,
  -0,
  1.5,
  Number.NaN,
  12n,
  Symbol('s'),
  '',
  'text',
  String.raw`a\b`,
  'x'.repeat(80),
  'x'.repeat(81),
  'x'.repeat(99),
  [],
  [1, 'a'],
  [1, 2, 3, 4, 5, 6],
  [1, 2, 3, 4, 5, 6, 7],
  [[1], [[2]]],
  {},
  { count: 1, 'a-b': 'c' },
  { a: { b: { c: 1 } } },
  { a: { b: new Point() } },
  new Point(),
  Object.create(null),
  function named() {},
  () => {},
];

test.each(usual.map((value) => ({ value, text: inspectByNode(value) })))(
  'without `util.inspect`, $text is shown as Node shows it',
  ({ value }) => {
    expect(inspectAnywhere(value)).toBe(inspect(value));
  },
);

test('without `util.inspect`, an error is shown by its name and message', () => {
  expect(inspectAnywhere(new TypeError('no'))).toBe('TypeError: no');
});

test('a value that can not be inspected throws nothing in a runtime without Node', () => {
  vi.stubGlobal('process', undefined);
  const hostile = {
    get count(): number {
      throw new Error('no');
    },
  };
  expect([shown(hostile), shown([1])]).toEqual(["an object that can't be inspected", '[ 1 ]']);
});
