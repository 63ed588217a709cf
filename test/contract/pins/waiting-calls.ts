// Prints what waiting calls of a scheduler cost, by how many wait: the functions that a further call and an abort enter, and
// the bytes of each call. The arguments are `bytes` or `calls`, and how many wait at most.
import { Counter } from './counted.ts';

const [, , what, number] = process.argv;
const most = Number(number);
// It makes promises larger.
const counter = what === 'bytes' ? undefined : await Counter.make();
const { createLimiter, everyone } = await import('@sluice/core');
const { createScheduler } = await import('@sluice/core/scheduler');
const { FakeTime } = await import('@sluice/core/testing');

const entries = [{ limit: 'Api', id: 'everyone' }] as const;
const work = (): void => {};
const ignore = (): void => {};

function schedulerWith(waiting: number) {
  const limits = { Api: { key: everyone(), burst: 1, count: 1, period: '1s' } } as const;
  const scheduler = createScheduler(createLimiter({ limits, log: false, time: new FakeTime() }), {
    maxWaiting: 10_000_000,
  });
  const calls = Array.from({ length: waiting }, () => scheduler.run(entries, work));
  return { scheduler, calls };
}

/** The functions that a call with a key of its own enters, and then its abort. */
async function entered(waiting: number): Promise<readonly [run: number, abort: number]> {
  const { scheduler, calls } = schedulerWith(waiting);
  for (const call of calls) call.catch(ignore);
  let key = 0;
  const leaving: AbortController[] = [];
  const ran = await counter!.countedIn((done) => {
    const controller = new AbortController();
    const options = { fair: `${key++}`, within: '20s', signal: controller.signal } as const;
    scheduler.run(entries, work, options).catch(ignore);
    leaving.push(controller);
    done();
  });
  const aborted = await counter!.countedIn((done) => {
    leaving.shift()!.abort();
    done();
  });
  return [ran.calls, aborted.calls];
}

function bytesOfEach(waiting: number): number {
  const warm = schedulerWith(1000);
  globalThis.gc!();
  const before = process.memoryUsage().heapUsed;
  const { calls } = schedulerWith(waiting);
  globalThis.gc!();
  const bytes = process.memoryUsage().heapUsed - before;
  for (const call of [...warm.calls, ...calls]) call.catch(ignore);
  // Each place in the array of promises has eight.
  return Math.round(bytes / waiting - 8);
}

const figures = what === 'bytes' ? bytesOfEach(most) : [await entered(most / 100), await entered(most)];
console.log(JSON.stringify(figures));
process.exit();
