import { checkOptions, wholeNumber, type Hints } from '../checks/options.ts';
import { checkFailurePolicy, FAILURE_POLICIES, type FailurePolicy } from './failure-policy.ts';

/** What to do when the store can't answer. Has an effect only for stores that return promises or can throw. */
export interface FailureOptions {
  /** How long a decision waits for the store, in milliseconds, a whole number from 1 to 60,000. Default: 50. */
  readonly deadlineMs?: number | undefined;
  /** The policy of limits without an `onFailure` of their own. Default: `'local'`. */
  readonly onFailure?: FailurePolicy | undefined;
  /**
   * The number of processes that share the store, a whole number from 1 to 10,000. Under the policy `local`, each
   * process allows its share of every limit. Default: 1, so each process allows the whole limit.
   */
  readonly gateways?: number | undefined;
}

/** {@link FailureOptions}, validated and with defaults. */
export interface CheckedFailureOptions {
  readonly deadlineMs: number;
  readonly onFailure: FailurePolicy;
  readonly gateways: number;
}

const NAMES = ['deadlineMs', 'onFailure', 'gateways'] as const;

const HINTS: Hints = {
  timeout: '`timeout` is `deadlineMs` here, e.g. deadlineMs: 50.',
  commandTimeout: '`commandTimeout` is `deadlineMs` here, e.g. deadlineMs: 50.',
  passOnStoreError: "`passOnStoreError: true` is `onFailure: 'open'` here.",
  skipOnError: "`skipOnError: true` is `onFailure: 'open'` here.",
  insuranceLimiter: "`insuranceLimiter` is `onFailure: 'local'` here, which is the default.",
};

/**
 * Validates the `failure` option and adds the defaults.
 *
 * @throws {SluiceError} `ERR_OPTION` for a value out of range, `ERR_UNKNOWN_OPTION` for an unknown name.
 */
export function checkFailureOptions(options: FailureOptions = {}): CheckedFailureOptions {
  checkOptions('failure', options, NAMES, HINTS, exampleFor(options));
  const { deadlineMs = 50, onFailure = 'local', gateways = 1 } = options;
  return {
    deadlineMs: wholeNumber('failure.deadlineMs', deadlineMs, { min: 1, max: 60_000 }),
    onFailure: checkFailurePolicy('failure.onFailure', onFailure),
    gateways: wholeNumber('failure.gateways', gateways, {
      min: 1,
      max: 10_000,
      remedy: 'It is how many processes share the store, e.g. gateways: 4.',
    }),
  };
}

// Most users set only the policy.
function exampleFor(options: unknown): string {
  const policy = FAILURE_POLICIES.find((word) => word === options) ?? 'open';
  return `failure: { onFailure: '${policy}' }`;
}
