import { checkFunction, checkOptions, wholeNumber, type Hints } from '../../checks/options.ts';
import { complaint, shown, type SluiceError } from '../../checks/errors.ts';
import { durationTicks, type Duration, type DurationRange } from '../../rule/duration.ts';
import { TICKS_PER_MS } from '../../rule/ticks.ts';
import { checkGiven, type OptionRow, type OptionTable } from '../../limits/option.ts';
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

/** Names that are no options of a load, with what to write instead. */
const LOAD_HINTS: Hints = {
  interval: 'How often the signal is read is `every` here.',
  sampleInterval: 'How often the signal is read is `every` here.',
  maxEventLoopUtilization: 'The utilization above which the level rises is `busy` here.',
  maxEventLoopDelay: 'has no counterpart: the signal is the utilization of the event loop, see `busy`.',
};

/** The same in files, which have all options but the function. */
export const FILE_HINTS: Hints = {
  ...LOAD_HINTS,
  enabled: '`enabled` is a function, so it is given in code. In a file, switch the limit off by disabled: true.',
};

/** The options that are durations. */
type LoadTime = 'rise' | 'fall' | 'every';

/** The demand of `classes`. */
const CLASSES = {
  type: 'whole number',
  min: 1,
  max: 100,
  example: '4',
  remedy: 'For example classes: 4. For one class for each share, leave it out.',
} as const;

const RANGES: Readonly<Record<LoadTime, DurationRange>> = {
  rise: { minMs: 500, maxMs: 600_000, demand: 'from 500 ms to 10 minutes' },
  fall: { minMs: 1000, maxMs: 3_600_000, demand: 'from 1 second to 1 hour' },
  every: { minMs: 100, maxMs: 60_000, demand: 'from 100 ms to 60 seconds' },
};

const DEAD_ZONE = 'For example calm: 0.7, busy: 0.8. The level stays while the signal is between them.';

const signal = (about: string, example: string): OptionRow => ({
  about,
  value: { type: 'fraction', below: 1, demand: 'a number above 0 and below 1', example, remedy: DEAD_ZONE },
});

/** The options of a load that files may have: all but the function. */
export const LOAD_ROWS: OptionTable<Omit<LoadOptions, 'enabled'>> = {
  calm: signal('The utilization of the event loop below which the level falls. Default: 0.7.', '0.7'),
  busy: signal('The utilization of the event loop above which the level rises. Default: 0.8.', '0.8'),
  rise: {
    about: 'In how long the level rises from 0 to 1 at a utilization of 1, from 500ms to 10m. Default: 3s.',
    value: { type: 'duration', range: RANGES.rise, examples: ['500ms', '3s', '1m'] },
  },
  fall: {
    about: 'In how long the level falls from 1 to 0, from 1s to 1h. Default: 60s.',
    value: { type: 'duration', range: RANGES.fall, examples: ['10s', '1m', '5m'] },
  },
  every: {
    about: 'How often the utilization is read, from 100ms to 60s, at most rise. Default: 250ms.',
    value: { type: 'duration', range: RANGES.every, examples: ['100ms', '250ms', '1s'] },
  },
  classes: {
    about: 'In how many classes of equal width requests are shed, by their share. Default: one for each share.',
    value: CLASSES,
  },
};

const NAMES = [...Object.keys(LOAD_ROWS), 'enabled'];

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
  checkGiven({ calm: LOAD_ROWS.calm, busy: LOAD_ROWS.busy }, where, options);
  if (calm >= busy) throw noDeadZone(where, calm, busy);
  const riseMs = checkedMs(`${where}.rise`, 'rise', rise);
  const everyMs = checkedMs(`${where}.every`, 'every', every);
  if (everyMs > riseMs) throw tooSeldom(where, every, rise);
  checkFunction(`${where}.enabled`, enabled, "For example enabled: () => flags.isOn('shed-load').");
  return {
    ramp: { calm, busy, riseMs, fallMs: checkedMs(`${where}.fall`, 'fall', fall) },
    everyMs,
    classes: classes === undefined ? undefined : wholeNumber(`${where}.classes`, classes, CLASSES),
    isEnabled: enabled,
  };
}

function checkedMs(option: string, name: LoadTime, value: unknown): number {
  return durationTicks(option, value, RANGES[name]) / TICKS_PER_MS;
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
