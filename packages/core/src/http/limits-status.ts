import { complaint, SluiceError } from '../checks/errors.ts';
import { checkOptions } from '../checks/options.ts';
import { Decided } from '../decision/decided.ts';
import type { Result } from '../decision/result.ts';
import type { IpAddress } from '../ids/ip-address.ts';
import type { KeySource } from '../keys/key.ts';
import { coreOf } from '../limiter/create-limiter.ts';
import type { Limiter } from '../limiter/limiter.ts';
import type { RequestLimiter } from '../limiter/request-limiter.ts';
import type { Numbers } from '../rule/rate.ts';
import { reducedCapacityBody, type Answer } from './denial.ts';
import type { Exchange } from './exchange.ts';
import { errorOf } from './flow.ts';
import { tooManyFields } from './lacking-fields.ts';
import { checkedFields, writeFields, type FieldsDialect, type FieldSettings } from './fields.ts';
import { limitUses, type UsedLimits } from './limit-uses.ts';

/** The options of `limitsStatus`. */
export interface LimitsStatusOptions<Request = unknown, Name extends string = string> {
  readonly limiter: Limiter<Request, Name>;
  /** The names of the limits to show. Required if the limiter has more than one limit. */
  readonly limits?: readonly NoInfer<Name>[] | undefined;
  /** The format of the rate limit fields, as in `rateLimit`; false for none. Default: `draft-11`. */
  readonly fields?: FieldsDialect | false | undefined;
}

/** What a client sees of one limit. */
interface LimitStatus {
  /** The most requests at once: the burst, the count of a quota, the slots of a concurrency limit; 0 when blocked. */
  readonly limit: number;
  /** Those that are left now. */
  readonly remaining: number;
  /**
   * When all of them are there again, in seconds since 1970, rounded up. Null for slots, which come back when requests
   * end, and for a blocked id.
   */
  readonly reset: number | null;
}

/** The options of a status handler, validated. */
export interface StatusSettings<Request> extends Pick<FieldSettings, 'dialect'>, UsedLimits<Request, readonly []> {
  readonly limiter: RequestLimiter<Request>;
}

const EXAMPLE = "limitsStatus({ limiter, limits: ['PerClient'] })";
const JSON_FIELDS = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' } as const;
const RETRY_SECONDS = 1;

/**
 * Validates the options of `limitsStatus`.
 *
 * @param own - The names of the options that an adapter has besides, and validates itself.
 * @throws {SluiceError} `ERR_OPTION`, `ERR_UNKNOWN_OPTION`, `ERR_UNKNOWN_LIMIT` or `ERR_DUPLICATE_BUCKET`.
 */
export function statusSettings<Request>(
  options: LimitsStatusOptions<Request>,
  own: readonly string[] = [],
): StatusSettings<Request> {
  checkOptions('limitsStatus', options, ['limiter', 'limits', 'fields', ...own], {}, EXAMPLE);
  const { limits, fields } = options;
  const limiter = coreOf(options.limiter);
  for (const name of Array.isArray(limits) ? limits : limiter.limitNames) {
    if (typeof name !== 'string') throw notAName(name);
    if (limiter.limits.get(name)?.kind.level === 'own') throw ownOfProcess(name);
  }
  const { uses } = limitUses<Request, readonly []>(limiter, limits);
  // A cost of 0 fits into every bucket, so that all limits are reported, and not only those that would deny.
  const looks = uses.map((use) => ({ ...use, cost: 0, mode: 'check-only' as const }));
  return {
    limiter,
    dialect: checkedFields(fields),
    uses: looks,
    settling: [],
    prepared: limiter.prepare(looks, 'check'),
  };
}

/**
 * Reads what is left of the limits of a request in one call of the store, and takes nothing. Sets the rate limit fields
 * on the exchange.
 *
 * Rejects with the error of a key, as `rateLimit` does.
 *
 * @returns The answer, with JSON: `{ "limits": { "PerClient": { "limit": 100, "remaining": 98, "reset": 1798761601 } } }`.
 * Limits that do not apply, that are hidden, or whose id is unlimited, are left out. When the store can't answer, problem
 * details with status 503. `'left'`: the client disconnected before its address was known.
 */
export async function limitsStatusOf<Request>(
  settings: StatusSettings<Request>,
  exchange: Exchange<Request>,
): Promise<Answer | 'left'> {
  const { limiter, dialect, prepared } = settings;
  if (limiter.trustsProxies && exchange.lacksFields === true) throw errorOf(tooManyFields());
  const read = await prepared.resolved().spend(new StatusSource(exchange, limiter));
  if (!(read instanceof Decided)) {
    if (exchange.peer === 'left') return 'left';
    throw errorOf(read.causes[0]);
  }
  if (read.failure !== undefined) return unreadable(exchange);
  writeFields(read, exchange, { dialect, retryAfter: 0, queuedMs: 0, time: limiter.time });
  return { status: 200, fields: JSON_FIELDS, body: JSON.stringify({ limits: statusesOf(read, limiter) }) };
}

/** What the keys of a status request get an id from. */
class StatusSource<Request> implements KeySource<Request> {
  readonly request: Request;
  readonly #exchange: Exchange<Request>;
  readonly #limiter: RequestLimiter<Request>;

  constructor(exchange: Exchange<Request>, limiter: RequestLimiter<Request>) {
    this.request = exchange.request;
    this.#exchange = exchange;
    this.#limiter = limiter;
  }

  get clientAddress(): IpAddress {
    return this.#limiter.clientAddress(this.#exchange);
  }
}

function statusesOf(decision: Decided, { time }: RequestLimiter<never>): Record<string, LimitStatus> {
  const { batch, results } = decision;
  return Object.fromEntries(
    results.flatMap((result, i) => (result.hidden ? [] : [statusOf(result, batch[i]!.rate, time.wallNow())])),
  );
}

function statusOf(result: Result, { kind }: Numbers, wallMs: number): [limit: string, status: LimitStatus] {
  const { limit, burst, remaining, resetAfterMs } = result;
  const hasReset = kind.level !== 'held' && Number.isFinite(resetAfterMs);
  return [limit, { limit: burst, remaining, reset: hasReset ? Math.ceil((wallMs + resetAfterMs) / 1000) : null }];
}

/** Nobody knows what is left: figures of this process alone would mislead the client. */
function unreadable(exchange: Pick<Exchange<never>, 'setField'>): Answer {
  exchange.setField('Retry-After', String(RETRY_SECONDS));
  const body = reducedCapacityBody('What is left of the limits can not be read at the moment. Try again in 1 second.');
  return { status: 503, fields: { ...JSON_FIELDS, 'Content-Type': 'application/problem+json' }, body };
}

function notAName(value: unknown): SluiceError {
  const remedy = "A status takes nothing, so it has no cost and no mode. For example limits: ['PerClient'].";
  return complaint('ERR_OPTION', { option: 'limits', demand: 'an array of names of limits', value, remedy });
}

function ownOfProcess(name: string): SluiceError {
  return new SluiceError(
    'ERR_OPTION',
    `must name limits that count a client, but "${name}" is a load limit, which has no figures for one. Name the others.`,
    { path: 'limitsStatus.limits' },
  );
}
