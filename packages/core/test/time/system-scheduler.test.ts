import { MessageChannel } from 'node:worker_threads';
import { expect, test, vi } from 'vitest';
import { Deadlines } from '../../src/time/deadlines.ts';
import { systemScheduler } from '../../src/time/scheduler.ts';

const late = () => new Error('late');

/** The only kinds of resources that the scheduler makes. */
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
  const cancels = [systemScheduler.after(60_000, () => {}), systemScheduler.afterInput(() => {})];
  expect(activeTimers()).toHaveLength(before.length + 2);
  for (const cancel of cancels) cancel();
  expect(activeTimers()).toEqual(before);
});

test('an alarm that is left to itself does not keep the process alive, and rings as long as it lives', async () => {
  const before = activeTimers();
  const rings: string[] = [];
  const alarm = systemScheduler.alarm(1, () => rings.push('left'));
  expect(activeTimers()).toHaveLength(before.length + 1);
  alarm.unref();
  expect(activeTimers()).toEqual(before);
  alarm.ref();
  expect(activeTimers()).toHaveLength(before.length + 1);
  systemScheduler.alarm(1, () => rings.push('cancelled')).cancel();
  await new Promise((resolve) => systemScheduler.alarm(2, () => resolve(undefined)));
  expect(rings).toEqual(['left']);
});

test('an alarm works where timers are numbers, as in a window', () => {
  const cleared: unknown[] = [];
  vi.stubGlobal('setTimeout', () => 17);
  vi.stubGlobal('clearTimeout', (timer: unknown) => cleared.push(timer));
  const alarm = systemScheduler.alarm(1, () => {});
  alarm.unref();
  alarm.ref();
  alarm.cancel();
  vi.unstubAllGlobals();
  expect(cleared).toEqual([17]);
});
