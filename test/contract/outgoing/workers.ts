import { accountId, createLimiter, memoryStore } from '@sluice/core';
import { createScheduler, type Scheduler } from '@sluice/core/scheduler';
import { Learning } from '@sluice/outgoing';
import type { VirtualTime } from './virtual-time.ts';

/** What came of the calls of all workers. */
export interface Calls {
  /** How many passed in each window. */
  readonly passed: number[];
  /** How many were denied, by worker and window. */
  readonly denied: Map<string, Denials>;
}

/** How often a worker was denied in a window. */
interface Denials {
  readonly worker: number;
  readonly window: number;
  readonly times: number;
}

/** How many calls of each worker wait at any time. */
const DEMAND = 30;

/** What {@link callsOf} needs. */
export interface Parts {
  readonly time: VirtualTime;
  readonly port: number;
  /** Without `maxWait`: calls wait for the scheduler. */
  readonly api: { readonly burst: number; readonly count: number; readonly period: string };
  readonly workers: number;
  readonly windows: number;
  readonly windowMs: number;
  /** How long a request takes, and its answer. */
  readonly wayMs: number;
}

/**
 * Lets workers call a server for some windows, as fast as they may: each has a limiter, a scheduler and what it learns, as a
 * process has, on one store. They begin with one call each.
 */
export async function callsOf({ time, port, api, workers, windows, windowMs, wayMs }: Parts): Promise<Calls> {
  const calls: Calls = { passed: Array.from({ length: windows }, () => 0), denied: new Map() };
  const store = memoryStore({ time: time.fake });
  const startMs = time.fake.nowMs;
  const windowNow = () => Math.floor((time.fake.nowMs - startMs) / windowMs);
  const schedulers: Scheduler<'Api'>[] = [];
  const begun = Array.from({ length: workers }, (_, worker) => {
    const limits = { Api: { key: accountId(), ...api } };
    const limiter = createLimiter({ limits, store, time: time.fake, log: false });
    const scheduler = createScheduler(limiter);
    schedulers.push(scheduler);
    const learning = new Learning(limiter);
    const entries = [{ limit: 'Api', id: 'provider' }] as const;
    const once = () =>
      scheduler.run(
        entries,
        async () => {
          const call = await learning.begin(entries);
          await time.delay(wayMs);
          const { status, headers } = await time.ask(port);
          const answered = windowNow();
          await time.delay(wayMs);
          await call.answered({ status, headers: { get: (name) => headers[name] } });
          if (status === 429) countDenial(calls, worker, answered);
          else if (answered < windows) calls.passed[answered]!++;
        },
        { within: '1d' },
      );
    return { once };
  });
  for (const { once } of begun) {
    const forever = (): void => void once().then(forever, () => undefined);
    void once().then(() => {
      for (let i = 0; i < DEMAND; i++) forever();
    });
  }
  await time.pass(windows * windowMs);
  const open = new Set(schedulers);
  for (const scheduler of schedulers) void scheduler.close().then(() => open.delete(scheduler));
  // oxlint-disable-next-line no-await-in-loop -- until the last call is answered
  while (open.size > 0) await time.pass(1000);
  return calls;
}

function countDenial({ denied }: Calls, worker: number, window: number): void {
  const key = `${worker} in ${window}`;
  denied.set(key, { worker, window, times: (denied.get(key)?.times ?? 0) + 1 });
}
