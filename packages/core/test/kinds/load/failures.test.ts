import { setImmediate } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { loadFrom } from '../../../src/kinds/load/sources.ts';
import { unshowable } from '../../support/uninspectable.ts';
import { levels, used } from './sampled.ts';

function fails(): never {
  throw new Error('boom');
}

function throws(value: unknown): never {
  throw value;
}

const WRONG: readonly [kind: string, value: () => unknown, reason: string][] = [
  ['throws', fails, 'Error: boom'],
  ['throws undefined', () => throws(undefined), 'undefined'],
  ['throws what can not be shown', () => throws(unshowable()), "can't be inspected"],
  ['returns NaN', () => NaN, 'a number from 0 to 1, but returned NaN'],
  ['returns nothing', () => undefined, 'but returned undefined'],
  ['returns a text', () => '0.9', "but returned '0.9'"],
  ['returns a bigint', () => 1n, 'but returned 1n'],
  ['returns a promise', () => Promise.resolve(0.9), 'but returned Promise'],
  ['returns a promise that rejects', () => Promise.reject(new Error('late')), 'but returned Promise'],
];

describe('a signal that can not be read', () => {
  test.each(WRONG)('counts as no load, with one event: the function %s', async (_kind, value, reason) => {
    const rejections = vi.fn<(reason: unknown) => void>();
    process.on('unhandledRejection', rejections);
    let read: () => unknown = () => 1;
    const source = loadFrom(() => read() as number);
    const { time, events } = used(source);
    levels(source, time, 8000);
    expect(source.level).toBe(1);
    read = value;
    levels(source, time, 50_000);
    expect(source.level).toBeLessThan(0.2);
    expect(events).toMatchObject([{ type: 'load-failed', limit: 'Worker', count: 1 }]);
    expect(events[0]?.message).toContain('The load of limit "Worker" can\'t be read (');
    expect(events[0]?.message).toContain(reason);
    await setImmediate();
    process.off('unhandledRejection', rejections);
    expect(rejections).not.toHaveBeenCalled();
  });

  test('is reported again after a minute, with the number of failures since', () => {
    const cause = new Error('boom');
    const source = loadFrom(() => throws(cause));
    const { time, events } = used(source);
    time.advance(61_000);
    expect(events).toMatchObject([
      { count: 1, cause },
      { count: 240, cause },
    ]);
    expect(events[1]?.message).toContain('240 times since the last such event');
  });

  test('is reported to every limit that uses it, by its name', () => {
    const source = loadFrom(() => fails());
    const [first, second] = [used(source, { limit: 'Orders' }), used(source, { limit: 'Exports' })];
    first.time.advance(250);
    expect(first.events).toMatchObject([{ limit: 'Orders' }]);
    expect(second.events).toMatchObject([{ limit: 'Exports' }]);
  });

  test('does not end the readings', () => {
    let read = fails as () => number;
    const source = loadFrom(() => read());
    const { time } = used(source);
    levels(source, time, 5000);
    read = () => 1;
    levels(source, time, 8000);
    expect(source.level).toBe(1);
  });
});

test.each([
  [1.5, 1],
  [Infinity, 1],
  [-1, 0],
  [-Infinity, 0],
])('a signal of %d counts as %d', (signal, counted) => {
  const [given, cut] = [loadFrom(() => signal), loadFrom(() => counted)];
  const [first, second] = [used(given), used(cut)];
  expect(levels(given, first.time, 5000)).toEqual(levels(cut, second.time, 5000));
  expect(first.events).toEqual([]);
});

describe('a kill switch that fails', () => {
  test.each([
    ['throws', fails, 'Error: boom'],
    ['returns nothing', () => undefined, 'true or false, but returned undefined'],
    ['returns a promise', () => Promise.resolve(false), 'true or false, but returned Promise'],
  ])('leaves shedding on or off as it was, with one event: it %s', (_kind, wrong, reason) => {
    for (const was of [true, false]) {
      let enabled: () => unknown = () => was;
      const source = loadFrom(() => 1, { enabled: () => enabled() as boolean });
      const { time, events } = used(source);
      time.advance(10_000);
      enabled = wrong;
      time.advance(10_000);
      expect(source.level).toBe(was ? 1 : 0);
      expect(events).toMatchObject([{ type: 'load-failed', limit: 'Worker', count: 1 }]);
      expect(events[0]?.message).toContain('The function `enabled` of the load of limit "Worker" failed (');
      expect(events[0]?.message).toContain(reason);
      enabled = () => !was;
      time.advance(10_000);
      expect(source.level).toBe(was ? 0 : 1);
    }
  });
});
