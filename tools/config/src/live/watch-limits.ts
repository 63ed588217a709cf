import { SluiceError, type Limiter, type Log } from '@sluice/core';
import { checkOptions, complaint, eventSink, limitsOf, timeOf, wholeNumber, type Limit } from '@sluice/core/kit';
import { RememberedLimits, type LoadedLimits, type Recipe } from '../load/load-limits.ts';
import { hasFunction, LiveLimits, type LimitFilesEvent } from './live-limits.ts';

/** The options of {@link watchLimits}. */
export interface WatchOptions {
  /**
   * How often to check the sources for changes, in milliseconds: a whole number from 100 to 86,400,000. With `false`
   * they are only read by {@link LiveLimits.reload}. A check of files calls `stat` on each and reads only files that
   * changed; a source that is a function is called at every check. Default: 500, or `false` if a source is a function.
   */
  readonly everyMs?: number | false | undefined;
  /** Called for each event. Its result is not awaited, and its errors are ignored. */
  readonly onEvent?: ((event: LimitFilesEvent) => void) | undefined;
  /** Called with each log line; `false` disables logging. Its errors are ignored. Default: `console.warn`. */
  readonly log?: Log | false | undefined;
}

const FILES_EVERY_MS = 500;

/**
 * Watches the sources of a limiter's limits, and passes each change to the limiter:
 *
 *     const live = watchLimits(limiter, loaded);
 *
 * New content is validated as a whole and replaces the old limits and overrides at once. If it has a problem, the
 * limits in use stay, and the problem is reported once. Watching does not keep the process alive. It waits, and dates
 * its status, by the `time` of the limiter.
 *
 * The sources define all limits and overrides of the limiter: `watchLimits` passes `loaded` to `limiter.replace` before
 * it returns.
 *
 * @param limiter - A limiter with exactly the limits and keys of `loaded`, made by `createLimiter({ ...loaded })`.
 * @param loaded - The object that {@link loadLimits} returned, not a copy.
 * @throws {SluiceError} `ERR_OPTION` or `ERR_UNKNOWN_OPTION` if an option is wrong; `ERR_OPTION` if `limiter` is not a
 * limiter or has other limits or keys, or if `loaded` is not a result of `loadLimits`; the errors of `limiter.replace`.
 */
export function watchLimits<Request>(
  limiter: Limiter<Request>,
  loaded: LoadedLimits<Request>,
  options: WatchOptions = {},
): LiveLimits<Request> {
  checkOptions('watchLimits', options, ['everyMs', 'onEvent', 'log']);
  const current = limitsOf(limiter);
  const recipe = RememberedLimits.recipeOf(loaded);
  if (recipe === undefined) {
    const remedy = 'Pass the object that loadLimits returned, not a copy of it.';
    throw complaint('ERR_OPTION', { option: 'loaded', demand: 'the result of loadLimits', value: loaded, remedy });
  }
  checkSame(current, loaded);
  const { onEvent, log } = options;
  eventSink({ onEvent, log });
  // An event sink limits its log lines per time. Each event gets a sink of its own, so that no line is left out.
  const tell = (event: LimitFilesEvent): void => eventSink<LimitFilesEvent>({ onEvent, log })(event);
  const everyMs = everyMsOf(options, recipe);
  limiter.replace({ limits: loaded.limits, overrides: loaded.overrides });
  return new LiveLimits({ limiter, loaded, recipe, everyMs, tell, time: timeOf(limiter) });
}

// Without this check, the first reload would silently remove limits that are defined in code only.
function checkSame<Request>(current: ReadonlyMap<string, Limit<Request>>, { limits }: LoadedLimits<Request>): void {
  const names = new Set([...current.keys(), ...Object.keys(limits)]);
  const other = [...names].find((name) => current.get(name)?.key !== limits[name]?.key);
  if (other === undefined) return;
  const remedy = `Make the limiter with createLimiter({ ...loaded }). Put limits that are defined in code into another limiter.`;
  throw new SluiceError(
    'ERR_OPTION',
    `must have the limits of \`loaded\`, with their keys, and no others, but differs in \`${other}\`. ${remedy}`,
    { path: 'limiter' },
  );
}

function everyMsOf<Request>({ everyMs }: WatchOptions, recipe: Recipe<Request>): number | false {
  if (everyMs === undefined) return hasFunction(recipe) ? false : FILES_EVERY_MS;
  if (everyMs === false) return false;
  const remedy = 'For example everyMs: 500, or everyMs: false to reload only when reload() is called.';
  return wholeNumber('everyMs', everyMs, { min: 100, max: 86_400_000, remedy });
}
