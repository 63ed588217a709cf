import { describe, expect, test } from 'vitest';
import { Breaker } from '../../src/failure/breaker.ts';

const MS = 1000;

/** A breaker that has opened at 0, and the phase in which everything so far was sent. */
function opened(deadlineMs = 50) {
  const breaker = new Breaker(deadlineMs);
  const { phase } = breaker;
  for (let i = 0; i < 3; i++) breaker.failed(phase, 0);
  return { breaker, phase };
}

test('one or two failures do not open it, the third in a row does', () => {
  const breaker = new Breaker(50);
  const told = [breaker.failed(0, 1), breaker.failed(0, 2), breaker.failed(0, 3)];
  expect(told).toEqual(['first', undefined, 'opened']);
  expect(breaker.isOpen).toBe(true);
});

test('an answer in between starts the count again', () => {
  const breaker = new Breaker(50);
  breaker.failed(0, 1);
  breaker.failed(0, 2);
  breaker.answered(2);
  breaker.failed(0, 51 * MS);
  breaker.failed(0, 52 * MS);
  expect(breaker.isOpen).toBe(false);
  expect(breaker.failed(0, 53 * MS)).toBe('opened');
});

test('any number of failures in a row do not open it before there has been no answer for as long as a call waits', () => {
  const breaker = new Breaker(50);
  breaker.answered(10 * MS);
  const told = [10, 11, 12, 13, 59, 59.999, 60].map((ms) => breaker.failed(0, ms * MS));
  expect(told).toEqual(['first', ...Array.from({ length: 5 }), 'opened']);
});

test('a clock that steps back does not keep it closed', () => {
  const breaker = new Breaker(50);
  breaker.answered(3_600_000 * MS);
  const told = [1, 2, 3].map((ms) => breaker.failed(0, ms * MS));
  expect(told).toEqual(['first', undefined, 'opened']);
});

test('it knows whether the store has ever answered', () => {
  const breaker = new Breaker(50);
  breaker.failed(0, 1);
  expect(breaker.hasAnswered).toBe(false);
  breaker.answered(2);
  breaker.failed(0, 3);
  expect(breaker.hasAnswered).toBe(true);
});

test('while closed it admits everything', () => {
  const breaker = new Breaker(50);
  breaker.failed(0, 0);
  expect([breaker.admits(0), breaker.admits(0)]).toEqual([true, true]);
});

test('while open it admits one call every 100 ms, the first 100 ms after it opened', () => {
  const { breaker } = opened();
  const admitted = [0, 99.999, 100, 100, 199.999, 200, 1000, 1099].filter((ms) => breaker.admits(ms * MS));
  expect(admitted).toEqual([100, 200, 1000]);
});

test('with a deadline of more than 100 ms the next probe waits until the last one is over', () => {
  const { breaker } = opened(2000);
  const admitted = [100, 1999, 2000, 2100, 3999, 4000].filter((ms) => breaker.admits(ms * MS));
  expect(admitted).toEqual([2000, 4000]);
});

test('a clock that steps back does not put off the next probe', () => {
  const { breaker } = opened();
  breaker.admits(3_600_000 * MS);
  expect(breaker.admits(0)).toBe(true);
});

describe('a report that the store is down', () => {
  test('opens it without a failed call, and the outage counts from the report', () => {
    const breaker = new Breaker(50);
    breaker.answered(1 * MS);
    breaker.reportedDown(2 * MS);
    expect([breaker.isOpen, breaker.outages, breaker.hasFailed]).toEqual([true, 1, false]);
    const admitted = [2, 101.999, 102].filter((ms) => breaker.admits(ms * MS));
    expect(admitted).toEqual([102]);
    expect(breaker.answered(103 * MS)).toBe(2 * MS);
    expect(breaker.isOpen).toBe(false);
  });

  test('after a failed call opens it at once, and the outage counts from that call', () => {
    const breaker = new Breaker(50);
    breaker.failed(0, 1 * MS);
    breaker.reportedDown(5 * MS);
    expect(breaker.answered(9 * MS)).toBe(1 * MS);
  });

  test('makes the failures of calls that were sent before it count for nothing', () => {
    const breaker = new Breaker(50);
    breaker.reportedDown(0);
    breaker.answered(100 * MS);
    for (let i = 0; i < 3; i++) breaker.failed(0, 200 * MS);
    expect(breaker.isOpen).toBe(false);
  });
});

describe('the first answer', () => {
  test('closes it and gives the moment of the first failure', () => {
    const breaker = new Breaker(50);
    for (const ms of [5, 6, 7]) breaker.failed(0, ms * MS);
    expect(breaker.answered(8 * MS)).toBe(5 * MS);
    expect([breaker.isOpen, breaker.admits(8 * MS), breaker.admits(8 * MS)]).toEqual([false, true, true]);
  });

  test('is reported once: answers while closed are not reported', () => {
    const { breaker } = opened();
    breaker.answered(1 * MS);
    expect(breaker.answered(2 * MS)).toBeUndefined();
  });
});

describe('failures of one outage', () => {
  test('that arrive while it is open do not open it again', () => {
    const { breaker, phase } = opened();
    expect([breaker.failed(phase, 50 * MS), breaker.outages]).toEqual([undefined, 1]);
  });

  test('that arrive while it is open do not delay the next probe', () => {
    const { breaker, phase } = opened();
    breaker.failed(phase, 99 * MS);
    expect(breaker.admits(100 * MS)).toBe(true);
  });

  test('of calls from before the end of the outage do not count', () => {
    const { breaker, phase } = opened();
    const { phase: duringOutage } = breaker;
    breaker.answered(100 * MS);
    for (let i = 0; i < 3; i++) {
      breaker.failed(phase, 200 * MS);
      breaker.failed(duringOutage, 200 * MS);
    }
    expect(breaker.isOpen).toBe(false);
  });
});

test('it opens again after it was closed, and counts its outages', () => {
  const { breaker } = opened();
  breaker.answered(1 * MS);
  const { phase } = breaker;
  const told = [51, 52, 53].map((ms) => breaker.failed(phase, ms * MS));
  expect(told).toEqual(['first', undefined, 'opened']);
  expect(breaker.outages).toBe(2);
});
