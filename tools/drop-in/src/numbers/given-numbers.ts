import { complaint } from '@sluice/core/kit';
import { MAX_FILL_MS, numberOf, type WindowNumbers } from './bucket-numbers.ts';

/** How a library calls its two numbers, for messages. */
export interface NumberNames {
  readonly limit: string;
  readonly window: string;
  /** Milliseconds of a unit of its window: 1, or 1000 where it counts in seconds. */
  readonly unitMs: number;
}

/**
 * Reads the numbers that a library passes to its store.
 *
 * @throws {SluiceError} `ERR_OPTION` for one by which nothing can be decided.
 */
export function givenNumbers(names: NumberNames, limit: unknown, window: unknown): WindowNumbers {
  return { limit: givenLimit(names.limit, limit), windowMs: givenWindow(names, window) };
}

/** @throws {SluiceError} `ERR_OPTION`. */
export function givenLimit(option: string, value: unknown): number {
  const limit = numberOf(value);
  if (limit !== undefined) return limit;
  const remedy = 'For no limit write Infinity. Is it a variable of the environment that is not set?';
  throw complaint('ERR_OPTION', { option, demand: 'a number of requests', value, remedy });
}

function givenWindow({ window: option, unitMs }: NumberNames, value: unknown): number {
  const windowMs = (numberOf(value) ?? Number.NaN) * unitMs;
  if (windowMs > 0 && windowMs <= MAX_FILL_MS) return windowMs;
  const unit = unitMs === 1 ? 'milliseconds' : 'seconds';
  const remedy = `A minute is ${60_000 / unitMs}.`;
  throw complaint('ERR_OPTION', { option, demand: `a number of ${unit} above 0, at most ten years`, value, remedy });
}
