import { ServiceUnavailableException, type OnApplicationShutdown } from '@nestjs/common';
import { accountId, createLimiter, type Limiter, type LimiterOptions, type Store } from '@sluice/core';
import { flowSettings, runFlow, type Exchange, type FlowSettings, type RequestDecision } from '@sluice/core/http';
import { checkOptions, eventSink, isPlainObject, shownName, type EventSink } from '@sluice/core/kit';
import { checkThrottlers, numbersOf, termsOf, type ThrottlerTerms } from './throttler-numbers.ts';

/** What `@nestjs/throttler` 6 asks its storage for: the `ThrottlerStorageRecord` of a request. Times are whole seconds. */
export interface ThrottlerRecord {
  /**
   * Tokens taken from the bucket, the request's own included; `limit + 1` for a denied request, and 0 where nobody counts:
   * at a limit of `Infinity`, and under the policy `open`.
   */
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
export interface RateLimitStorageOptions extends Pick<
  LimiterOptions,
  'store' | 'failure' | 'onEvent' | 'log' | 'time'
> {
  /**
   * The list that `ThrottlerModule` gets too. A value in it that is not a number, such as
   * `Number(process.env.LIMIT)` of a variable that is not set, is then an error when the application starts. Otherwise, and where a function returns it,
   * its requests can't be decided: see {@link rateLimitStorage}.
   */
  readonly throttlers?: readonly object[] | undefined;
}

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
 * All numbers that the throttler takes are decided: a `limit` of `Infinity` and a `ttl` of 0 limit nothing, a `limit` below
 * 1 denies all, and one of 2.5 lets two through. A `ttl` is at most ten years, and 366 days for each request of its limit; a
 * `blockDuration` at most 366 days.
 *
 * A `ttl` or `limit` that is `NaN` or not a number decides nothing. As in the throttler's own storage, its requests are
 * not limited, each with an event `warning`; with `failure: { onFailure: 'closed' }` they are answered with 503. The guard
 * of 6.7.1 answers them with 500 itself. To find it when the application starts, pass `throttlers`.
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
interface Call extends ThrottlerTerms {
  readonly id: string;
}

type Settings = FlowSettings<Call, readonly []>;

class LimiterStorage implements RateLimitStorage {
  readonly #limiter: Limiter<Call>;
  readonly #settings: Settings;
  readonly #emit: EventSink;
  readonly #isClosed: boolean;

  constructor(options: RateLimitStorageOptions) {
    checkOptions('rateLimitStorage', options, ['store', 'failure', 'onEvent', 'log', 'time', 'throttlers']);
    const { throttlers, ...settings } = options;
    checkThrottlers(throttlers);
    // Each call has its own numbers; these are needed to define the limits.
    const numbers = { count: 1, period: '1s' } as const;
    this.#limiter = createLimiter<Call>({
      ...settings,
      limits: {
        [HITS]: { key: accountId(({ id }: Call) => id), ...numbers },
        [BLOCKS]: { key: accountId(({ id, block }: Call) => (block === null ? null : id)), ...numbers },
      },
      overrides: (limit, _id, call) => (limit === HITS ? call?.hits : (call?.block ?? undefined)),
    });
    this.#emit = eventSink(settings);
    this.#isClosed = settings.failure?.onFailure === 'closed';
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
    const { numbers, wrong } = numbersOf({ ttl, limit, blockDuration });
    for (const { message } of wrong) this.#emit({ type: 'warning', message: warningOf(throttlerName, message) });
    if (numbers === null) return this.#undecided();
    const call = { id: `${throttlerName}:${key}`, ...termsOf(numbers) };
    const exchange = new CallExchange(call);
    await runFlow(this.#settings, exchange, []);
    const decision = exchange.decision!;
    if (decision.outcome === 'unavailable') throw new ServiceUnavailableException();
    if (decision.allowed) return allowedRecord(decision);
    return deniedRecord(decision, call, await this.#block(decision, call));
  }

  /** Answers a call without numbers by the failure policy. `local` has nothing to decide by, so it lets the call pass. */
  #undecided(): ThrottlerRecord {
    if (this.#isClosed) throw new ServiceUnavailableException();
    return { totalHits: 0, timeToExpire: 0, isBlocked: false, timeToBlockExpire: 0 };
  }

  /** Blocks a client that has just been denied. Returns for how long, in milliseconds. */
  async #block(decision: RequestDecision, { block, blockMs }: Call): Promise<number> {
    const isBlocked = decision.results.some(({ limit, allowed }) => limit === BLOCKS && !allowed);
    if (block === null || isBlocked) return 0;
    await decision.charge(1, BLOCKS);
    return blockMs;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#limiter.close();
  }
}

function warningOf(throttlerName: string, message: string): string {
  return `${message} Throttler "${shownName(throttlerName)}" can't decide by it. With the option \`throttlers\` of rateLimitStorage this is an error when the application starts.`;
}

function hitsOf({ results }: RequestDecision): RequestDecision['results'][number] | undefined {
  return results.find(({ limit }) => limit === HITS);
}

function allowedRecord(decision: RequestDecision): ThrottlerRecord {
  // There is no result where nobody has counted.
  const { burst = 0, remaining = 0, resetAfterMs = 0 } = hitsOf(decision) ?? {};
  const timeToExpire = Math.ceil(resetAfterMs / 1000);
  return { totalHits: burst - remaining, timeToExpire, isBlocked: false, timeToBlockExpire: 0 };
}

function deniedRecord(decision: RequestDecision, { ttlMs }: ThrottlerTerms, blockMs: number): ThrottlerRecord {
  const waitMs = Math.max(decision.retryAfterMs, blockMs);
  const { burst = 0, resetAfterMs: resetMs = ttlMs } = hitsOf(decision) ?? {};
  // With a limit of 0 a client waits forever. What it is told is the `ttl`.
  const secondsOf = (ms: number): number => Math.max(1, Math.ceil((Number.isFinite(ms) ? ms : ttlMs) / 1000));
  return {
    totalHits: burst + 1,
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
