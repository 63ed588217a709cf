import { afterEach, beforeEach, expect, test } from 'vitest';
import { collectGarbage } from '../../../../test/collect-garbage.ts';
import { Flow } from '../../src/scheduler/flow.ts';
import { Heap } from '../../src/scheduler/heap.ts';
import { Lane } from '../../src/scheduler/lane.ts';
import { ScheduledCall } from '../../src/scheduler/scheduled-call.ts';
import { on, quiet, scene } from './scene.ts';

// oxlint-disable-next-line typescript/unbound-method -- it is called on the heap
const { add } = Heap.prototype;
/** What was in a heap, which all calls, lanes and keys are once. */
let seen: Set<WeakRef<object>>;

beforeEach(() => {
  seen = new Set();
  const noted = new WeakSet<object>();
  Heap.prototype.add = function (item) {
    if (!noted.has(item)) seen.add(new WeakRef(item));
    noted.add(item);
    add.call(this, item);
  };
});
afterEach(() => void (Heap.prototype.add = add));

/** How many there are still, of all that there were. */
function countOf(kind: new (...args: never[]) => object): number {
  let count = 0;
  for (const each of seen) if (each.deref() instanceof kind) count++;
  return count;
}

test('calls that have begun, failed, left or ended leave nothing', async () => {
  const { run, time, scheduler } = scene({ ahead: '150ms' });
  // When they leave, one of them has a reserved turn.
  const leaving = new AbortController();
  for (let i = 0; i < 20; i++) {
    quiet(run('begins', on('Api')), run('late', on('Busy', 'Api'), { within: '50ms' }));
    quiet(run('leaves', on('Api'), { signal: leaving.signal }));
  }
  await time.pass(250);
  leaving.abort(new Error('gone'));
  await time.pass(5000);
  expect(scheduler.size).toBe(0);
  expect(seen.size).toBeGreaterThanOrEqual(60);
  await collectGarbage(() => countOf(ScheduledCall) === 0);
  expect(countOf(ScheduledCall)).toBe(0);
});

test('ids and keys without calls are forgotten as others come', async () => {
  const { run, time, scheduler } = scene();
  for (let i = 0; i < 400; i++) {
    quiet(run('user', [{ limit: 'PerUser', id: `${i}` }]), run('key', on('Other'), { fair: `${i}` }));
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await time.pass(100);
  }
  await collectGarbage(() => countOf(Lane) < 150 && countOf(Flow) < 300);
  expect(countOf(Lane)).toBeLessThan(150);
  expect(countOf(Flow)).toBeLessThan(300);
  expect(scheduler.running).toBe(0);
});
