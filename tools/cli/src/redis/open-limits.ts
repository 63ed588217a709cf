// The room redis: the store of the servers, by options of the command line.
import { createLimiter, type Limiter, type LimiterOptions } from '@sluice/core';
import type { LoadedLimits } from '@sluice/config';
import type { Call } from '../console/command.ts';
import { openStore, type OpenStore } from './open-store.ts';
import { timeoutOf } from './options.ts';

/** Limits on the store of the command line, as a server has them. */
export interface OpenLimits extends Pick<OpenStore, 'client' | 'keyOptions' | 'listing'> {
  readonly limiter: Limiter;
  /**
   * Rejects if the store could not answer the calls so far. A limiter itself does not reject: it follows failure policies.
   *
   * @throws {SluiceError} What the store rejected with.
   */
  readonly check: () => void;
}

/**
 * Opens limits with the store of a server, passes them to a function and closes them.
 *
 * @throws {SluiceError} `ERR_STORE_UNAVAILABLE` if the store is not ready within `--timeout`, and what the function throws.
 */
export async function withLimits<Result>(
  loaded: Pick<LoadedLimits, 'limits'> & Partial<LoadedLimits>,
  call: Call,
  use: (limits: OpenLimits) => Promise<Result>,
): Promise<Result> {
  const deadlineMs = timeoutOf(call);
  const { store, client, keyOptions, listing, ready, close } = await openStore(call);
  try {
    await ready();
    // A command is not a service: without this, its limiter would write its numbers for others to compare.
    Object.assign(store, { otherNumbers: undefined });
    const { limiter, check } = checkedLimiter({ ...loaded, store }, deadlineMs);
    // So that it knows the blocks of the store.
    await limiter.ready({ timeoutMs: deadlineMs });
    return await use({ limiter, client, keyOptions, listing, check });
  } finally {
    await close();
  }
}

/** Creates a limiter for one command, which denies what its store does not answer. */
export function checkedLimiter(
  options: Pick<LimiterOptions, 'limits' | 'overrides' | 'store'>,
  deadlineMs: number,
): Pick<OpenLimits, 'limiter' | 'check'> {
  const failures: unknown[] = [];
  const limiter = createLimiter({
    ...options,
    trustedProxies: [],
    failure: { deadlineMs, onFailure: 'closed' },
    log: false,
    onEvent: (event) => {
      if ('cause' in event && event.type !== 'store-failing') failures.push(event.cause);
    },
  });
  const check = (): void => {
    if (failures.length > 0) throw failures[0];
  };
  return { limiter, check };
}
