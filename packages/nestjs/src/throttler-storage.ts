import { ServiceUnavailableException, type OnApplicationShutdown } from '@nestjs/common';
import { accountId, createLimiter, type Limiter, type LimiterSettings, type Override, type Store } from '@sluice/core';
import { flowSettings, runFlow, type Exchange, type FlowSettings, type RequestDecision } from '@sluice/core/http';
import { checkOptions, isPlainObject, wholeNumber } from '@sluice/core/kit';

/** What `@nestjs/throttler` 6 asks its storage for: the `ThrottlerStorageRecord` of a request. Times are whole seconds. */
export interface ThrottlerRecord {
  /** Tokens taken from the bucket, the request's own included; `limit + 1` for a denied request. */
  readonly totalHits: number;
  /** Until the bucket is full again, in seconds. */
  readonly timeToExpire: number;
  /** Whether the request is denied. */
  readonly isBlocked: boolean;
  /** Until a denied request can pass, in seconds; 0 for one that passes. */
  readonly timeToBlockExpire: number;
}

/** A `ThrottlerStorage` of `@nestjs/throttler` 6. */
export interface RateLimitStorage extends OnApplicationShutdown {
  /**
   * Decides a request.
   *
   * @param ttl - Milliseconds.
   * @param blockDuration - Milliseconds.
   */
  increment(
    key: string,
    ttl: number,
    limit: number,
    blockDuration: number,
    throttlerName: string,
  ): Promise<ThrottlerRecord>;
}

/** The options of {@link rateLimitStorage}: those of a limiter that are not about its limits. */
export type RateLimitStorageOptions = Pick<LimiterSettings, 'store' | 'failure' | 'onEvent' | 'log' | 'time'>;

/**
 * Creates a storage for `@nestjs/throttler` 6 on a store of Sluice: an application keeps its `ThrottlerGuard` and its
 * decorators, and changes one line.
 *
 *     ThrottlerModule.forRoot({ throttlers: [{ ttl: 60_000, limit: 10 }], storage: rateLimitStorage(redisStore({ url })) })
 *
 * `limit` requests per `ttl` are a token bucket: `limit` pass at once, and one more each time that `ttl / limit` has
 * passed. A denied client waits until its next token is there. With a `blockDuration` other than the `ttl`, it also waits
 * for that. When the store can't answer, the failure policy decides; under `closed`, `increment` rejects with a
 * `ServiceUnavailableException`.
 *
 * @param options - A store, or options of a limiter, such as `{ store, failure: { onFailure: 'closed' } }`. Default: a
 * memory store of its own.
 * @throws {SluiceError} If an option is wrong.
 */
export function rateLimitStorage(options: Store | RateLimitStorageOptions = {}): RateLimitStorage {
  return new LimiterStorage(isStore(options) ? { store: options } : options);
}

function isStore(options: unknown): options is Store {
  return isPlainObject(options) && 'run' in options;
}

const HITS = 'Throttler';
const BLOCKS = 'ThrottlerBlocks';

/** One call of the storage. It is the request that the limits are decided for. */
interface Call {
  readonly id: string;
  /** Undefined for a `limit` of 0. */
  readonly hits: Override;
  /** Null when there is no block beyond the wait for a token. */
  readonly block: Override | null;
}

type Settings = FlowSettings<Call, readonly []>;

class LimiterStorage implements RateLimitStorage {
  readonly #limiter: Limiter<Call>;
  readonly #settings: Settings;

  constructor(options: RateLimitStorageOptions) {
    checkOptions('rateLimitStorage', options, ['store', 'failure', 'onEvent', 'log', 'time']);
    // Each call has its own numbers; these are needed to define the limits.
    const numbers = { count: 1, period: '1s' } as const;
    this.#limiter = createLimiter<Call>({
      ...options,
      limits: {
        [HITS]: { key: accountId(({ id }: Call) => id), ...numbers },
        [BLOCKS]: { key: accountId(({ id, block }: Call) => (block === null ? null : id)), ...numbers },
      },
      overrides: (limit, _id, call) => (limit === HITS ? call?.hits : (call?.block ?? undefined)),
    });
    const limits = [HITS, { limit: BLOCKS, mode: 'check-only' as const }];
    this.#settings = flowSettings<Call, readonly []>({ limiter: this.#limiter, limits, fields: false }, []);
  }

  async increment(
    key: string,
    ttl: number,
    limit: number,
    blockDuration: number,
    throttlerName: string,
  ): Promise<ThrottlerRecord> {
    const call = callOf(`${throttlerName}:${key}`, { ttl, limit, blockDuration });
    const exchange = new CallExchange(call);
    await runFlow(this.#settings, exchange, []);
    const decision = exchange.decision!;
    if (decision.outcome === 'unavailable') throw new ServiceUnavailableException();
    if (decision.allowed) return allowedRecord(decision, limit);
    return deniedRecord(decision, { limit, ttl, blockMs: await this.#block(decision, call, blockDuration) });
  }

  /** Blocks a client that has just been denied. Returns for how long, in milliseconds. */
  async #block(decision: RequestDecision, { block }: Call, blockDuration: number): Promise<number> {
    const isBlocked = decision.results.some(({ limit, allowed }) => limit === BLOCKS && !allowed);
    if (block === null || isBlocked) return 0;
    await decision.charge(1, BLOCKS);
    return blockDuration;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#limiter.close();
  }
}

/** The numbers of a throttler. Durations are milliseconds. */
interface ThrottlerNumbers {
  readonly ttl: number;
  readonly limit: number;
  readonly blockDuration: number;
}

const MAX_LIMIT = 1_000_000_000;
/** Ten years. */
const MAX_MS = 315_576_000_000;

/** @throws {SluiceError} `ERR_OPTION` for numbers that are not those of a limit. */
function callOf(id: string, { ttl, limit, blockDuration }: ThrottlerNumbers): Call {
  const period = wholeNumber('throttlers.ttl', ttl, { min: 1, max: MAX_MS });
  const count = wholeNumber('throttlers.limit', limit, { min: 0, max: MAX_LIMIT });
  const blockMs = wholeNumber('throttlers.blockDuration', blockDuration, { min: 0, max: MAX_MS });
  return {
    id,
    hits: count === 0 ? 'blocked' : { count, period },
    // The default of `blockDuration` is the `ttl`, by which a client that retries would never be let in by a bucket.
    block: blockMs === 0 || blockMs === period ? null : { count: 1, period: blockMs },
  };
}

function hitsOf({ results }: RequestDecision): RequestDecision['results'][number] | undefined {
  return results.find(({ limit }) => limit === HITS);
}

function allowedRecord(decision: RequestDecision, limit: number): ThrottlerRecord {
  // Under the policy `open` there is no result: nobody has counted.
  const { remaining = limit, resetAfterMs = 0 } = hitsOf(decision) ?? {};
  const timeToExpire = Math.ceil(resetAfterMs / 1000);
  return { totalHits: limit - remaining, timeToExpire, isBlocked: false, timeToBlockExpire: 0 };
}

interface Denied extends Pick<ThrottlerNumbers, 'ttl' | 'limit'> {
  readonly blockMs: number;
}

function deniedRecord(decision: RequestDecision, { limit, ttl, blockMs }: Denied): ThrottlerRecord {
  const waitMs = Math.max(decision.retryAfterMs, blockMs);
  const resetMs = hitsOf(decision)?.resetAfterMs ?? ttl;
  // With a limit of 0 a client waits for ever. What it is told is the `ttl`.
  const secondsOf = (ms: number): number => Math.max(1, Math.ceil((Number.isFinite(ms) ? ms : ttl) / 1000));
  return {
    totalHits: limit + 1,
    timeToExpire: secondsOf(resetMs),
    isBlocked: true,
    timeToBlockExpire: secondsOf(waitMs),
  };
}

/** A call has neither a client nor a response, only a place for the decision. */
class CallExchange implements Exchange<Call> {
  readonly request: Call;
  readonly method = undefined;
  readonly peer = undefined;
  decision: RequestDecision | undefined;

  constructor(request: Call) {
    this.request = request;
  }

  header(): undefined {
    return undefined;
  }

  getField(): undefined {
    return undefined;
  }

  setField(): void {}
}
