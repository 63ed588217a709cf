import { checkBoolean, checkOptions, entriesOf, isPlainObject, oneOf } from '../checks/options.ts';
import { complaint, shownName, SluiceError } from '../checks/errors.ts';
import { isEveryone } from '../keys/everyone.ts';
import { isKey, type Key } from '../keys/key.ts';
import { LIMIT_HINTS } from '../checks/peer-names.ts';
import { boundsOf, checkBounds, type AtMost, type Bound } from '../rule/at-most.ts';
import { quotaRateOf, rateOf, type LimitNumbers, type Rate } from '../rule/rate.ts';
import { MAX_TOLERANCE_TICKS } from '../rule/ticks.ts';
import type { LoadSource } from '../load/load-source.ts';
import type { StoreTreatment } from '../store/lease-terms.ts';
import { StoreWall } from '../time/store-wall.ts';
import { systemTime } from '../time/time.ts';
import { borrowTermsOf, ceilingOf, type BorrowDefinition, type BorrowTerms } from './borrowing.ts';
import { overshootOf, type Exactness } from './overshoot.ts';
import { concurrencyOf, type ConcurrencyNumbers, type SlotTerms } from './concurrency.ts';
import { KIND_OPTIONS } from './limit-kind.ts';
import { loadLimitOf, type LoadNumbers } from './load-limit.ts';
import { quotaOf, type LimitCalendar, type QuotaNumbers } from './quota.ts';

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

/** What every limit has, of whatever kind it is. */
export interface LimitSettings<Request = unknown> {
  /** How the limit gets its id from a request: `ipAddress()`, `clientNetwork()`, `accountId((req) => …)`. */
  readonly key: Key<Request>;
  /** What the limit does while the store can't answer. Default: the limiter's `failure.onFailure`. */
  readonly onFailure?: FailurePolicy | undefined;
  /** Disables the limit: it lets every request through and counts none. Default: false. */
  readonly disabled?: boolean | undefined;
  /**
   * Hides the limit from clients: it decides as usual, but header fields and problem details do not mention it.
   * Default: false.
   */
  readonly hidden?: boolean | undefined;
}

/** A limit by a rate: `count` tokens refill every `period`, and a bucket contains at most `burst`. */
export interface RateDefinition<Request = unknown> extends LimitSettings<Request>, LimitNumbers, Exactness {
  /**
   * The most tokens that may be taken in any window of a length: `{ 1000: '1h' }`. It changes no decision. Numbers of
   * the limit and of its overrides that allow more are an error: burst + maxDebt + window / T must be at most that
   * number.
   */
  readonly atMost?: AtMost | undefined;
  /** How the limit borrows from a pool when its own tokens are used up. Its own numbers are then the assured rate. */
  readonly borrow?: BorrowDefinition | undefined;
  readonly per?: undefined;
  readonly timeZone?: undefined;
  readonly anchor?: undefined;
  readonly warnAt?: undefined;
  readonly concurrency?: undefined;
  readonly lease?: undefined;
  readonly scope?: undefined;
  readonly block?: undefined;
  readonly load?: undefined;
}

/** A quota: `count` tokens in each calendar period, which all come back at its end. */
export interface QuotaDefinition<Request = unknown> extends LimitSettings<Request>, QuotaNumbers {
  readonly burst?: undefined;
  readonly period?: undefined;
  readonly maxDebt?: undefined;
  readonly maxWait?: undefined;
  readonly atMost?: undefined;
  readonly borrow?: undefined;
  readonly concurrency?: undefined;
  readonly lease?: undefined;
  readonly scope?: undefined;
  readonly block?: undefined;
  readonly load?: undefined;
  readonly overshoot?: undefined;
  /** A quota is always exact. */
  readonly exact?: true | undefined;
}

/** A concurrency limit: at most `concurrency` requests of an id are in progress at the same time. */
export interface ConcurrencyDefinition<Request = unknown> extends LimitSettings<Request>, ConcurrencyNumbers {
  readonly burst?: undefined;
  readonly count?: undefined;
  readonly period?: undefined;
  readonly per?: undefined;
  readonly maxDebt?: undefined;
  readonly maxWait?: undefined;
  readonly atMost?: undefined;
  readonly borrow?: undefined;
  readonly timeZone?: undefined;
  readonly anchor?: undefined;
  readonly warnAt?: undefined;
  readonly load?: undefined;
  readonly overshoot?: undefined;
  /** A concurrency limit is always exact. */
  readonly exact?: true | undefined;
}

/**
 * A load limit: it denies a part of the requests while this process has too much to do, with the status 503. It counts
 * nothing and asks no store, and header fields never mention it.
 */
export interface LoadDefinition<Request = unknown>
  extends Omit<LimitSettings<Request>, 'key' | 'onFailure' | 'hidden'>, LoadNumbers {
  /** What distinguishes clients: for about a minute, a client is either denied or not. Default: `clientNetwork()`. */
  readonly key?: Key<Request> | undefined;
  readonly onFailure?: undefined;
  readonly hidden?: undefined;
  readonly burst?: undefined;
  readonly count?: undefined;
  readonly period?: undefined;
  readonly per?: undefined;
  readonly concurrency?: undefined;
  readonly maxDebt?: undefined;
  readonly maxWait?: undefined;
  readonly atMost?: undefined;
  readonly borrow?: undefined;
  readonly timeZone?: undefined;
  readonly anchor?: undefined;
  readonly warnAt?: undefined;
  readonly lease?: undefined;
  readonly scope?: undefined;
  readonly block?: undefined;
  readonly overshoot?: undefined;
  readonly exact?: undefined;
}

/** A limit, of the kind that its options show: a rate, a quota, a concurrency limit or a load limit. */
export type LimitDefinition<Request = unknown> =
  RateDefinition<Request> | QuotaDefinition<Request> | ConcurrencyDefinition<Request> | LoadDefinition<Request>;

/** Limits by name. A name is `[A-Za-z][A-Za-z0-9_.-]*`, at most 64 characters, and unique ignoring case. */
export type LimitDefinitions<Request = unknown, Name extends string = string> = {
  readonly [Each in Name]: LimitDefinition<Request>;
};

/** How decisions by a limit are treated. In a batch for a store it is plain data. */
export interface Treatment extends StoreTreatment {
  /** Whether a store decides the limit's transactions as they are: it neither borrows, nor counts slots, nor is a load. */
  readonly isPlain: boolean;
  readonly onFailure: FailurePolicy;
  readonly hidden: boolean;
  /**
   * What a transaction stands for in a batch: all of its limit, or one of the buckets of a limit that borrows. The
   * ceiling and the pool have no result of their own.
   */
  readonly part: 'whole' | 'assured' | 'ceiling' | 'pool';
  /** Of a limit that borrows, until its transaction is replaced by those for a store. Otherwise undefined. */
  readonly borrowing: Borrowing | undefined;
  /** Whether a denial is due to the service and not to the client: the response is then a 503. */
  readonly sheds: boolean;
  /** Of a concurrency limit, how its slots are held. Otherwise undefined. */
  readonly slots: SlotTerms | undefined;
  /** As in {@link Exactness}. Undefined for a limit that is decided exactly. */
  readonly overshoot: number | undefined;
}

/** What the limits that borrow from a pool need of it. */
export interface Pool {
  readonly name: string;
  readonly rate: Rate;
  /** The level to which assured requests may raise the pool's: τ + D, where D are all assured bursts together. */
  readonly capTicks: number;
}

/** How one limit borrows, with the properties of its pool that decisions need. */
export interface Borrowing extends BorrowTerms {
  readonly ceilingName: string;
  readonly pool: Pool;
  /** The treatment of the limit's own transaction in a batch for a store. */
  readonly own: Treatment;
  /** The treatments of the transactions of the ceiling and of the pool. */
  readonly ofCeiling: Treatment;
  readonly ofPool: Treatment;
}

/** A validated limit, with its numbers in ticks. */
export interface Limit<Request = unknown> {
  readonly name: string;
  readonly key: Key<Request>;
  readonly rate: Rate;
  /** The levels of ids with these numbers. */
  readonly levels: Levels;
  /** The bounds of `atMost`, which the numbers of the limit and of its overrides satisfy. */
  readonly bounds: readonly Bound[];
  readonly disabled: boolean;
  readonly treatment: Treatment;
  /** How the limit borrows; undefined if it does not. */
  readonly borrow: BorrowTerms | undefined;
  /** The load of a load limit; undefined for other limits. */
  readonly load: LoadSource | undefined;
  /** The calendar of a quota; undefined for other limits. */
  readonly calendar: LimitCalendar | undefined;
  /** The parts of a quota at which a warning is emitted, in ascending order. */
  readonly warnAt: readonly number[];
}

/** The most characters of a limit's name. */
export const MAX_LIMIT_NAME_LENGTH = 64;
/** The pattern of a limit's name. */
export const LIMIT_NAME_PATTERN: RegExp = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;
const FIELDS = ['key', 'onFailure', 'disabled', 'hidden', ...KIND_OPTIONS];

/**
 * Rejects numbers of an id that let more tokens through than `atMost` of its limit allows. Where the limit borrows, the
 * ceiling counts: own and borrowed tokens together.
 *
 * @param where - The path of the numbers in error messages.
 * @throws {SluiceError} `ERR_LIMIT`.
 */
export function checkAtMost(
  where: string,
  rate: Rate,
  { rate: own, bounds, borrow }: Pick<Limit<never>, 'rate' | 'bounds' | 'borrow'>,
): void {
  const [path, most] = borrow === undefined ? [where, rate] : [`${where}.borrow.ceiling`, ceilingOf(borrow, rate)];
  checkBounds(path, most, rate.maxDebt ?? own.maxDebt ?? 0, bounds);
}

/** How far the level of a bucket may rise. */
export interface Levels {
  /** A request fits up to here: an empty bucket, and the longest delay more. */
  readonly roomTicks: number;
  /**
   * A charge goes up to here: an empty bucket, and `maxDebt` tokens or the longest delay more. It is never below the
   * end of the queue, so that a charge does not shorten the queue of others.
   */
  readonly capTicks: number;
  /** The level of an empty bucket, above which requests wait in a queue. Undefined if they never wait. */
  readonly lineTicks: number | undefined;
}

/**
 * Returns the levels of an id. Those of ids with the numbers of the limit are known from its definition.
 *
 * @param rate - The numbers of the id. A debt that they inherit from the limit is limited so that the bucket refills
 * within ten years.
 */
export function levelsOf(rate: Rate, limit: Pick<Limit<never>, 'rate' | 'levels'>): Levels {
  return rate === limit.rate ? limit.levels : levelsFrom(rate, limit.rate);
}

/** @param own - The numbers of the limit. */
export function levelsFrom(rate: Rate, own: Rate): Levels {
  const { toleranceTicks, emissionIntervalTicks, maxDebt = own.maxDebt ?? 0, waitTicks = own.waitTicks ?? 0 } = rate;
  const aboveTicks = Math.max(maxDebt * emissionIntervalTicks, waitTicks);
  const capTicks = Math.min(toleranceTicks + aboveTicks, MAX_TOLERANCE_TICKS);
  const roomTicks = Math.min(toleranceTicks + waitTicks, capTicks);
  return { roomTicks, capTicks, lineTicks: roomTicks === toleranceTicks ? undefined : toleranceTicks };
}

/**
 * Validates definitions and converts their numbers to ticks.
 *
 * @param wall - The wall clock by which quotas name their periods. Default: that of this process.
 * @throws {SluiceError} For the first invalid name, key, number or unknown property.
 */
export function defineLimits<Request>(
  definitions: LimitDefinitions<Request>,
  onFailure: FailurePolicy,
  wall: StoreWall = new StoreWall(systemTime),
): ReadonlyMap<string, Limit<Request>> {
  if (!isPlainObject(definitions)) {
    const demand = 'an object of limits by name';
    const remedy = "For example limits: { Requests: { key: clientNetwork(), count: 100, period: '1m' } }.";
    throw complaint('ERR_OPTION', { option: 'limits', demand, value: definitions, remedy });
  }
  const limits = new Map<string, Limit<Request>>();
  const spellings = new Map<string, string>();
  for (const [name, definition] of entriesOf<LimitDefinition<Request>>('limits', definitions)) {
    const other = spellings.get(name.toLowerCase());
    if (other !== undefined) throw sameName(other, name);
    spellings.set(name.toLowerCase(), name);
    limits.set(name, defineLimit(name, definition, { onFailure, wall }));
  }
  return limits;
}

/**
 * Rejects a name that is not valid in header fields and bucket keys.
 *
 * @throws {SluiceError} `ERR_LIMIT`.
 */
export function checkLimitName(option: string, name: unknown): asserts name is string {
  if (typeof name === 'string' && LIMIT_NAME_PATTERN.test(name)) return;
  throw complaint('ERR_LIMIT', {
    option,
    demand: 'a letter followed by letters, digits, `_`, `.` or `-`, at most 64 characters',
    value: name,
    remedy: 'Clients see the name in header fields. For example OrdersPerAccount.',
  });
}

function defineLimit<Request>(
  name: string,
  definition: LimitDefinition<Request>,
  { onFailure, wall }: { readonly onFailure: FailurePolicy; readonly wall: StoreWall },
): Limit<Request> {
  checkLimitName('name of a limit', name);
  const where = `limits.${name}`;
  checkOptions(where, definition, FIELDS, LIMIT_HINTS, "{ key: clientNetwork(), count: 100, period: '1m' }");
  const load = loadLimitOf(where, definition);
  const { key = load?.key } = definition;
  if (!isKey(key)) throw notAKey(where, key);
  const { onFailure: policy = onFailure, disabled = false, hidden = false } = definition;
  checkBoolean(`${where}.disabled`, disabled);
  checkBoolean(`${where}.hidden`, hidden);
  const quota = quotaOf(where, name, definition, wall);
  const concurrency = concurrencyOf(where, definition);
  const numbers = concurrency?.rate ?? load?.rate;
  const rate =
    numbers ?? (quota === undefined ? rateOf : quotaRateOf)(where, definition as QuotaDefinition & RateDefinition);
  const onFailureChecked = checkFailurePolicy(`${where}.onFailure`, policy);
  const bounds = boundsOf(`${where}.atMost`, definition.atMost);
  const borrow = borrowTermsOf(where, rate, definition.borrow);
  checkAtMost(where, rate, { rate, bounds, borrow });
  return {
    name,
    key,
    rate,
    levels: levelsFrom(rate, rate),
    bounds,
    disabled,
    treatment: {
      isPlain: concurrency === undefined && load === undefined,
      onFailure: onFailureChecked,
      hidden: hidden || load !== undefined,
      part: 'whole',
      borrowing: undefined,
      sheds: load !== undefined || (concurrency !== undefined && isEveryone(key)),
      slots: concurrency?.slots,
      overshoot: overshootOf(where, definition),
    },
    borrow,
    load: load?.load,
    calendar: quota?.calendar,
    warnAt: quota?.warnAt ?? [],
  };
}

function sameName(one: string, other: string): SluiceError {
  return new SluiceError(
    'ERR_LIMIT',
    `\`limits\` has both \`${one}\` and \`${shownName(other)}\`: names must differ by more than case.`,
  );
}

function notAKey(where: string, value: unknown): SluiceError {
  return complaint('ERR_KEY', {
    option: `${where}.key`,
    demand: 'a key',
    value,
    remedy:
      'It gets the id that is limited from a request, e.g. key: clientNetwork() or key: accountId((req) => req.user?.id ?? null).',
  });
}
