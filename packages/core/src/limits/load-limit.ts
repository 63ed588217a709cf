import { clientNetwork } from '../keys/address-keys.ts';
import type { Key } from '../keys/key.ts';
import { checkedLoad } from '../load/load.ts';
import type { LoadSource } from '../load/load-source.ts';
import { countingRate, type Rate } from '../rule/rate.ts';
import { kindOf } from './limit-kind.ts';

/** What a load limit has in place of numbers. */
export interface LoadNumbers {
  /**
   * How loaded this process is: `eventLoop()`, or a function that returns a number from 0 to 1, see `loadFrom`. As the
   * level of the load rises, requests with a small `share` are denied first.
   */
  readonly load: LoadSource | (() => number);
}

/** A validated load limit. */
interface CheckedLoad {
  readonly rate: Rate;
  readonly load: LoadSource;
  /** Distinguishes the clients that are denied together. */
  readonly key: Key;
}

/**
 * Validates a load limit.
 *
 * @param where - The path of the limit in error messages: `limits.Worker`.
 * @returns `undefined` for a limit of another kind.
 * @throws {SluiceError} `ERR_OPTION` for a wrong load, `ERR_LIMIT` for the options of two kinds.
 */
export function loadLimitOf(where: string, definition: object): CheckedLoad | undefined {
  if (kindOf(where, definition) !== 'load') return undefined;
  const load = checkedLoad(`${where}.load`, (definition as LoadNumbers).load);
  return { rate: countingRate('load', 1), load, key: clientNetwork() };
}
