import { complaint } from '../../checks/errors.ts';
import { isPlainObject } from '../../checks/options.ts';
import { everyone } from '../../keys/everyone.ts';
import type { InlineLimits } from '../kind.ts';

const POOL_SUFFIX = '-pool';

/**
 * Makes the pool of a middleware's own limit, whose numbers stand in place of its name. What else may be wrong with it is found
 * where the limits are defined.
 *
 * @throws {SluiceError} `ERR_OPTION` for the name of a limit.
 */
export function inlinePool(where: string, name: string, options: object): InlineLimits {
  const { borrow } = options as { borrow?: unknown };
  if (!isPlainObject(borrow)) return { options, others: {}, written: {} };
  const { from } = borrow;
  if (!isPlainObject(from)) {
    const remedy =
      "For example borrow: { from: { count: 1000, period: '1s' }, ceiling: … }. To borrow from a named limit, define both with createLimiter.";
    const demand = 'the numbers of a pool';
    throw complaint('ERR_OPTION', { option: `${where}.borrow.from`, demand, value: from, remedy });
  }
  const pool = `${name}${POOL_SUFFIX}`;
  return {
    options: { ...options, borrow: { ...borrow, from: pool } },
    others: { [pool]: { key: everyone(), ...from } },
    written: { [pool]: `${where}.borrow.from` },
  };
}
