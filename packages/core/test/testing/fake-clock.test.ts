import { describe, expect, test } from 'vitest';
import { FakeClock } from '../../src/testing/fake-clock.ts';

describe('a fake clock', () => {
  test('stands still until it is moved', () => {
    const clock = new FakeClock(1_700_000_000_000);
    expect([clock.nowMs, clock.nowMicros()]).toEqual([1_700_000_000_000, 1_700_000_000_000_000]);
    clock.advance(250);
    expect([clock.nowMs, clock.nowMicros()]).toEqual([1_700_000_000_250, 1_700_000_000_250_000]);
    clock.advance(0);
    expect(clock.nowMs).toBe(1_700_000_000_250);
  });

  test('starts at 0 when nothing is said', () => {
    expect(new FakeClock().nowMicros()).toBe(0);
  });

  test('counts whole microseconds, to which milliseconds are rounded', () => {
    const clock = new FakeClock(0.0004);
    expect(clock.nowMicros()).toBe(0);
    clock.advance(1000 / 7);
    expect([clock.nowMicros(), clock.nowMs]).toEqual([142_857, 142.857]);
    for (let step = 0; step < 1000; step++) clock.advance(0.001);
    expect(clock.nowMicros()).toBe(143_857);
  });

  test('can be set, also back and below 0', () => {
    const clock = new FakeClock(5000);
    clock.set(1000.001);
    expect(clock.nowMicros()).toBe(1_000_001);
    clock.set(-1);
    expect(clock.nowMs).toBe(-1);
  });

  test('does not advance backwards, and says how to go back', () => {
    const clock = new FakeClock(10);
    expect(() => clock.advance(-1)).toThrow('`advance(ms)` must be a number from 0 up, but was -1. For a clock that');
    expect(() => clock.advance(-1)).toThrow(expect.objectContaining({ code: 'ERR_OPTION' }));
    expect(clock.nowMs).toBe(10);
  });

  test.each([NaN, Infinity, -Infinity, 1e16, '5', null, 5n])('refuses %s for a time', (wrong) => {
    const ms = wrong as number;
    const clock = new FakeClock(10);
    expect(() => new FakeClock(ms)).toThrow(/^`startMs` must be a number of milliseconds/);
    expect(() => clock.set(ms)).toThrow(/^`set\(ms\)` must be a number of milliseconds/);
    expect(() => clock.advance(ms)).toThrow(expect.objectContaining({ code: 'ERR_OPTION' }));
    expect(clock.nowMs).toBe(10);
  });

  test('refuses to advance past where microseconds are exact', () => {
    const clock = new FakeClock(9e12 - 1);
    expect(() => clock.advance(9e12)).toThrow(/^`advance\(ms\)`/);
  });
});
