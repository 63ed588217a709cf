import { mock } from 'node:test';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { FakeTime } from '../../src/testing/fake-time.ts';
import { realTimers, type Timers } from '../../src/time/system-time.ts';
import { systemTime } from '../../src/time/system-time.ts';
import type { Time } from '../../src/time/time.ts';

const { setTimeout: realSetTimeout, clearTimeout: realClearTimeout } = globalThis;

const FAKES = [
  ['the fake timers of Vitest', () => void vi.useFakeTimers()],
  ['the mock timers of node:test', () => mock.timers.enable({ apis: ['setTimeout', 'setImmediate', 'Date'] })],
  ['mock functions', () => mockFunctions()],
] as const;

/** As the legacy fake timers of Jest do, also in Node's own module. */
function mockFunctions(): void {
  for (const name of ['setTimeout', 'setImmediate'] as const) {
    const fake = Object.assign(vi.fn(), { _isMockFunction: true });
    vi.stubGlobal(name, fake);
    vi.spyOn(process.getBuiltinModule('node:timers'), name).mockImplementation(fake);
  }
}

beforeEach(() => void vi.resetModules());
afterEach(() => {
  vi.useRealTimers();
  mock.timers.reset();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** Waits for each kind of timer. Returns what ran although it was cancelled. */
async function ran({ alarm, endOfTurn }: Pick<Time, 'alarm' | 'endOfTurn'>): Promise<readonly string[]> {
  const cancelled: string[] = [];
  alarm(1, () => cancelled.push('alarm')).cancel();
  endOfTurn(() => cancelled.push('end of turn'))();
  await new Promise<void>((resolve) => void endOfTurn(resolve));
  await new Promise<void>((resolve) => {
    const last = alarm(1.5, resolve);
    last.unref();
    last.ref();
  });
  return cancelled;
}

describe.each(FAKES)('%s', (_name, fake) => {
  test('do not touch the timers and the clock of a process that has loaded Sluice', async () => {
    fake();
    const before = systemTime.nowMicros();
    expect(await ran(systemTime)).toEqual([]);
    expect(systemTime.nowMicros()).toBeGreaterThan(before);
  });

  test('do not touch those of a process that loads Sluice while they are in use', async () => {
    fake();
    const { systemTime: loaded } = await import('../../src/time/system-time.ts');
    const before = loaded.nowMicros();
    expect(await ran(loaded)).toEqual([]);
    expect(loaded.nowMicros()).toBeGreaterThan(before);
  });

  test('do not keep a FakeTime from passing', async () => {
    fake();
    const time = new FakeTime();
    const rings: number[] = [];
    time.alarm(2, () => rings.push(time.nowMs));
    await time.pass(2);
    expect(rings).toEqual([2]);
  });
});

test('the wall clock is that of Date, faked or not', () => {
  vi.useFakeTimers({ now: 1_000_000 });
  expect(systemTime.wallNow()).toBe(1_000_000);
});

test('where the global functions are fake and those of Node’s module are not, as in Jest, the latter are used', () => {
  const { setImmediate } = process.getBuiltinModule('node:timers');
  vi.stubGlobal('setImmediate', Object.assign(vi.fn(), { clock: {} }));
  expect(realTimers().afterInput).toBe(setImmediate);
});

test('where the clock is fake and there is no module of Node, as in a test of a browser, the fake one is used', async () => {
  vi.useFakeTimers();
  vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined);
  const { systemTime: loaded } = await import('../../src/time/system-time.ts');
  const before = loaded.nowMicros();
  vi.advanceTimersByTime(5);
  expect(loaded.nowMicros()).toBe(before + 5000);
});

describe('in a browser or a test environment with its own window', () => {
  const inWindow = (functions: object): Timers =>
    realTimers({ setTimeout: realSetTimeout, clearTimeout: realClearTimeout, ...functions });

  test('timers are numbers, which keep nothing alive', () => {
    const cleared: unknown[] = [];
    const { alarm } = inWindow({ setTimeout: () => 17, clearTimeout: (timer: unknown) => cleared.push(timer) });
    const timer = alarm(1, () => {});
    timer.unref();
    timer.ref();
    timer.cancel();
    expect(cleared).toEqual([17]);
  });

  test('the end of a turn is a timer, which can be cancelled', async () => {
    const timers = inWindow({});
    expect(await ran(timers)).toEqual([]);
    await expect(new Promise<void>((resolve) => timers.afterInput(resolve))).resolves.toBeUndefined();
  });
});
