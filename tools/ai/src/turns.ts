import type { Decision, Duration, Limiter, SpendEntry } from '@sluice/core';
import { complaint, durationTicks, wholeNumber } from '@sluice/core/kit';
import type { Scheduler } from '@sluice/core/scheduler';

/** What lets the calls of a budget begin: a limiter, which denies them, or a scheduler, in which they wait. */
export interface TurnOptions<Name extends string, Args extends readonly unknown[]> {
  /** Decides the calls. Exactly one of `limiter` and `scheduler` is given. */
  readonly limiter?: Limiter<never, Name> | undefined;
  /**
   * In place of `limiter`: calls wait for their turns at its limits. One that is not begun in time rejects with a
   * `SchedulerError`.
   */
  readonly scheduler?: Scheduler<Name> | undefined;
  /** With a scheduler: from −10 to 10; higher ones begin first. A function is called with the arguments of the call. Default: 0. */
  readonly priority?: number | ((...args: Args) => number | undefined) | undefined;
  /** With a scheduler: whose call it is, such as a tenant. Of one priority, the key that has had the least comes next. */
  readonly fair?: string | ((...args: Args) => string | undefined) | undefined;
  /** With a scheduler: how long a call may wait: a duration from 1 ms to 7 days. Default: 30 seconds. */
  readonly within?: Duration | undefined;
}

export const TURN_OPTIONS = ['limiter', 'scheduler', 'priority', 'fair', 'within'] as const;
const WITHIN = { minMs: 1, maxMs: 7 * 86_400_000, demand: "from '1ms' to '7d'" };

/** The turns of calls in a scheduler. */
export class Turns<Args extends readonly unknown[]> {
  readonly #scheduler: Scheduler;
  readonly #options: TurnOptions<string, Args>;

  constructor(scheduler: Scheduler, options: TurnOptions<string, Args>) {
    this.#scheduler = scheduler;
    this.#options = options;
  }

  /**
   * Waits for the turn of a call, and begins it.
   *
   * @param begin - What it calls at the end of the call gives slots on, and lets the next call take what was given back.
   * @throws {SluiceError} Rejects with the errors of `Scheduler.run`, and with the reason of the signal.
   */
  take<Result>(
    entries: readonly SpendEntry[],
    args: Args,
    signal: AbortSignal | undefined,
    begin: (decision: Decision, ended: () => void) => Promise<Result>,
  ): Promise<Result> {
    const { priority, fair, within } = this.#options;
    const options = {
      priority: typeof priority === 'function' ? priority(...args) : priority,
      fair: typeof fair === 'function' ? fair(...args) : fair,
      within,
      signal,
      // The call settles itself. With a function the scheduler knows that tokens may come back.
      settle: () => undefined,
    };
    return new Promise((resolve, reject) => {
      const work = (decision: Decision): Promise<void> =>
        new Promise((ended) => {
          resolve(begin(decision, ended));
        });
      this.#scheduler.run(entries, work, options).catch(reject);
    });
  }
}

/**
 * Returns the limiter of a budget, and its turns if it has a scheduler.
 *
 * @throws {SluiceError} `ERR_OPTION`, `ERR_DURATION`.
 */
export function checkedTurns<Args extends readonly unknown[]>(
  of: string,
  options: TurnOptions<string, Args> & { readonly wait?: unknown; readonly retry?: unknown },
): { limiter: Limiter; turns: Turns<Args> | undefined } {
  const { limiter, scheduler, priority, fair, within } = options;
  if (scheduler === undefined) {
    if (limiter === undefined) throw noLimiter(`${of}.limiter`);
    refuse(
      of,
      options,
      ['priority', 'fair', 'within'],
      'where no `scheduler` is given',
      'Give a scheduler to let calls wait',
    );
    return { limiter, turns: undefined };
  }
  if (typeof scheduler?.run !== 'function' || scheduler.limiter === undefined) throw noScheduler(of, scheduler);
  refuse(of, options, ['limiter'], 'beside `scheduler`', 'The scheduler has a limiter');
  refuse(of, options, ['wait', 'retry'], 'beside `scheduler`', 'There each call waits for its turn');
  if (typeof priority !== 'function') wholeNumber(`${of}.priority`, priority ?? 0, { min: -10, max: 10 });
  if (fair !== undefined && typeof fair !== 'string' && typeof fair !== 'function') throw noKey(of, fair);
  if (within !== undefined) durationTicks(`${of}.within`, within, WITHIN);
  return { limiter: scheduler.limiter, turns: new Turns(scheduler, options) };
}

function refuse(of: string, options: object, names: readonly string[], where: string, reason: string): void {
  for (const name of names) {
    const value = (options as Record<string, unknown>)[name];
    if (value === undefined) continue;
    const remedy = `${reason}: remove \`${name}\`${name === 'limiter' ? ', or `scheduler`' : ''}.`;
    throw complaint('ERR_OPTION', { option: `${of}.${name}`, demand: `left out ${where}`, value, remedy });
  }
}

function noLimiter(option: string): Error {
  const remedy = 'Make one with createLimiter, or give a `scheduler`, in which calls wait.';
  return complaint('ERR_OPTION', { option, demand: 'a limiter', value: undefined, remedy });
}

function noScheduler(of: string, value: unknown): Error {
  const remedy = `Make one with createScheduler(limiter): ${of}({ scheduler, limits: { Requests: 1 } }).`;
  return complaint('ERR_OPTION', { option: `${of}.scheduler`, demand: 'a scheduler', value, remedy });
}

function noKey(of: string, value: unknown): Error {
  const remedy = "For example fair: 'tenant-7', or a function of the call.";
  return complaint('ERR_OPTION', { option: `${of}.fair`, demand: 'a text or a function', value, remedy });
}
