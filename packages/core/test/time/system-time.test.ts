import { MessageChannel } from 'node:worker_threads';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import { Deadlines } from '../../src/time/deadlines.ts';
import { systemTime } from '../../src/time/system-time.ts';
import { checkTime } from '../../src/time/time.ts';
import { thrown } from '../support/thrown.ts';

const late = () => new Error('late');

/** The only kinds of resources that the system's time makes. */
function activeTimers(): string[] {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout' || name === 'Immediate');
}

test('after a real stall of the event loop a message that has arrived wins over the deadline', async () => {
  const { port1, port2 } = new MessageChannel();
  const answer = new Promise((resolve) => port2.on('message', resolve));
  // Let the port start listening before the loop stalls.
  await new Promise((resolve) => setImmediate(resolve));
  const race = new Deadlines(1).race(answer, late);
  port1.postMessage('answer');
  const untilMs = performance.now() + 10;
  while (performance.now() < untilMs);
  await expect(race).resolves.toBe('answer');
  port1.close();
});

test('a promise that never settles misses its deadline', async () => {
  await expect(new Deadlines(1).race(new Promise(() => {}), late)).rejects.toThrow('late');
});

test('a deadline that is no longer needed does not keep the process alive', () => {
  const before = activeTimers();
  const cancels = [systemTime.alarm(60_000, () => {}).cancel, systemTime.endOfTurn(() => {})];
  expect(activeTimers()).toHaveLength(before.length + 2);
  for (const cancel of cancels) cancel();
  expect(activeTimers()).toEqual(before);
});

test('an alarm that is left to itself does not keep the process alive, and rings as long as it lives', async () => {
  const before = activeTimers();
  const rings: string[] = [];
  const alarm = systemTime.alarm(1, () => rings.push('left'));
  expect(activeTimers()).toHaveLength(before.length + 1);
  alarm.unref();
  expect(activeTimers()).toEqual(before);
  alarm.ref();
  expect(activeTimers()).toHaveLength(before.length + 1);
  systemTime.alarm(1, () => rings.push('cancelled')).cancel();
  await new Promise((resolve) => systemTime.alarm(2, () => resolve(undefined)));
  expect(rings).toEqual(['left']);
});

test('the process’s own clock counts whole microseconds and never goes back', () => {
  const readings = Array.from({ length: 1000 }, () => systemTime.nowMicros());
  expect(readings.filter((micros) => !Number.isSafeInteger(micros))).toEqual([]);
  expect(readings).toEqual(readings.toSorted((a, b) => a - b));
});

test('the process’s own clock goes as fast as time does', () => {
  const before = performance.now() * 1000;
  const micros = systemTime.nowMicros();
  const after = performance.now() * 1000;
  expect(micros).toBeGreaterThanOrEqual(Math.floor(before));
  expect(micros).toBeLessThanOrEqual(after);
});

test('the process’s own wall clock is that of Date', () => {
  const before = Date.now();
  const ms = systemTime.wallNow();
  expect(ms).toBeGreaterThanOrEqual(before);
  expect(ms).toBeLessThanOrEqual(Date.now());
});

describe('the option `time`', () => {
  test('may be the process’s own time, or a fake one', () => {
    for (const time of [systemTime, new FakeTime()]) expect(checkTime(time)).toBeUndefined();
  });

  test.each([undefined, null, 5, {}, Date, { nowMicros: Date.now }, { ...systemTime, alarm: 5 } as unknown])(
    'is not %s',
    (wrong) => {
      const { code, message } = thrown(() => checkTime(wrong));
      expect(code).toBe('ERR_OPTION');
      expect(message).toMatch(
        /^`time` must be an object with the methods nowMicros, wallNow, alarm, endOfTurn, but was /,
      );
      expect(message).toMatch(/For tests use `new FakeTime\(\)` of '@sluice\/core\/testing'; .* leave it out\.$/);
    },
  );
});
