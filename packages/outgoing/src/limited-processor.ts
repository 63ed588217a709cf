import type { Awaitable, Limiter, SpendEntry } from '@sluice/core';
import { complaint, isPlainObject, limitsOf, timeOf } from '@sluice/core/kit';
import { SchedulerError } from '@sluice/core/scheduler';

/** What {@link limitedProcessor} uses of a job of BullMQ 5 or 6. */
export interface LimitedJob {
  data: any;
  readonly attemptsMade: number;
  /** Replaces the data. */
  updateData(data: any): Promise<unknown>;
  /** Delays the job until a time in milliseconds since 1970. */
  moveToDelayed(timestamp: number, token?: string): Promise<unknown>;
}

/** A turn that a job has taken, in its data. */
interface Turn {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** For which attempt: a further one is a call of its own. */
  readonly attempt: number;
}

/** The name of the turn in the data of a job that is delayed. */
const TURN = 'sluiceTurn';

/**
 * A turn that is used later is void, and another one is taken: all turns that are late could be used at once, which would
 * exceed the limit.
 */
const LATE_MS = 1000;

/**
 * Returns a processor of BullMQ 5 and 6 that begins each job when the limits allow it. A job that is too early takes a turn, is
 * delayed until then, and uses none of its attempts:
 *
 *     const entriesOf = ({ data }) => [{ limit: 'PerCustomer', id: data.customer }];
 *     new Worker('calls', limitedProcessor(limiter, entriesOf, process), { connection });
 *
 * Give the limits a `maxWait` as long as jobs may have to wait, up to an hour: a job whose turn would come later comes back to
 * ask again. Slots of concurrency limits are taken when the job begins, and held until it has ended.
 *
 * @param entriesOf - Returns what a job takes: as of `Limiter.spend`.
 * @param process - The processor of the jobs. It gets the same arguments.
 * @returns A function that rejects with an error named `DelayedError` for a job that was delayed, as BullMQ demands, and with a
 * `SchedulerError` whose reason is `never` for a job of a blocked id, which BullMQ counts as a failed attempt.
 * @throws {SluiceError} `ERR_OPTION` when the limiter is not one, or the functions are not functions.
 */
export function limitedProcessor<Name extends string, Job extends LimitedJob, Rest extends readonly unknown[], Result>(
  limiter: Limiter<never, Name>,
  entriesOf: (job: Job) => Awaitable<readonly SpendEntry<Name>[]>,
  process: (job: Job, token?: string, ...rest: Rest) => Awaitable<Result>,
): (job: Job, token?: string, ...rest: Rest) => Promise<Result> {
  const time = timeOf(limiter);
  checkGiven('entriesOf', entriesOf, "For example (job) => [{ limit: 'PerCustomer', id: job.data.customer }].");
  checkGiven('process', process, 'It does the work of a job.');
  return async (job, token, ...rest) => {
    const turn = takenFrom(job);
    if (turn !== undefined && time.wallNow() < turn.at) return later(job, token, turn.at, turn);
    const entries = await entriesOf(job);
    // What is not an array is an error of the limiter.
    const isKept = turn !== undefined && time.wallNow() < turn.at + LATE_MS && Array.isArray(entries);
    const limits = limitsOf(limiter);
    const left = isKept ? entries.filter(({ limit }) => limits.get(limit)?.kind.level === 'held') : entries;
    if (Array.isArray(left) && left.length === 0) return process(job, token, ...rest);
    const decision = await limiter.spend(left, { hold: true });
    try {
      const { allowed, delayMs, retryAfterMs } = decision;
      if (retryAfterMs === Infinity) throw new SchedulerError('never');
      const at = time.wallNow() + Math.ceil(allowed ? delayMs : retryAfterMs);
      const taken = { at, attempt: job.attemptsMade };
      // Without a slot, it keeps the turn that it had.
      if (!allowed) return await later(job, token, at, isKept ? taken : undefined);
      if (delayMs > 0) {
        if (!isPlainObject(job.data)) {
          await limiter.refund(decision);
          throw noObject(job.data);
        }
        return await later(job, token, at, taken);
      }
      return await process(job, token, ...rest);
    } finally {
      await decision.release();
    }
  };
}

/** Takes the turn out of the data of a job, if it is one of this attempt. */
function takenFrom(job: LimitedJob): Turn | undefined {
  const { data } = job;
  if (!isPlainObject(data) || !(TURN in data)) return undefined;
  const { [TURN]: turn, ...own } = data;
  job.data = own;
  const taken = turn as Turn | null | undefined;
  return taken?.attempt === job.attemptsMade ? taken : undefined;
}

/** Delays a job. */
async function later(job: LimitedJob, token: string | undefined, at: number, turn: Turn | undefined): Promise<never> {
  if (turn !== undefined) await job.updateData({ ...job.data, [TURN]: turn });
  await job.moveToDelayed(at, token);
  const error = new Error('The job was delayed until its limits allow it.');
  // By this name BullMQ knows that it has not failed.
  error.name = 'DelayedError';
  throw error;
}

function checkGiven(name: string, value: unknown, remedy: string): void {
  if (typeof value === 'function') return;
  throw complaint('ERR_OPTION', { option: `limitedProcessor(${name})`, demand: 'a function', value, remedy });
}

function noObject(value: unknown): Error {
  const remedy = 'The turn of a job that waits is kept in it: write queue.add(name, { value }).';
  return complaint('ERR_OPTION', { option: 'job.data', demand: 'an object', value, remedy });
}
