import { FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import { eventLoop, loadFrom } from '../../../src/kinds/load/sources.ts';
import { loadSettings } from '../../../src/kinds/load/load-options.ts';
import { SampledLoad } from '../../../src/kinds/load/sampled-load.ts';
import { intervalUtilization } from '../../../src/kinds/load/utilization.ts';
import { levels, turns, used } from './sampled.ts';
import { ScriptedLoop } from './scripted-loop.ts';

describe('the level of a source', () => {
  test('rises while the signal is above busy, stays between, and falls below calm', () => {
    let signal = 1;
    const source = loadFrom(() => signal);
    const { time } = used(source);
    const rising = levels(source, time, 4000);
    expect(rising.at(-1)).toBeGreaterThan(0.6);
    expect(rising).toEqual(rising.toSorted((a, b) => a - b));
    signal = 0.75;
    levels(source, time, 5000);
    expect(new Set(levels(source, time, 60_000)).size).toBe(1);
    signal = 0;
    levels(source, time, 65_000);
    expect(source.level).toBe(0);
  });

  test('has not moved by chance requests: one busy interval changes nothing', () => {
    let signal = 0.5;
    const source = loadFrom(() => signal);
    const { time } = used(source);
    levels(source, time, 10_000);
    signal = 1;
    levels(source, time, 250);
    signal = 0.5;
    expect(levels(source, time, 10_000).every((level) => level === 0)).toBe(true);
  });

  test('changes its direction once at each edge of a square wave', () => {
    const time = new FakeTime();
    const source = loadFrom(() => (Math.ceil(time.nowMs / 20_000) % 2 === 1 ? 0.95 : 0.3));
    used(source, { time });
    expect(turns(levels(source, time, 200_000))).toBe(9);
  });

  // What is shed lowers the signal: a level that overshoots or that moves at once would swing.
  test.each([1.5, 3, 6])(
    'stops falling in each wave of %d times what the worker can do, and rises no more',
    (times) => {
      const time = new FakeTime();
      const offered = (): number => (Math.ceil(time.nowMs / 60_000) % 2 === 1 ? times : 0.5);
      const source = loadFrom(() => Math.min(1, offered() * (1 - source.level)));
      used(source, { time });
      for (let wave = 0; wave < 4; wave++) {
        const high = levels(source, time, 60_000);
        expect(turns([0, ...high])).toBeLessThanOrEqual(1);
        expect(new Set(high.slice(-20)).size).toBe(1);
        const low = levels(source, time, 60_000);
        expect(low).toEqual(low.toSorted((a, b) => b - a));
      }
    },
  );

  test('follows the utilization of each interval: after a calm day it rises within seconds', () => {
    const loop = new ScriptedLoop();
    const source = new SampledLoad(loadSettings('eventLoop', {}), () => intervalUtilization(loop.read));
    const { time } = used(source);
    const pass = (ms: number, busy: number): void => {
      for (let passed = 0; passed < ms; passed += 250) {
        loop.pass(250, busy);
        time.advance(250);
      }
    };
    loop.pass(86_400_000, 0.1);
    pass(1000, 0.1);
    expect(source.level).toBe(0);
    pass(8000, 1);
    expect(source.level).toBe(1);
    pass(70_000, 0.1);
    expect(source.level).toBe(0);
  });

  test('is not moved far by a late reading, after a stall or a suspended machine', () => {
    const source = loadFrom(() => 1, { rise: '8s' });
    const { time } = used(source);
    levels(source, time, 3000);
    const before = source.level;
    time.set(time.nowMs + 3_600_000);
    time.advance(0);
    expect(source.level - before).toBeCloseTo(1000 / 8000, 9);
  });

  test('takes two intervals for a late reading where these are longer than a second', () => {
    const source = loadFrom(() => 1, { every: '2s', rise: '10s' });
    const { time } = used(source);
    time.set(time.nowMs + 3_600_000);
    time.advance(0);
    expect(source.level).toBeCloseTo(4 / 10, 9);
  });

  // In one turn the event loop handles all requests that have arrived, which takes seconds far above its capacity.
  test('rises by the readings of requests while the event loop does not get round to its timers', () => {
    let readings = 0;
    const source = loadFrom(() => {
      readings++;
      return 1;
    });
    const { time, use } = used(source);
    time.advance(250);
    for (let ms = 0; ms < 5000; ms += 5) {
      time.set(time.nowMs + 5);
      use.sheds('a', 1);
    }
    expect(source.level).toBe(1);
    expect(readings).toBe(1 + Math.floor(5000 / 375));
  });

  test('is not read twice when the timer comes right after a request, and is read again an interval later', () => {
    let readings = 0;
    const { time, use } = used(loadFrom(() => readings++));
    time.set(time.nowMs + 400);
    use.sheds('a', 1);
    time.advance(0);
    expect(readings).toBe(1);
    time.advance(250);
    expect(readings).toBe(2);
  });

  test('is read once when the function itself asks whether to shed', () => {
    let readings = 0;
    const source = loadFrom(() => {
      use.sheds('a', 1);
      return ++readings / 1e6;
    });
    const { time, use } = used(source);
    time.set(time.nowMs + 400);
    use.sheds('a', 1);
    expect(readings).toBe(1);
  });

  test('does not move when the clock steps back, and moves on from there', () => {
    const time = new SteppedTime();
    const source = loadFrom(() => 1);
    used(source, { time });
    const before = levels(source, time, 3000).at(-1)!;
    time.backMicros = 60_000_000;
    expect(levels(source, time, 250)).toEqual([before]);
    expect(levels(source, time, 250)[0]).toBeGreaterThan(before);
  });
});

/** A clock that steps back while the timers run on. */
class SteppedTime extends FakeTime {
  backMicros = 0;

  override nowMicros(): number {
    return super.nowMicros() - this.backMicros;
  }
}

describe('the event loop', () => {
  test('that never waits makes the level rise', () => {
    const source = eventLoop();
    const { time } = used(source);
    time.advance(10_000);
    expect(source.level).toBe(1);
  });
});
