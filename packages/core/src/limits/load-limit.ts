import { SluiceError } from '../checks/errors.ts';
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

/** What all load limits have in place of numbers. */
export const LOAD_RATE: Rate = countingRate('load', 1);
/** The key of a load limit that has none of its own. */
export const LOAD_KEY: Key = clientNetwork();

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
  checkLoadSettings(where, definition);
  const load = checkedLoad(`${where}.load`, (definition as LoadNumbers).load);
  return { rate: LOAD_RATE, load, key: LOAD_KEY };
}

/** The settings of other limits that would have no effect, and why. */
const UNUSED = [
  ['onFailure', 'a load limit asks no store'],
  ['hidden', 'header fields never mention a load limit'],
] as const;

/**
 * Rejects settings that only limits of other kinds have.
 *
 * @param where - The path of the limit in error messages: `limits.Worker`.
 * @throws {SluiceError} `ERR_LIMIT`.
 */
export function checkLoadSettings(
  where: string,
  settings: { readonly onFailure?: unknown; readonly hidden?: unknown },
): void {
  for (const [name, why] of UNUSED) {
    if (settings[name] === undefined) continue;
    throw new SluiceError('ERR_LIMIT', `\`${where}.${name}\` must be left out beside \`load\`: ${why}.`);
  }
}
