import { expect, test } from 'vitest';
import { Tally } from '../../src/events/throttle.ts';

const SECOND = 1_000_000;

function tally() {
  const reports: [number, unknown][] = [];
  return { reports, tally: new Tally((count, cause) => reports.push([count, cause])) };
}

test('the first is reported at once', () => {
  const { tally: one, reports } = tally();
  one.add(2, 'cause', 5);
  expect(reports).toEqual([[2, 'cause']]);
});

test('what follows within a minute is reported as one sum, with the last cause', () => {
  const { tally: one, reports } = tally();
  one.add(1, 'first', 0);
  for (let i = 1; i <= 1000; i++) one.add(1, `cause ${i}`, i);
  one.add(1, 'early', 60 * SECOND - 1);
  expect(reports).toEqual([[1, 'first']]);
  one.add(1, 'last', 60 * SECOND);
  expect(reports).toEqual([
    [1, 'first'],
    [1002, 'last'],
  ]);
});

test('a flush reports what is left, and nothing twice', () => {
  const { tally: one, reports } = tally();
  one.flush(0);
  one.add(1, 'first', 0);
  one.add(3, 'second', 1);
  one.flush(2);
  one.flush(3);
  expect(reports).toEqual([
    [1, 'first'],
    [3, 'second'],
  ]);
});

test('a clock that steps back does not silence it', () => {
  const { tally: one, reports } = tally();
  one.add(1, 'first', 3600 * SECOND);
  one.add(1, 'second', 0);
  expect(reports).toHaveLength(2);
});
