import { checkFunction, checkOptions, wholeNumber, type Hints } from '../checks/options.ts';
import { complaint, shown, type SluiceError } from '../checks/errors.ts';
import { durationTicks, type Duration, type DurationRange } from '../rule/duration.ts';
import { TICKS_PER_MS } from '../rule/ticks.ts';
import type { Ramp } from './ramp.ts';

/** The options of `eventLoop` and `loadFrom`. */
export interface LoadOptions {
  /** Below this signal the level falls. Above 0, and below `busy`. Default: 0.7. */
  readonly calm?: number | undefined;
  /** Above this signal the level rises. Below 1. Default: 0.8. */
  readonly busy?: number | undefined;
  /**
   * In how long the level rises from 0 to 1 at a signal of 1. It takes five times as long at a signal just above `busy`.
   * From 500 ms to 10 minutes. Default: `'3s'`.
   */
  readonly rise?: Duration | undefined;
  /** In how long the level falls from 1 to 0, whatever the signal below `calm`. From 1 s to 1 hour. Default: `'60s'`. */
  readonly fall?: Duration | undefined;
  /** How often the signal is read. From 100 ms to 60 s, at most `rise`. Default: `'250ms'`. */
  readonly every?: Duration | undefined;
  /**
   * In how many classes of equal width requests are shed, one after the other, by their `share`: a whole number from 1 to
   * 100. Default: one class for each different share that requests have had, up to 10.
   */
  readonly classes?: number | undefined;
  /**
   * The kill switch: called at each reading of the signal, and while it returns false the level is 0, so that
   * nothing is shed. When it returns true again, the level rises from 0. For example a flag that an operator can change.
   */
  readonly enabled?: (() => boolean) | undefined;
}

/** Valid options, with the defaults. */
export interface LoadSettings {
  readonly ramp: Ramp;
  readonly everyMs: number;
  readonly classes: number | undefined;
  readonly isEnabled: (() => unknown) | undefined;
}

const NAMES = ['calm', 'busy', 'rise', 'fall', 'every', 'classes', 'enabled'] as const;

/** Names that are no options of a load, with what to write instead. */
export const LOAD_HINTS: Hints = {
  interval: 'How often the signal is read is `every` here.',
  sampleInterval: 'How often the signal is read is `every` here.',
  maxEventLoopUtilization: 'The utilization above which the level rises is `busy` here.',
  maxEventLoopDelay: 'has no counterpart: the signal is the utilization of the event loop, see `busy`.',
};

/** The largest number of classes. */
export const MAX_CLASSES = 100;

/** The options that are durations. */
type LoadTime = 'rise' | 'fall' | 'every';

const CLASSES_REMEDY = 'For example classes: 4. For one class for each share, leave it out.';

const RANGES: Readonly<Record<LoadTime, DurationRange>> = {
  rise: { minMs: 500, maxMs: 600_000, demand: 'from 500 ms to 10 minutes' },
  fall: { minMs: 1000, maxMs: 3_600_000, demand: 'from 1 second to 1 hour' },
  every: { minMs: 100, maxMs: 60_000, demand: 'from 100 ms to 60 seconds' },
};

/**
 * Validates the options of a load.
 *
 * @param where - The name of the function in error messages: `eventLoop`.
 * @throws {SluiceError} `ERR_OPTION`, `ERR_UNKNOWN_OPTION` or `ERR_DURATION`.
 */
export function loadSettings(where: string, options: LoadOptions): LoadSettings {
  checkOptions(
    where,
    options,
    NAMES,
    LOAD_HINTS,
    `${where === 'eventLoop' ? 'eventLoop(' : `${where}(fn, `}{ busy: 0.8 })`,
  );
  const { calm = 0.7, busy = 0.8, rise = '3s', fall = '60s', every = '250ms', classes, enabled } = options;
  checkSignal(`${where}.calm`, calm);
  checkSignal(`${where}.busy`, busy);
  if (calm >= busy) throw noDeadZone(where, calm, busy);
  const riseMs = checkedLoadMs(`${where}.rise`, 'rise', rise);
  const everyMs = checkedLoadMs(`${where}.every`, 'every', every);
  if (everyMs > riseMs) throw tooSeldom(where, every, rise);
  checkFunction(`${where}.enabled`, enabled, "For example enabled: () => flags.isOn('shed-load').");
  return {
    ramp: { calm, busy, riseMs, fallMs: checkedLoadMs(`${where}.fall`, 'fall', fall) },
    everyMs,
    classes:
      classes === undefined
        ? undefined
        : wholeNumber(`${where}.classes`, classes, { min: 1, max: MAX_CLASSES, remedy: CLASSES_REMEDY }),
    isEnabled: enabled,
  };
}

/**
 * Validates `rise`, `fall` or `every` of a load, and returns it in milliseconds.
 *
 * @param option - Its path in error messages: `eventLoop.rise`.
 * @throws {SluiceError} `ERR_DURATION` for a value that is not a duration in its range.
 */
export function checkedLoadMs(option: string, name: LoadTime, value: unknown): number {
  return durationTicks(option, value, RANGES[name]) / TICKS_PER_MS;
}

/**
 * Validates `calm` or `busy` of a load.
 *
 * @throws {SluiceError} `ERR_OPTION` for a value that is not a number above 0 and below 1.
 */
export function checkSignal(option: string, value: unknown): void {
  if (typeof value === 'number' && value > 0 && value < 1) return;
  const remedy = 'For example calm: 0.7, busy: 0.8. The level stays while the signal is between them.';
  throw complaint('ERR_OPTION', { option, demand: 'a number above 0 and below 1', value, remedy });
}

function noDeadZone(where: string, calm: number, busy: number): SluiceError {
  const remedy = 'The level stays while the signal is between them. For example calm: 0.7, busy: 0.8.';
  return complaint('ERR_OPTION', { option: `${where}.calm`, demand: `below \`busy\`, ${busy}`, value: calm, remedy });
}

function tooSeldom(where: string, every: Duration, rise: Duration): SluiceError {
  const remedy = 'Otherwise one reading would move the level from 0 to 1. Shorten `every`, or lengthen `rise`.';
  return complaint('ERR_OPTION', {
    option: `${where}.every`,
    demand: `at most \`rise\`, ${shown(rise)}`,
    value: every,
    remedy,
  });
}
