import type { Limiter, Log } from '@sluice/core';
import { checkOptions, complaint, wholeNumber } from '@sluice/core/limits';
import { notifier } from '@sluice/core/store';
import { RememberedLimits, type LoadedLimits, type Recipe } from '../loaded-limits.ts';
import type { LimitFilesEvent } from './limit-files-event.ts';
import { LiveLimits } from './live-limits.ts';

/** The options of {@link watchLimits}. */
export interface WatchOptions {
  /**
   * How often to look whether the sources have changed, in milliseconds, a whole number from 100 to 86,400,000; `false`
   * for never, only on {@link LiveLimits.reload}. Of files only what the file system says of them is looked at, so that
   * it costs nothing; functions are asked each time. Default: 500 for files alone, `false` where there is a function.
   */
  readonly everyMs?: number | false | undefined;
  /** Told of everything that happens. What it throws is ignored. */
  readonly onEvent?: ((event: LimitFilesEvent) => void) | undefined;
  /** Where log lines go; `false` for nowhere. Default: `console.warn`. What it throws is ignored. */
  readonly log?: Log | false | undefined;
}

const FILES_EVERY_MS = 500;

/**
 * Follows the sources of a limiter's limits:
 *
 *     const live = watchLimits(limiter, loaded);
 *
 * What they say is checked whole and swapped at once; with a problem the limits that held go on, and it is said once.
 * It never keeps the process alive.
 *
 * @throws {SluiceError} `ERR_OPTION` or `ERR_UNKNOWN_OPTION` for wrong options, and for what is no limiter or was not
 * given by `loadLimits`.
 */
export function watchLimits<Request>(
  limiter: Limiter<Request>,
  loaded: LoadedLimits<Request>,
  options: WatchOptions = {},
): LiveLimits<Request> {
  checkOptions('watchLimits', options, ['everyMs', 'onEvent', 'log']);
  if (typeof limiter?.replace !== 'function') {
    throw complaint('ERR_OPTION', { option: 'limiter', demand: 'made by createLimiter', value: limiter });
  }
  const recipe = RememberedLimits.recipeOf(loaded);
  if (recipe === undefined) {
    const remedy = 'Give what it gave, not a copy.';
    throw complaint('ERR_OPTION', { option: 'loaded', demand: 'what loadLimits gave', value: loaded, remedy });
  }
  const { onEvent, log } = options;
  notifier({ onEvent, log });
  // A notifier of its own for each event: none is held back because another came shortly before.
  const tell = (event: LimitFilesEvent): void => notifier<LimitFilesEvent>({ onEvent, log })(event);
  return new LiveLimits({ limiter, loaded, recipe, everyMs: everyMsOf(options, recipe), tell });
}

function everyMsOf<Request>({ everyMs }: WatchOptions, { read }: Recipe<Request>): number | false {
  const hasFunction = read.defaults.isFunction || read.overrides?.isFunction === true;
  if (everyMs === undefined) return hasFunction ? false : FILES_EVERY_MS;
  if (everyMs === false) return false;
  const remedy = 'Use false to reload on call only.';
  return wholeNumber('everyMs', everyMs, { min: 100, max: 86_400_000, remedy });
}
