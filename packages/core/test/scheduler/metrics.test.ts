import { readMetrics } from '@sluice/core/metrics';
import { createScheduler } from '@sluice/core/scheduler';
import { expect, test } from 'vitest';
import { on, quiet, scene } from './scene.ts';

/** The instruments of schedulers, by limit: those that wait, how many seconds the oldest has, and those that run. */
function scheduledOf(limiter: ReturnType<typeof scene>['limiter']) {
  const [waiting, longest, running] = ['waiting', 'longest', 'running'].map((name) =>
    readMetrics(limiter).find((metric) => metric.name === `sluice.scheduled.${name}`),
  );
  const limits = waiting?.samples.map(({ attributes }) => String(attributes['limit'])) ?? [];
  return Object.fromEntries(
    limits.map((limit, i) => [limit, [waiting, longest, running].map((metric) => metric?.samples[i]?.value)]),
  );
}

test('metrics have the calls of all schedulers that wait and run, by limit, and how long the oldest has waited', async () => {
  const { limiter, run, time, scheduler } = scene();
  const other = createScheduler(limiter);
  await other.run(on('Api'), () => undefined);
  for (let i = 0; i < 2; i++) quiet(run('holds', on('Busy'), {}, 10_000));
  quiet(run('oldest', on('Busy', 'Other'), { fair: 'a' }));
  await time.pass(250);
  quiet(run('waits', on('Busy')), run('behind', on('Busy', 'Other'), { fair: 'b', priority: 3 }));
  quiet(other.run(on('Busy'), () => undefined));
  await time.pass(250);
  expect(scheduledOf(limiter)).toEqual({ Api: [0, 0, 0], Busy: [4, 0.5, 2], Other: [2, 0.5, 0] });

  await other.close();
  expect(scheduledOf(limiter)['Busy']).toEqual([3, 0.5, 2]);
  quiet(scheduler.close());
  await time.pass(10_000);
  expect(scheduledOf(limiter)).toEqual({});
});

test('metrics have how long the oldest call has waited, also when half of its time has passed', async () => {
  const { limiter, run, time } = scene();
  for (let i = 0; i < 2; i++) quiet(run('holds', on('Busy'), {}, 10_000));
  quiet(run('waits', on('Busy'), { within: '1s' }));
  await time.pass(750);
  expect(scheduledOf(limiter)['Busy']).toEqual([1, 0.75, 2]);
});

test('metrics have the calls that run after thousands of other ids came and went', async () => {
  const { limiter, run, time } = scene({ ahead: '0ms' });
  quiet(run('holds', on('Busy'), {}, 60_000));
  await time.pass(2000);
  for (let i = 0; i < 200; i++) void run('user', [{ limit: 'PerUser', id: `${i}` }]);
  expect(scheduledOf(limiter)['Busy']).toEqual([0, 0, 1]);
});
