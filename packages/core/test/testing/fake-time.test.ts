import { createLimiter } from '@sluice/core';
import { describe, expect, test } from 'vitest';
import { FakeTime } from '../../src/testing/fake-time.ts';
import { accountLimits } from '../support/limiter-on-fake-time.ts';

/** A timer that sets itself again each second, and when it has run. */
function everySecond(time: FakeTime): number[] {
  const runs: number[] = [];
  const again = (): void => {
    runs.push(time.nowMs);
    time.alarm(1000, again);
  };
  time.alarm(1000, again);
  return runs;
}

describe('the clock of a fake time', () => {
  test('does not move until it is moved', () => {
    const time = new FakeTime(1_700_000_000_000);
    expect([time.nowMs, time.nowMicros()]).toEqual([1_700_000_000_000, 1_700_000_000_000_000]);
    time.advance(250);
    expect([time.nowMs, time.nowMicros()]).toEqual([1_700_000_000_250, 1_700_000_000_250_000]);
    time.advance(0);
    expect(time.nowMs).toBe(1_700_000_000_250);
  });

  test('starts at 0 by default', () => {
    expect(new FakeTime().nowMicros()).toBe(0);
  });

  test('counts whole microseconds, to which milliseconds are rounded', () => {
    const time = new FakeTime(0.0004);
    expect(time.nowMicros()).toBe(0);
    time.advance(1000 / 7);
    expect([time.nowMicros(), time.nowMs]).toEqual([142_857, 142.857]);
    for (let step = 0; step < 1000; step++) time.advance(0.001);
    expect(time.nowMicros()).toBe(143_857);
  });

  test('can be set, also back and below 0', () => {
    const time = new FakeTime(5000);
    time.set(1000.001);
    expect(time.nowMicros()).toBe(1_000_001);
    time.set(-1);
    expect(time.nowMs).toBe(-1);
  });

  test('does not advance backwards: the error names `set`', async () => {
    const time = new FakeTime(10);
    const remedy = 'must be a number from 0 up, but was -1. For a clock that steps back use time.set(time.nowMs - …).';
    const error = (call: string) => expect.objectContaining({ code: 'ERR_OPTION', message: `\`${call}\` ${remedy}` });
    expect(() => time.advance(-1)).toThrow(error('advance(ms)'));
    await expect(time.pass(-1)).rejects.toThrow(error('pass(ms)'));
    expect(time.nowMs).toBe(10);
  });

  test.each([NaN, Infinity, -Infinity, 1e16, '5', null, 5n])('rejects %s as a time', async (wrong) => {
    const ms = wrong as number;
    const time = new FakeTime(10);
    expect(() => new FakeTime(ms)).toThrow(/^`startMs` must be a number of milliseconds/);
    expect(() => time.set(ms)).toThrow(/^`set\(ms\)` must be a number of milliseconds/);
    expect(() => time.setWall(ms)).toThrow(/^`setWall\(msSince1970\)` must be a number of milliseconds/);
    expect(() => time.advance(ms)).toThrow(expect.objectContaining({ code: 'ERR_OPTION' }));
    await expect(time.pass(ms)).rejects.toMatchObject({ code: 'ERR_OPTION' });
    expect([time.nowMs, time.wallNow()]).toEqual([10, 10]);
  });

  test('does not advance past where microseconds are exact', () => {
    const time = new FakeTime(9e12 - 1);
    expect(() => time.advance(9e12)).toThrow(/^`advance\(ms\)`/);
  });
});

describe('the wall clock of a fake time', () => {
  const noon = Date.parse('2026-07-01T12:00:00Z');

  test('shows the time in whole milliseconds until it is set', () => {
    const time = new FakeTime(noon);
    time.advance(0.999);
    expect(time.wallNow()).toBe(noon);
    time.advance(0.001);
    expect(time.wallNow()).toBe(noon + 1);
  });

  test('moves along after it was set, and can be set without the clock', () => {
    const time = new FakeTime(0.3);
    time.setWall(noon);
    expect([time.wallNow(), time.nowMs]).toEqual([noon, 0.3]);
    time.advance(1000);
    time.set(time.nowMs - 400);
    expect(time.wallNow()).toBe(noon + 600);
    time.setWall(noon - 3_600_000);
    expect([time.wallNow(), time.nowMs]).toEqual([noon - 3_600_000, 600.3]);
  });
});

describe('the timers of a fake time', () => {
  test('run on the way, each at its own time and in the order in which they are due', () => {
    const time = new FakeTime();
    const seen: [string, number][] = [];
    for (const [name, ms] of [['third', 300] as const, ['first', 100] as const, ['second', 100.5] as const]) {
      time.alarm(ms, () => seen.push([name, time.nowMs]));
    }
    time.advance(99.999);
    expect(seen).toEqual([]);
    time.advance(300);
    expect(seen).toEqual([
      ['first', 100],
      ['second', 100.5],
      ['third', 300],
    ]);
    expect([time.nowMs, time.pending]).toEqual([399.999, 0]);
  });

  test('that are due at once run in the order in which they were set', () => {
    const time = new FakeTime();
    const seen: number[] = [];
    for (const i of [1, 2, 3]) time.alarm(50, () => seen.push(i));
    time.advance(50);
    expect(seen).toEqual([1, 2, 3]);
  });

  test('may set others on the way', () => {
    const time = new FakeTime();
    const runs = everySecond(time);
    time.advance(3500);
    expect(runs).toEqual([1000, 2000, 3000]);
  });

  test.each([0, -5, NaN, 0.5])('of %s ms run after 1 ms, so that time advances', (delayMs) => {
    const time = new FakeTime();
    const runs: number[] = [];
    const again = (): void => {
      runs.push(time.nowMs);
      time.alarm(delayMs, again);
    };
    time.alarm(delayMs, again);
    time.advance(3);
    expect(runs).toEqual([1, 2, 3]);
  });

  test('do not run after they were cancelled, also by another one that is due at once', () => {
    const time = new FakeTime();
    const seen: string[] = [];
    time.alarm(10, () => {
      seen.push('first');
      second.cancel();
      second.cancel();
    });
    const second = time.alarm(10, () => seen.push('second'));
    time.advance(100);
    expect([seen, time.pending]).toEqual([['first'], 0]);
  });

  test('count as pending while they keep the process alive', () => {
    const time = new FakeTime();
    const alarm = time.alarm(10, () => {});
    expect(time.pending).toBe(1);
    alarm.unref();
    expect(time.pending).toBe(0);
    alarm.ref();
    time.endOfTurn(() => {});
    expect(time.pending).toBe(2);
  });

  test('that become due while the clock is set run with the next move, as after a stall of the process', () => {
    const time = new FakeTime();
    const seen: number[] = [];
    for (const ms of [20, 10]) time.alarm(ms, () => seen.push(ms, time.nowMs));
    time.set(100);
    expect(seen).toEqual([]);
    time.advance(0);
    expect(seen).toEqual([10, 100, 20, 100]);
  });

  test('that throw end the move, and later ones run with the next', () => {
    const time = new FakeTime();
    const runs = everySecond(time);
    time.alarm(500, () => {
      throw new Error('from outside');
    });
    expect(() => time.advance(2000)).toThrow('from outside');
    expect(time.nowMs).toBe(500);
    time.advance(1500);
    expect(runs).toEqual([1000, 2000]);
  });
});

describe('the end of a turn of a fake time', () => {
  test('is after all timers of the turn, and at each move', () => {
    const time = new FakeTime();
    const seen: string[] = [];
    time.endOfTurn(() => seen.push('at once'));
    time.advance(0);
    expect(seen).toEqual(['at once']);
    time.alarm(10, () => void time.endOfTurn(() => seen.push('end of turn')));
    time.alarm(10, () => seen.push('timer'));
    time.advance(10);
    expect(seen).toEqual(['at once', 'timer', 'end of turn']);
  });

  test('runs one function as often as it was given, unless it was cancelled', () => {
    const time = new FakeTime();
    let runs = 0;
    const run = (): number => runs++;
    const [, cancel] = [time.endOfTurn(run), time.endOfTurn(run), time.endOfTurn(run)];
    cancel();
    time.advance(0);
    expect([runs, time.pending]).toEqual([2, 0]);
  });

  test('is in the next turn when it is requested at the end of one', () => {
    const time = new FakeTime();
    const seen: string[] = [];
    time.endOfTurn(() => {
      seen.push('first');
      time.endOfTurn(() => seen.push('second'));
    });
    time.advance(0);
    expect(seen).toEqual(['first']);
    time.advance(0);
    expect(seen).toEqual(['first', 'second']);
  });
});

describe('while a fake time passes', () => {
  test('code that awaits in between continues, as in a loop of retries', async () => {
    const time = new FakeTime();
    const sleep = (ms: number) => new Promise<void>((resolve) => time.alarm(ms, resolve));
    const attempts: number[] = [];
    const retries = (async () => {
      for (let attempt = 0; attempt < 3; attempt++) {
        // oxlint-disable-next-line no-await-in-loop -- this is what is tested
        await sleep(1000);
        attempts.push(time.nowMs);
      }
    })();
    await time.pass(10_000);
    expect([attempts, time.nowMs]).toEqual([[1000, 2000, 3000], 10_000]);
    await retries;
  });

  test('callbacks of promises run between two callbacks', async () => {
    const time = new FakeTime();
    const seen: string[] = [];
    time.alarm(10, () => void Promise.resolve().then(() => (seen.push('promise'), second.cancel())));
    const second = time.alarm(10, () => seen.push('second'));
    time.alarm(10, () => seen.push('third'));
    await time.pass(10);
    expect(seen).toEqual(['promise', 'third']);
  });

  test('an error of a timer rejects', async () => {
    const time = new FakeTime();
    time.alarm(10, () => {
      throw new Error('from outside');
    });
    await expect(time.pass(10)).rejects.toThrow('from outside');
  });
});

test('a denied request passes after exactly its wait, without any await', () => {
  const time = new FakeTime();
  const limiter = createLimiter({ limits: accountLimits({ Orders: { count: 7, period: '1s', burst: 1 } }), time });
  const spend = () => limiter.spendSync([{ limit: 'Orders', id: '7' }]) as { allowed: boolean; retryAfterMs: number };
  spend();
  const { allowed, retryAfterMs } = spend();
  expect([allowed, retryAfterMs]).toEqual([false, 142.858]);
  time.advance(retryAfterMs - 0.001);
  expect(spend().allowed).toBe(false);
  time.advance(0.001);
  expect(spend().allowed).toBe(true);
});
