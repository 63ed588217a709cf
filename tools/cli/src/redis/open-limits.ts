// The room redis: the store of the servers, by options of the command line.
import { createLimiter, type Limiter, type LimiterEvent } from '@sluice/core';
import type { LoadedLimits } from '@sluice/config';
import { redisStore } from '@sluice/redis';
import type { Call } from '../console/command.ts';
import { clientOf, type Client } from './client.ts';
import { keyOptionsOf, timeoutOf, type KeyOptions } from './options.ts';

/** Limits on the Redis of the command line, as a server has them. */
export interface OpenLimits {
  readonly limiter: Limiter;
  /** Not connected yet. */
  readonly client: Client;
  /** The options of the store that determine its keys. */
  readonly keyOptions: KeyOptions;
  /**
   * Rejects if Redis could not answer the calls so far. A limiter itself does not reject: it follows failure policies.
   *
   * @throws {SluiceError} What the store rejected with.
   */
  readonly check: () => void;
}

/**
 * Opens limits with the store of a server, passes them to a function and closes them.
 *
 * @throws {SluiceError} `ERR_STORE_UNAVAILABLE` if Redis is not ready within `--timeout`, and what the function throws.
 */
export async function withLimits<Result>(
  loaded: LoadedLimits,
  call: Call,
  use: (limits: OpenLimits) => Promise<Result>,
): Promise<Result> {
  const timeoutMs = timeoutOf(call);
  const keyOptions = await keyOptionsOf(call);
  const client = clientOf(call);
  const failures: unknown[] = [];
  const onEvent = (event: LimiterEvent): void => {
    if ('cause' in event && event.type !== 'store-failing') failures.push(event.cause);
  };
  try {
    // A denial is not remembered: a command shows what Redis has now.
    const store = redisStore({ client, ...keyOptions, rememberDenialsMs: 0, log: false });
    // A command is not a service: without this, its limiter would write its numbers for others to compare.
    Object.assign(store, { otherNumbers: undefined });
    const failure = { deadlineMs: timeoutMs, onFailure: 'closed' } as const;
    try {
      const limiter = createLimiter({ ...loaded, store, failure, log: false, onEvent });
      await limiter.ready({ timeoutMs });
      const check = (): void => {
        if (failures.length > 0) throw failures[0];
      };
      return await use({ limiter, client, keyOptions, check });
    } finally {
      await store.close();
    }
  } finally {
    client.disconnect();
  }
}
