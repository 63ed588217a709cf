import { queryObjects } from 'node:v8';
import { expect, test } from 'vitest';
import { Flow } from '../../src/scheduler/flow.ts';
import { Lane } from '../../src/scheduler/lane.ts';
import { ScheduledCall } from '../../src/scheduler/scheduled-call.ts';
import { on, quiet, scene } from './scene.ts';

const count = (of: new (...args: never[]) => object): number => queryObjects(of, { format: 'count' });

test('calls that have begun, failed, left or ended leave nothing', async () => {
  const { run, time, scheduler } = scene({ ahead: '150ms' });
  const before = count(ScheduledCall);
  const leaving = new AbortController();
  for (let i = 0; i < 20; i++) {
    quiet(run('begins', on('Api')), run('late', on('Busy', 'Api'), { within: '50ms' }));
    quiet(run('leaves', on('Api'), { signal: leaving.signal }));
  }
  await time.pass(300);
  leaving.abort(new Error('gone'));
  await time.pass(5000);
  expect(scheduler.size).toBe(0);
  expect(count(ScheduledCall) - before).toBeLessThanOrEqual(0);
});

test('ids and keys without calls are forgotten as others come', async () => {
  const { run, time } = scene();
  const [lanes, flows] = [count(Lane), count(Flow)];
  for (let i = 0; i < 400; i++) {
    quiet(run('user', [{ limit: 'PerUser', id: `${i}` }]), run('key', on('Other'), { fair: `${i}` }));
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await time.pass(100);
  }
  expect(count(Lane) - lanes).toBeLessThan(150);
  expect(count(Flow) - flows).toBeLessThan(300);
});
