import { complaint } from '../checks/errors.ts';
import { checkBoolean, checkOptions } from '../checks/options.ts';
import { durationTicks, type Duration } from '../rule/duration.ts';
import { MAX_TOLERANCE_TICKS, TICKS_PER_MS } from '../rule/ticks.ts';
import { dueIn, type Time } from '../time/time.ts';

/** The options of {@link Limiter.spend}. */
export interface SpendOptions {
  /**
   * Holds slots: concurrency limits may be among the entries. If the decision is allowed, it holds their slots until it is
   * released. Default: false, and a concurrency limit among the entries is then an error.
   */
  readonly hold?: boolean | undefined;
  /**
   * Waits for the delay of the decision at limits with `maxWait`, see `Limiter.spend`. With `hold`, the slots are taken
   * together with the tokens, and are held during the wait. Default: false.
   */
  readonly wait?: boolean | undefined;
  /**
   * When the caller gives up: after so many milliseconds, any number, or a duration such as `'2s'`. What could begin only then
   * is denied at once, takes nothing, and has the `reason` `deadline`. Default: the caller waits.
   */
  readonly within?: Duration | undefined;
  /**
   * The caller lets the request through whatever the decision, which is counted and reported so. Default: false.
   */
  readonly shadow?: boolean | undefined;
  /**
   * Aborting it ends the call, also without `wait`: what was taken is given back, and the call rejects with the reason of
   * the signal.
   */
  readonly signal?: AbortSignal | undefined;
}

/** The options of {@link Limiter.spendSync}. */
export type SpendSyncOptions = Pick<SpendOptions, 'hold' | 'within' | 'shadow'>;

/** What a decision needs of the options of a `spend`. */
export interface Spent extends Pick<SpendOptions, 'shadow'> {
  /** When its caller gives up, on the clock of the limiter. */
  readonly dueMicros?: number | undefined;
}

/**
 * @param options - Valid ones, but for `within`.
 * @throws {SluiceError} `ERR_DURATION`.
 */
export function spentBy({ shadow, within }: SpendSyncOptions, time: Time): Spent {
  return { shadow, dueMicros: within === undefined ? undefined : dueIn(millisecondsOf(within), time) };
}

const WITHIN = { minMs: 0, maxMs: MAX_TOLERANCE_TICKS / TICKS_PER_MS, demand: 'of at most ten years' };

/** A number is often what is left of another deadline, so that any number is one of milliseconds. */
function millisecondsOf(within: unknown): number {
  const isNumber = typeof within === 'number' && !Number.isNaN(within);
  return isNumber ? within : durationTicks('spend.within', within, WITHIN) / TICKS_PER_MS;
}

/** @throws {SluiceError} `ERR_OPTION`, `ERR_UNKNOWN_OPTION`. */
export function checkSpendOptions(options: SpendOptions): void {
  checkOptions('spend', options, ['hold', 'wait', 'within', 'shadow', 'signal']);
  checkBoolean('spend.hold', options.hold);
  checkBoolean('spend.wait', options.wait);
  checkBoolean('spend.shadow', options.shadow);
  checkSignal('spend.signal', options.signal);
}

/** @throws {SluiceError} `ERR_OPTION`, `ERR_UNKNOWN_OPTION`: also for `wait`, which takes time. */
export function checkSpendSyncOptions(options: SpendSyncOptions): void {
  const remedy = 'A decision at once is not waited for: use `await spend(…)`.';
  checkOptions('spendSync', options, ['hold', 'within', 'shadow'], { wait: remedy, signal: remedy });
  checkBoolean('spendSync.hold', options.hold);
  checkBoolean('spendSync.shadow', options.shadow);
}

/** @throws {SluiceError} `ERR_OPTION` for a value that is not a signal. */
export function checkSignal(option: string, signal: unknown): void {
  const given = signal as Partial<AbortSignal> | null | undefined;
  if (given === undefined || typeof given?.addEventListener === 'function') return;
  throw complaint('ERR_OPTION', {
    option,
    demand: 'an AbortSignal',
    value: signal,
    remedy: 'For example AbortSignal.timeout(1000), or the signal of an AbortController.',
  });
}
