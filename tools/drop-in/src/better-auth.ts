/**
 * A storage for the rate limits of `better-auth` 1.7.
 *
 *     betterAuth({ rateLimit: { enabled: true, customStorage: rateLimitStorage(redisStore({ url })) } });
 *
 * @module
 */
import type { Store } from '@sluice/core';
import { countsOf } from './numbers/counts.ts';
import { dropInOptions, type DropInOptions } from './numbers/drop-in-options.ts';
import { givenNumbers } from './numbers/given-numbers.ts';
import { PeerBuckets } from './numbers/peer-buckets.ts';

/** The options of {@link rateLimitStorage}. */
export interface RateLimitStorageOptions extends DropInOptions {}

/** The rule for a path. */
export interface RateLimitRule {
  /** Seconds. */
  readonly window: number;
  /** Requests in a window. */
  readonly max: number;
}

/** What `better-auth` asks its storage for. */
export interface RateLimitVerdict {
  readonly allowed: boolean;
  /** Until a denied request can pass, in whole seconds; `null` for one that is allowed. */
  readonly retryAfter: number | null;
}

/** A `customStorage` of the option `rateLimit` of `better-auth`. */
export interface RateLimitStorage {
  /** Decides a request, and takes its token if it is there. A denied request takes nothing. */
  consume(key: string, rule: RateLimitRule): Promise<RateLimitVerdict>;
}

const NAMES = { limit: 'max', window: 'window', unitMs: 1000 };
/** A part of the key of all requests whose address `better-auth` does not know. */
const NO_ADDRESS = 'no-trusted-ip';
const SHARED =
  'better-auth has found no address of a client, so all such clients of a path count together. Set `advanced.ipAddress.ipAddressHeaders` or `advanced.ipAddress.trustedProxies` of better-auth to what your proxy sends.';

/**
 * Creates a storage for the rate limits of `better-auth` on a store of Sluice. `max` requests per `window` become a token
 * bucket: `max` pass at once, and one more each time that `window / max` has passed. A denied client is told the exact wait.
 * When the store of Sluice can't answer, the failure policy decides; under `closed`, requests end with 500.
 *
 * @param options - A store, or options of a limiter, such as `{ store, name: 'accounts' }`. Default: a memory store of its
 * own.
 * @throws {SluiceError} If an option is wrong.
 */
export function rateLimitStorage(options: Store | RateLimitStorageOptions = {}): RateLimitStorage {
  const { name, ...settings } = dropInOptions<RateLimitStorageOptions>('rateLimitStorage', options);
  const buckets = new PeerBuckets(`better-auth.${name}`, settings);
  let hasWarned = false;
  return {
    async consume(key, { window, max }) {
      const numbers = givenNumbers(NAMES, max, window);
      const own = buckets.idOf(key);
      if (!hasWarned && own.includes(NO_ADDRESS)) {
        hasWarned = true;
        buckets.warn(SHARED);
      }
      const id = `${numbers.windowMs}:${own}`;
      const decision = await buckets.spend(id, numbers);
      const { resetMs } = countsOf(decision, numbers);
      return { allowed: decision.allowed, retryAfter: decision.allowed ? null : Math.ceil(resetMs / 1000) };
    },
  };
}
