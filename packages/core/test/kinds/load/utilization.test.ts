import type { EventLoopUtilization } from 'node:perf_hooks';
import { expect, test } from 'vitest';
import { realDelay } from '../../../../../test/real-delay.ts';
import { intervalUtilization } from '../../../src/kinds/load/utilization.ts';
import { ScriptedLoop } from './scripted-loop.ts';

test('the utilization is that of the interval, not since the start of the process', () => {
  const loop = new ScriptedLoop();
  loop.pass(86_400_000, 0.1);
  const read = intervalUtilization(loop.read);
  loop.pass(1000, 0.95);
  expect(read()).toBeCloseTo(0.95, 9);
  loop.pass(1000, 0.2);
  expect(read()).toBeCloseTo(0.2, 9);
});

test('two readers do not disturb each other', () => {
  const loop = new ScriptedLoop();
  const [often, seldom] = [intervalUtilization(loop.read), intervalUtilization(loop.read)];
  const seen = [0.2, 0.8].map((busy) => {
    loop.pass(1000, busy);
    return often();
  });
  expect(seen).toEqual([expect.closeTo(0.2, 9), expect.closeTo(0.8, 9)]);
  expect(seldom()).toBeCloseTo(0.5, 9);
});

test('by default it is that of the event loop of this process', async () => {
  const read = intervalUtilization();
  const until = performance.now() + 20;
  while (performance.now() < until);
  const busy = read();
  await realDelay(100);
  expect(busy).toBeGreaterThan(read());
});

test('the scripted loop calculates as the real one does', () => {
  const keys = Object.keys(performance.eventLoopUtilization()) as (keyof EventLoopUtilization)[];
  expect(Object.keys(new ScriptedLoop().read())).toEqual(keys);
});
