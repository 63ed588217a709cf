import { checkOptions, oneOf, wholeNumber, type Hints } from '../checks/options.ts';
import type { FailurePolicy } from '../limits/failure-policy.ts';

/** What happens when a store can't answer. For stores that answer by a promise, or that can throw. */
export interface FailureOptions {
  /** How long a decision waits for the store, in milliseconds, a whole number from 1 to 60,000. Default: 50. */
  readonly deadlineMs?: number | undefined;
  /** The policy of limits that name none of their own. Default: `'local'`. */
  readonly onFailure?: FailurePolicy | undefined;
  /**
   * How many processes share the store, a whole number from 1 to 10,000: under `local` each of them gives out its
   * share of every limit. Default: 1, so each process gives out the whole limit.
   */
  readonly gateways?: number | undefined;
}

/** {@link FailureOptions}, checked and whole. */
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
 * Checks the `failure` option and fills in its defaults.
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

const POLICIES: readonly FailurePolicy[] = ['local', 'closed', 'open'];

// The policy alone is what most people set.
function exampleFor(options: unknown): string {
  const policy = POLICIES.find((word) => word === options) ?? 'open';
  return `failure: { onFailure: '${policy}' }`;
}

/**
 * Gives a failure policy.
 *
 * @throws {SluiceError} `ERR_OPTION` when it is none.
 */
export function checkFailurePolicy(option: string, value: unknown): FailurePolicy {
  return oneOf(option, value, POLICIES);
}
