import { complaint } from '../../checks/errors.ts';
import { isPlainObject } from '../../checks/options.ts';
import { loadSettings, type LoadOptions } from './load-options.ts';
import type { LoadSource } from './load-source.ts';
import { SampledLoad } from './sampled-load.ts';
import { eventLoopUtilization, intervalUtilization } from './utilization.ts';

/**
 * How busy the event loop of this process (or worker thread) is: the part of each interval in which it was not waiting.
 * Several limits and limiters may use one source, and then have one level.
 *
 * @example
 * const limiter = createLimiter({ limits: { Worker: { load: eventLoop({ calm: 0.7, busy: 0.8 }) } } });
 *
 * @throws {SluiceError} `ERR_OPTION`, `ERR_UNKNOWN_OPTION` or `ERR_DURATION` for wrong options, `ERR_OPTION` in a
 * runtime that does not measure its event loop: all but Node.
 */
export function eventLoop(options: LoadOptions = {}): LoadSource {
  const [settings, read] = [loadSettings('eventLoop', options), eventLoopUtilization()];
  return new SampledLoad(settings, () => intervalUtilization(read));
}

/**
 * A load of your own, such as the part of a connection pool that is in use. The function is called at an interval, by a
 * timer, and returns the signal: a number from 0 to 1. What lies outside is cut. When it throws or returns anything
 * else, the signal counts as 0, and an event `load-failed` is emitted.
 *
 * @throws {SluiceError} `ERR_OPTION`, `ERR_UNKNOWN_OPTION` or `ERR_DURATION` for wrong options, `ERR_OPTION` when `read`
 * is not a function.
 */
export function loadFrom(read: () => number, options: LoadOptions = {}): LoadSource {
  if (typeof read !== 'function') {
    const remedy = 'For example loadFrom(() => pool.used / pool.size).';
    throw complaint('ERR_OPTION', { option: 'loadFrom(read)', demand: 'a function', value: read, remedy });
  }
  return new SampledLoad(loadSettings('loadFrom', options), () => read);
}

/** One source for each function, so that all limits with one function have one level. */
const sourcesOfFunctions = new WeakMap<() => number, LoadSource>();

/**
 * Validates the option `load` of a limit: a source, or a function, which means `loadFrom(function)`.
 *
 * @param option - The path of the option in error messages: `limits.Worker.load`.
 * @throws {SluiceError} `ERR_OPTION`.
 */
export function checkedLoad(option: string, value: unknown): LoadSource {
  if (isLoadSource(value)) return value;
  if (typeof value !== 'function' || value === eventLoop || value === loadFrom) throw notALoad(option, value);
  const read = value as () => number;
  const known = sourcesOfFunctions.get(read);
  if (known !== undefined) return known;
  const source = loadFrom(read);
  sourcesOfFunctions.set(read, source);
  return source;
}

/** By its members, so that a source of another copy of the package is one, too. */
function isLoadSource(value: unknown): value is LoadSource {
  return isPlainObject(value) && typeof value['start'] === 'function' && typeof value['level'] === 'number';
}

function notALoad(option: string, value: unknown): Error {
  return complaint('ERR_OPTION', {
    option,
    demand: 'a source such as eventLoop(), or a function that returns a number from 0 to 1',
    value,
    remedy: 'Write load: eventLoop(), or for example load: () => pool.used / pool.size.',
  });
}
