import { FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import { loadFrom } from '../../../src/kinds/load/sources.ts';
import { levels, used } from './sampled.ts';

/** A source whose readings are counted. */
function counted() {
  const readings = { count: 0 };
  const source = loadFrom(() => {
    readings.count++;
    return 1;
  });
  return { source, readings };
}

describe('the readings of a signal', () => {
  test('begin with the first use and end with the last', () => {
    const { source, readings } = counted();
    const time = new FakeTime();
    time.advance(1000);
    expect(readings.count).toBe(0);
    const [first, second] = [used(source, { time }), used(source, { time })];
    time.advance(1000);
    expect(readings.count).toBe(4);
    first.use.stop();
    time.advance(1000);
    expect(readings.count).toBe(8);
    second.use.stop();
    time.advance(1000);
    expect(readings.count).toBe(8);
  });

  test('do not keep the process alive', () => {
    const { time } = used(counted().source);
    time.advance(1000);
    expect(time.pending).toBe(0);
  });

  test('come at the interval that was chosen', () => {
    const readings: number[] = [];
    const time = new FakeTime();
    used(
      loadFrom(() => readings.push(time.nowMs), { every: '500ms' }),
      { time },
    );
    time.advance(2000);
    expect(readings).toEqual([500, 1000, 1500, 2000]);
  });

  test('are made once for all users, by the time of the first and then of the next', () => {
    const { source, readings } = counted();
    const [first, second] = [used(source), used(source, { time: new FakeTime() })];
    second.time.advance(1000);
    expect(readings.count).toBe(0);
    levels(source, first.time, 2000);
    expect(readings.count).toBe(8);
    const { level } = source;
    first.use.stop();
    expect(source.level).toBe(level);
    first.time.advance(1000);
    expect(readings.count).toBe(8);
    second.time.advance(250);
    expect(readings.count).toBe(9);
    expect(source.level).toBeGreaterThan(level);
  });

  test('are not doubled by a limit that uses the source twice, nor ended by stopping one use twice', () => {
    const { source, readings } = counted();
    const time = new FakeTime();
    const user = { limit: 'Worker', time, emit: () => undefined };
    const [first, second] = [source.start(user), source.start(user)];
    first.stop();
    first.stop();
    time.advance(1000);
    expect(readings.count).toBe(4);
    second.stop();
    second.stop();
    time.advance(1000);
    expect(readings.count).toBe(4);
  });

  test('begin anew after the last use: with the level 0, and no memory of the signal', () => {
    const { source } = counted();
    const before = used(source);
    const first = levels(source, before.time, 8000);
    expect(source.level).toBe(1);
    before.use.stop();
    expect(source.level).toBe(0);
    expect(levels(source, used(source).time, 8000)).toEqual(first);
  });

  test('end when the function itself ends the use', () => {
    let calls = 0;
    const source = loadFrom(() => {
      if (++calls === 20) use.stop();
      return 1;
    });
    const { time, use } = used(source);
    time.advance(60_000);
    expect(calls).toBe(20);
    expect(source.level).toBe(0);
  });
});

describe('the kill switch', () => {
  test('sheds nothing from the next reading on, and lets the level rise from 0 when it is on again', () => {
    let enabled = true;
    const source = loadFrom(() => 1, { enabled: () => enabled });
    const { time, use } = used(source);
    time.advance(10_000);
    expect(use.sheds('a', 1)).toBe(true);
    enabled = false;
    time.advance(250);
    expect(source.level).toBe(0);
    expect(use.sheds('a', 0.01)).toBe(false);
    time.advance(60_000);
    expect(source.level).toBe(0);
    enabled = true;
    time.advance(250);
    expect(source.level).toBeGreaterThan(0);
    expect(source.level).toBeLessThan(0.1);
  });

  test('can be off from the beginning', () => {
    const source = loadFrom(() => 1, { enabled: () => false });
    const { time, use } = used(source);
    time.advance(60_000);
    expect(use.sheds('a', 0.01)).toBe(false);
  });
});
