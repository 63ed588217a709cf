import type { LimiterOptions, Store } from '@sluice/core';
import { checkOptions, complaint, isPlainObject, type Hints } from '@sluice/core/kit';

/** The options of all stores here: those of a limiter that are not about its limits, and a name. */
export interface DropInOptions extends Pick<LimiterOptions, 'store' | 'failure' | 'onEvent' | 'log' | 'time'> {
  /**
   * Tells limiters on one store apart: those of one name, one window and equal numbers share their buckets. 1 to 24 of
   * `A-Z a-z 0-9 _ . -`. Default: `default`.
   */
  readonly name?: string | undefined;
}

const NAMES = ['store', 'name', 'failure', 'onEvent', 'log', 'time'];
const HINTS: Hints = {
  prefix: "`prefix` is `name` here, e.g. name: 'login'.",
  sendCommand: 'Pass a store: { store: redisStore({ client }) }.',
  client: 'Pass a store: { store: redisStore({ client }) }.',
};
const NAME = /^[\w.-]{1,24}$/;

/**
 * Reads what a user passed to the function `where`: a store, or options.
 *
 * @param others - The names of options of this function alone.
 * @throws {SluiceError} `ERR_OPTION` or `ERR_UNKNOWN_OPTION`.
 */
export function dropInOptions<Options extends DropInOptions>(
  where: string,
  given: Store | Options,
  others: readonly string[] = [],
): Partial<Options> & { readonly name: string } {
  if (isStore(given)) return { store: given, name: 'default' } as Partial<Options> & { readonly name: string };
  checkOptions(where, given, [...NAMES, ...others], HINTS);
  const { name = 'default' } = given;
  if (typeof name === 'string' && NAME.test(name)) return { ...given, name };
  const remedy = "For example name: 'login', without a colon.";
  throw complaint('ERR_OPTION', {
    option: `${where}.name`,
    demand: '1 to 24 of A-Z a-z 0-9 _ . -',
    value: name,
    remedy,
  });
}

function isStore(given: unknown): given is Store {
  return isPlainObject(given) && 'run' in given;
}
