import { SluiceError, type Limiter, type Log } from '@sluice/core';
import { checkOptions, complaint, limitsOf, wholeNumber, type Limit } from '@sluice/core/limits';
import { notifier } from '@sluice/core/store';
import { RememberedLimits, type LoadedLimits, type Recipe } from '../loaded-limits.ts';
import type { LimitFilesEvent } from './limit-files-event.ts';
import { hasFunction, LiveLimits } from './live-limits.ts';

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
 * The sources are all of the limiter's limits and overrides, from the start: what was loaded is given to it at once.
 *
 * @throws {SluiceError} `ERR_OPTION` or `ERR_UNKNOWN_OPTION` for wrong options, for what is no limiter or was not given
 * by `loadLimits`, and for a limiter that has other limits or keys; what `limiter.replace` throws.
 */
export function watchLimits<Request>(
  limiter: Limiter<Request>,
  loaded: LoadedLimits<Request>,
  options: WatchOptions = {},
): LiveLimits<Request> {
  checkOptions('watchLimits', options, ['everyMs', 'onEvent', 'log']);
  const held = limitsOf(limiter);
  const recipe = RememberedLimits.recipeOf(loaded);
  if (recipe === undefined) {
    const remedy = 'Pass the object that loadLimits returned, not a copy of it.';
    throw complaint('ERR_OPTION', { option: 'loaded', demand: 'the result of loadLimits', value: loaded, remedy });
  }
  checkSame(held, loaded);
  const { onEvent, log } = options;
  notifier({ onEvent, log });
  // A notifier of its own for each event: none is held back because another came shortly before.
  const tell = (event: LimitFilesEvent): void => notifier<LimitFilesEvent>({ onEvent, log })(event);
  const everyMs = everyMsOf(options, recipe);
  limiter.replace({ limits: loaded.limits, overrides: loaded.overrides });
  return new LiveLimits({ limiter, loaded, recipe, everyMs, tell });
}

// Limits that stand in code alone would be gone after the first reload, and nobody would be told.
function checkSame<Request>(held: ReadonlyMap<string, Limit<Request>>, { limits }: LoadedLimits<Request>): void {
  const names = new Set([...held.keys(), ...Object.keys(limits)]);
  const other = [...names].find((name) => held.get(name)?.key !== limits[name]?.key);
  if (other === undefined) return;
  const remedy = `Make the limiter with createLimiter({ ...loaded }). Put limits that are defined in code into another limiter.`;
  throw new SluiceError(
    'ERR_OPTION',
    `\`limiter\` must have the limits of \`loaded\`, with their keys, and no others, but differs in \`${other}\`. ${remedy}`,
  );
}

function everyMsOf<Request>({ everyMs }: WatchOptions, recipe: Recipe<Request>): number | false {
  if (everyMs === undefined) return hasFunction(recipe) ? false : FILES_EVERY_MS;
  if (everyMs === false) return false;
  const remedy = 'For example everyMs: 500, or everyMs: false to reload only when reload() is called.';
  return wholeNumber('everyMs', everyMs, { min: 100, max: 86_400_000, remedy });
}
