import { oneOf } from '../checks/options.ts';

/**
 * What a limit does while its store can't answer.
 *
 * - `local`: the same limit, decided by this process alone (see `gateways`).
 * - `closed`: no request passes; over HTTP the response is a 503.
 * - `open`: the limit is ignored.
 */
export type FailurePolicy = 'local' | 'closed' | 'open';

/** The policies, the default first. */
export const FAILURE_POLICIES: readonly FailurePolicy[] = ['local', 'closed', 'open'];

/**
 * Returns a value that is a failure policy.
 *
 * @throws {SluiceError} `ERR_OPTION` when it is not.
 */
export function checkFailurePolicy(option: string, value: unknown): FailurePolicy {
  return oneOf(option, value, FAILURE_POLICIES);
}
