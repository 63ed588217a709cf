import { checkBoolean, checkFunction, checkOptions, wholeNumber } from '../checks/options.ts';
import { SluiceError } from '../checks/errors.ts';
import { checkCostFits } from '../decision/batch.ts';
import { andThen } from '../async/awaitable.ts';
import { coreOf } from '../limiter/create-limiter.ts';
import { checkedEntries } from '../limiter/entries.ts';
import type { SpendEntry } from '../limiter/entry.ts';
import type { Limiter } from '../limiter/limiter.ts';
import type { LimiterCore } from '../limiter/limiter-core.ts';
import { checkWork } from '../limiter/run.ts';
import type { RunOptions, Work } from '../limiter/run-options.ts';
import type { ScheduledCalls, ScheduledCount } from '../limiter/scheduled-calls.ts';
import { durationTicks } from '../rule/duration.ts';
import { TICKS_PER_MICRO } from '../rule/ticks.ts';
import type { Ahead } from './ahead.ts';
import { currentContext } from './async-context.ts';
import { Dispatcher } from './dispatcher.ts';
import { Nesting } from './nesting.ts';
import { checkedOptions, type ScheduleOptions } from './schedule-options.ts';
import { ScheduledCall } from './scheduled-call.ts';
import { scheduledIn } from './scheduled-counts.ts';
import type { Scheduler, SchedulerOptions } from './scheduler.ts';
import { SchedulerError } from './scheduler-error.ts';

const DEFAULT_MAX_WAITING = 10_000;
const AHEAD = { minMs: 0, maxMs: 60_000, demand: "from '0ms' to '1m'" };
const EXAMPLE = 'createScheduler(limiter)';

/**
 * Creates a scheduler of the calls that a limiter limits: for calls to an API that limits you.
 *
 *     const scheduler = createScheduler(limiter);
 *     const answer = await scheduler.run([{ limit: 'Api', id: 'everyone' }], () => fetch(url));
 *
 * @throws {SluiceError} For a wrong option; `ERR_OPTION` when the value is not a limiter; `ERR_RUNTIME` where timers end with
 * their requests, as in Workers: calls that wait there would never begin.
 */
export function createScheduler<Name extends string>(
  limiter: Limiter<never, Name>,
  options: SchedulerOptions = {},
): Scheduler<Name> {
  const core = coreOf(limiter as unknown as Limiter<never>);
  checkOptions('createScheduler', options, ['ahead', 'maxWaiting'], {}, EXAMPLE);
  const { ahead = '50ms', maxWaiting = DEFAULT_MAX_WAITING } = options;
  if (core.time.timersEndWithRequest === true) throw withoutTimers();
  return new LimiterScheduler(core, {
    ahead: {
      micros: durationTicks('createScheduler.ahead', ahead, AHEAD) / TICKS_PER_MICRO,
      isGiven: options.ahead !== undefined,
    },
    maxWaiting: wholeNumber('createScheduler.maxWaiting', maxWaiting, { min: 1, max: 10_000_000 }),
  });
}

class LimiterScheduler implements Scheduler, ScheduledCalls {
  readonly limiter: Limiter<never>;
  readonly #limiter: LimiterCore<never>;
  readonly #maxWaiting: number;
  readonly #nesting = new Nesting();
  readonly #dispatcher: Dispatcher;
  /** The first tries of calls that may be tried again. */
  readonly #places = new WeakMap<object, Pick<ScheduledCall, 'number' | 'cameMicros'>>();
  #idleListeners: (() => void)[] = [];
  #number = 0;
  #isClosed = false;

  constructor(limiter: LimiterCore<never>, { ahead, maxWaiting }: { ahead: Ahead; maxWaiting: number }) {
    this.limiter = limiter;
    this.#limiter = limiter;
    this.#maxWaiting = maxWaiting;
    this.#dispatcher = new Dispatcher({ limiter, ahead, idle: () => this.#noteIdle() });
    limiter.schedulers.add(this);
  }

  get size(): number {
    return this.#dispatcher.size;
  }

  get running(): number {
    return this.#dispatcher.running;
  }

  // As an async function does it, without a promise more.
  run<T>(entries: readonly SpendEntry[], work: Work<T>, options?: ScheduleOptions<T>): Promise<T> {
    try {
      return this.#schedule(entries, work, options);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  wrap<F extends (...args: never[]) => unknown>(
    entries: readonly SpendEntry[] | ((...args: Parameters<F>) => readonly SpendEntry[]),
    work: F,
    options?: ScheduleOptions<Awaited<ReturnType<F>>>,
  ): (...args: Parameters<F>) => Promise<Awaited<ReturnType<F>>> {
    const entriesOf = typeof entries === 'function' ? entries : () => entries;
    const whenItMay = (...args: Parameters<F>): Promise<unknown> =>
      this.run(entriesOf(...args), () => work(...args), options as ScheduleOptions<unknown>);
    return whenItMay as (...args: Parameters<F>) => Promise<Awaited<ReturnType<F>>>;
  }

  async idle(): Promise<void> {
    if (this.size > 0 || this.running > 0) await new Promise<void>((resolve) => this.#idleListeners.push(resolve));
  }

  pause(): void {
    this.#dispatcher.pause();
  }

  resume(): void {
    this.#dispatcher.resume();
  }

  async close(options: { readonly drain?: boolean | undefined } = {}): Promise<void> {
    checkOptions('close', options, ['drain']);
    checkBoolean('close.drain', options.drain);
    this.#isClosed = true;
    if (options.drain === true) this.resume();
    else this.#dispatcher.removeAll(() => new SchedulerError('closed'));
    await this.idle();
    this.#limiter.schedulers.delete(this);
  }

  scheduled(): ReadonlyMap<string, ScheduledCount> {
    return scheduledIn(this.#dispatcher.lanes.all, this.#limiter.time.nowMicros());
  }

  #schedule<T>(entries: readonly SpendEntry[], work: Work<T>, options: ScheduleOptions<T> | undefined): Promise<T> {
    checkWork(work);
    checkFunction(
      'run.settle',
      options?.settle,
      'It returns true costs, for example settle: (answer) => ({ Tokens: answer?.tokens }).',
    );
    checkedEntries(entries);
    const { priority, fair, withinMicros, place } = checkedOptions(options);
    if (options?.signal?.aborted === true) throw options.signal.reason;
    if (this.#isClosed) throw new SchedulerError('closed');
    const dispatcher = this.#dispatcher;
    const nowMicros = this.#limiter.time.nowMicros();
    const lane = dispatcher.lanes.of(entries, nowMicros);
    // oxlint-disable-next-line typescript/unbound-method -- only frames of the stack are compared with it
    const { run } = this;
    this.#nesting.check(lane, run);
    if (dispatcher.size >= this.#maxWaiting) throw new SchedulerError('maxWaiting');
    const kept = place === undefined ? undefined : this.#places.get(place);
    if (kept !== undefined && kept.cameMicros + withinMicros <= nowMicros) throw new SchedulerError('within');
    const call = new ScheduledCall({
      entries,
      work: this.#nesting.around(lane, run, work),
      options: (options ?? NO_OPTIONS) as RunOptions<unknown>,
      fair,
      priority,
      lane,
      number: kept?.number ?? this.#number++,
      cameMicros: kept?.cameMicros ?? nowMicros,
      withinMicros,
    });
    if (place !== undefined && kept === undefined) {
      const { number, cameMicros } = call;
      this.#places.set(place, { number, cameMicros });
    }
    const outcome = new Promise<unknown>((resolve) => (call.resolve = resolve));
    dispatcher.add(call);
    if (call.state !== 'begun') call.context = currentContext();
    if (call.state === 'waiting') this.#validate(call);
    return outcome as Promise<T>;
  }

  /** Rejects a call at once that the store would be asked for in vain. */
  #validate(call: ScheduledCall): void {
    const fail = (error: unknown): void => this.#dispatcher.abort(call, error);
    try {
      const checked = andThen(this.#limiter.heldBatchOf(call.entries), (batch) => batch.forEach(checkCostFits));
      if (checked instanceof Promise) checked.catch(fail);
    } catch (error) {
      fail(error);
    }
  }

  #noteIdle(): void {
    const listeners = this.#idleListeners;
    this.#idleListeners = [];
    for (const listener of listeners) listener();
  }
}

const NO_OPTIONS: RunOptions<unknown> = {};

function withoutTimers(): SluiceError {
  return new SluiceError(
    'ERR_RUNTIME',
    'A scheduler can not work in this runtime: its timers end with their requests, and calls that wait would never begin. ' +
      'Schedule the calls in a server, or in a Durable Object, whose limiter has a `time` of its own.',
  );
}
