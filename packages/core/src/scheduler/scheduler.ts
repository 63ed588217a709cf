// The room scheduler: orders calls to an API that limits us, and takes their tokens late.
import type { SpendEntry } from '../limiter/entry.ts';
import type { Limiter } from '../limiter/limiter.ts';
import type { Work } from '../limiter/run-options.ts';
import type { TrueCosts } from '../limiter/settlement.ts';
import type { Duration } from '../rule/duration.ts';
import type { ScheduleOptions } from './schedule-options.ts';

/** The options of {@link createScheduler}. */
export interface SchedulerOptions {
  /**
   * How long before its turn a call may take its tokens, up to a minute: a duration, also `'0ms'`. What is taken can't be
   * given to a more urgent call, nor held back when an API answers 429; longer ones ask a store on another machine less often. At
   * a limit with `maxWait`, it is that, where that is shorter. Default: 50 ms.
   */
  readonly ahead?: Duration | undefined;
  /** How many calls may wait: a whole number from 1 to 10,000,000. Default: 10,000. */
  readonly maxWaiting?: number | undefined;
}

/**
 * Orders calls that wait for the limits of a limiter. Created by {@link createScheduler}.
 *
 * Calls wait in this process, and only those that may begin are decided in the store: by priority, then by what each `fair`
 * key has had, then first come, first served. A call does not wait for one before it that waits for another limit or id.
 */
export interface Scheduler<Name extends string = string> {
  /** The limiter whose limits the calls wait for. */
  readonly limiter: Limiter<never, Name>;
  /**
   * Does work when the limits allow it, and returns its value. Rates, quotas and concurrency limits are decided together, as
   * by `Limiter.run`: slots are released when the work has ended, and costs are settled.
   *
   *     await scheduler.run([{ limit: 'Api', id: 'everyone' }], () => fetch(url), { priority: 5 });
   *
   * @param entries - As of `Limiter.run`.
   * @param work - If it throws or rejects, `run` rejects with the same error.
   * @throws {SluiceError} {@link SchedulerError} when the call was not begun; `ERR_NESTED` inside of work that holds a slot
   * of one of the same concurrency limits and ids; the errors of `Limiter.run`; and the reason of the signal when it is
   * aborted before the work begins.
   */
  run<T>(
    entries: readonly SpendEntry<Name>[],
    work: Work<T>,
    options?: ScheduleOptions<T, TrueCosts<Name>>,
  ): Promise<T>;
  /**
   * Returns a function that does the same as `work`, when the limits allow it.
   *
   *     const limitedFetch = scheduler.wrap([{ limit: 'Api', id: 'everyone' }], fetch);
   *
   * @typeParam F - The type of `work`, and of what is returned.
   * @param entries - Those of {@link Scheduler.run}, or a function that returns them for the arguments of a call.
   */
  wrap<F extends (...args: never[]) => unknown>(
    entries: readonly SpendEntry<Name>[] | ((...args: Parameters<F>) => readonly SpendEntry<Name>[]),
    work: F,
    options?: ScheduleOptions<Awaited<ReturnType<F>>, TrueCosts<Name>>,
  ): (...args: Parameters<F>) => Promise<Awaited<ReturnType<F>>>;
  /** How many calls wait. */
  readonly size: number;
  /** How many calls have begun, and have not ended. */
  readonly running: number;
  /** Resolves when no call waits, and none runs. */
  idle(): Promise<void>;
  /** Begins no further calls, but those whose tokens are taken already. They wait, and their `within` keeps running. */
  pause(): void;
  /** Begins calls again, after {@link Scheduler.pause}. */
  resume(): void;
  /**
   * Closes the scheduler, not the limiter: later calls are errors with the reason `closed`, and so are the calls that wait.
   * With `drain: true` these are begun first, also while it is paused.
   *
   * @returns A promise that resolves when no call runs.
   */
  close(options?: { readonly drain?: boolean | undefined }): Promise<void>;
}
