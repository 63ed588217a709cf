import { MessageChannel } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { Deadlines } from '../../src/failure/deadlines.ts';
import { systemScheduler } from '../../src/failure/scheduler.ts';

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
