import { checkOptions, isPlainObject, wholeNumber } from '../checks/options.ts';
import { complaint } from '../checks/errors.ts';
import type { RunOptions } from '../limiter/run-options.ts';
import type { TrueCosts } from '../limiter/settlement.ts';
import { checkSignal } from '../limiter/spend-options.ts';
import { durationTicks, type Duration } from '../rule/duration.ts';
import { TICKS_PER_MICRO } from '../rule/ticks.ts';
import { HIGHEST } from './lane.ts';

/** The options of {@link Scheduler.run}. */
export interface ScheduleOptions<T, Costs = TrueCosts> extends RunOptions<T, Costs> {
  /**
   * Calls of a higher priority begin first: a whole number from −10 to 10. A call that has waited for half of its `within`
   * counts as 10. Default: 0.
   */
  readonly priority?: number | undefined;
  /**
   * Whose call it is, such as a tenant or a job. Of calls with one priority for the same buckets, those of the key that has
   * had the least, by costs, begin first. A key without calls for a second starts anew. Default: one key for all calls.
   */
  readonly fair?: string | undefined;
  /** How long the call may wait: a duration from 1 ms to 7 days. Default: 30 seconds. */
  readonly within?: Duration | undefined;
  /**
   * Any object, the same for all tries of one call: each after the first has the place of the first among the calls of its
   * `fair` key, and its `within` began with the first. Default: each try is a call of its own.
   */
  readonly place?: object | undefined;
}

const NAMES = ['priority', 'fair', 'signal', 'within', 'settle', 'place'];
const WITHIN = { minMs: 1, maxMs: 7 * 86_400_000, demand: "from '1ms' to '7d'" };
const DEFAULT_WITHIN_MICROS = 30_000_000;

/** The options of a call, checked. */
export interface CheckedOptions {
  readonly priority: number;
  readonly fair: string;
  readonly withinMicros: number;
  readonly place: object | undefined;
}

const DEFAULTS: CheckedOptions = { priority: 0, fair: '', withinMicros: DEFAULT_WITHIN_MICROS, place: undefined };

/** @throws {SluiceError} `ERR_OPTION`, `ERR_UNKNOWN_OPTION`, `ERR_DURATION`. */
export function checkedOptions(options: ScheduleOptions<never> | undefined): CheckedOptions {
  if (options === undefined) return DEFAULTS;
  checkOptions('run', options, NAMES);
  const { priority = 0, fair = '', within, signal, place } = options;
  wholeNumber('run.priority', priority, { min: -HIGHEST, max: HIGHEST });
  if (typeof fair !== 'string') throw badKey(fair);
  checkSignal('run.signal', signal);
  if (place !== undefined && !isPlainObject(place)) throw badPlace(place);
  const withinMicros =
    within === undefined ? DEFAULT_WITHIN_MICROS : durationTicks('run.within', within, WITHIN) / TICKS_PER_MICRO;
  return { priority, fair, withinMicros, place };
}

function badKey(value: unknown): Error {
  const remedy = "It is a key, for example fair: 'tenant-7'.";
  return complaint('ERR_OPTION', { option: 'run.fair', demand: 'a string', value, remedy });
}

function badPlace(value: unknown): Error {
  const remedy = 'Pass the same object to each try of a call, for example const place = {}.';
  return complaint('ERR_OPTION', { option: 'run.place', demand: 'an object', value, remedy });
}
