import { toNativePromise } from '../../async/awaitable.ts';
import { shown } from '../../checks/errors.ts';

/**
 * Returns what a load function returned, cut to 0 to 1.
 *
 * @throws {TypeError} When it is not a number.
 */
export function signalFrom(value: unknown): number {
  if (typeof value === 'number' && !Number.isNaN(value)) return Math.min(1, Math.max(0, value));
  throw wrong('a number from 0 to 1', value);
}

/**
 * Returns what a function `enabled` returned.
 *
 * @throws {TypeError} When it is not a boolean.
 */
export function booleanFrom(value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  throw wrong('true or false', value);
}

/** A promise is wrong, too: the value is needed at once. It must not be an unhandled rejection as well. */
function wrong(demand: string, value: unknown): TypeError {
  const settled = toNativePromise(value);
  if (settled instanceof Promise) settled.catch(() => undefined);
  return new TypeError(`it must return ${demand}, but returned ${shown(value)}`);
}
