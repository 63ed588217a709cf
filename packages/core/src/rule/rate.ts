import { durationTicks, NO_FUNCTION, type Duration, type DurationRange } from './duration.ts';
import { complaint, type SluiceError } from '../checks/errors.ts';
import { leafOf, wholeNumber } from '../checks/options.ts';
import { shareOf, wholeShareOf } from './gcra.ts';
import { MAX_TOLERANCE_TICKS, TICKS_PER_MS } from './ticks.ts';
import { durationText } from '../time/duration-text.ts';

/** The numbers of a limit or an override, as a user writes them. */
export interface LimitNumbers {
  /**
   * The most tokens that a bucket contains, a whole number from 1 to 10⁹: how many requests of cost 1 can pass at one
   * instant. Default: `count`.
   */
  readonly burst?: number | undefined;
  /** How many tokens refill every `period`, a whole number from 1 to 10⁹. */
  readonly count: number;
  /** From 1 ms to 366 days: `'1m'`, or a number of milliseconds of at least 1000. */
  readonly period: Duration;
  /**
   * How many tokens a charge may take below an empty bucket, a whole number from 0 to 10⁹: for work whose true cost is
   * known only afterwards. Requests are denied until the debt has been paid back. Default: 0; for an override, the
   * `maxDebt` of its limit.
   */
  readonly maxDebt?: number | undefined;
  /**
   * How long a request may wait in a queue for its tokens, from 1 ms to 1 hour: `'2s'`. A request that would wait
   * longer is denied. Default: requests are never delayed; for an override, the `maxWait` of its limit.
   */
  readonly maxWait?: Duration | undefined;
}

/** The numbers of a limit, in ticks. */
export interface Numbers {
  readonly burst: number;
  readonly count: number;
  readonly periodMs: number;
  /** The emission interval T: the time in which one token refills, `period / count` rounded down to a tick. */
  readonly emissionIntervalTicks: number;
  /** The tolerance τ = burst × T: the time in which an empty bucket fills. */
  readonly toleranceTicks: number;
  /** In tokens. Undefined for an override without its own: then the `maxDebt` of its limit applies. */
  readonly maxDebt: number | undefined;
  /** The longest delay of a request. Undefined like `maxDebt`. */
  readonly waitTicks: number | undefined;
  /** What an override changes about borrowing. Only in the numbers of an override. */
  readonly borrow?: RateChange | undefined;
  readonly kind: NumbersKind;
}

/** What numbers are of: the same object for all numbers of a kind of limits. */
export interface NumbersKind {
  /** The kind's name: `rate`. */
  readonly name: string;
  /**
   * How the level of a bucket comes down: it falls with time, or to 0 at the end of a calendar period, or when a slot is
   * released. A limit by its own level has no buckets. Where it does not fall with time, the level is a number of tokens or
   * slots: `burst` and `count` are the largest, T is one tick, and `periodMs` is 0.
   */
  readonly level: 'falls' | 'resets' | 'held' | 'own';
  /** The option that is the number of tokens in a full bucket, or of all slots. */
  readonly size: string;
  /** The unit in which header fields count it. Undefined for requests. */
  readonly unit?: string;
}

/** The numbers of a rate. */
export const FALLING: NumbersKind = { name: 'rate', level: 'falls', size: 'burst' };

/** What an override changes about borrowing. Undefined stands for what the limit says. */
interface RateChange {
  readonly ceiling: Numbers | undefined;
  readonly weight: number | undefined;
}

/** The largest `burst` and `count`. */
export const MAX_TOKENS: number = 1_000_000_000;
/** The range of a `period`. */
export const PERIOD: DurationRange = { minMs: 1, maxMs: 366 * 86_400_000, demand: 'from 1ms to 366 days' };
/** The range of a `maxWait`. */
export const WAIT: DurationRange = { minMs: 1, maxMs: 3_600_000, demand: 'from 1ms to 1 hour' };

/**
 * Validates numbers and converts them to ticks. T is rounded down once, so the rate is never below the configured one,
 * and above it by at most 0.01 % up to 1,000 per second, 0.1 % up to 10,000 and 1 % up to 100,000.
 *
 * @param where - The path of the numbers in error messages: `limits.Orders`.
 * @throws {SluiceError} `ERR_OPTION` or `ERR_DURATION` for a number out of range; `ERR_LIMIT` when T is below one tick
 * (more than 16 million tokens per second) or the bucket needs more than ten years to fill, `maxDebt` included.
 */
export function rateOf(where: string, { burst, count, period, maxDebt, maxWait }: LimitNumbers): Numbers {
  const wholeCount = checkedTokens(`${where}.count`, count);
  const wholeBurst = checkedTokens(`${where}.burst`, burst === undefined ? count : burst);
  const periodTicks = durationTicks(`${where}.period`, period, PERIOD);
  const periodMs = periodTicks / TICKS_PER_MS;
  const { emissionIntervalTicks, toleranceTicks } = ticksOf(where, {
    burst: wholeBurst,
    count: wholeCount,
    periodTicks,
  });
  if (maxDebt !== undefined) checkMaxDebt(`${where}.maxDebt`, maxDebt, { toleranceTicks, emissionIntervalTicks });
  const waitTicks = maxWait === undefined ? undefined : durationTicks(`${where}.maxWait`, maxWait, WAIT);
  return rateFrom({
    burst: wholeBurst,
    count: wholeCount,
    periodMs,
    emissionIntervalTicks,
    toleranceTicks,
    maxDebt,
    waitTicks,
    kind: FALLING,
  });
}

/**
 * Converts the numbers of a rate to ticks. T is rounded down once.
 *
 * @throws {SluiceError} `ERR_LIMIT` as of {@link rateOf}.
 */
export function ticksOf(
  where: string,
  { burst, count, periodTicks }: { readonly burst: number; readonly count: number; readonly periodTicks: number },
): Pick<Numbers, 'emissionIntervalTicks' | 'toleranceTicks'> {
  const emissionIntervalTicks = Math.floor(periodTicks / count);
  if (emissionIntervalTicks < 1) throw tooFast(where, count, periodTicks / TICKS_PER_MS);
  const toleranceTicks = burst * emissionIntervalTicks;
  if (toleranceTicks > MAX_TOLERANCE_TICKS) throw tooLarge(where, burst, emissionIntervalTicks);
  return { emissionIntervalTicks, toleranceTicks };
}

/** The only place that makes numbers, so that all have one hidden class. */
function rateFrom({ burst, count, periodMs, emissionIntervalTicks, toleranceTicks, ...rest }: Numbers): Numbers {
  const { maxDebt, waitTicks, kind } = rest;
  return {
    burst,
    count,
    periodMs,
    emissionIntervalTicks,
    toleranceTicks,
    maxDebt,
    waitTicks,
    borrow: undefined,
    kind,
  };
}

/** Returns numbers without a debt and a queue. */
export function plainNumbers(numbers: Omit<Numbers, 'maxDebt' | 'waitTicks' | 'borrow'>): Numbers {
  return rateFrom({ ...numbers, maxDebt: undefined, waitTicks: undefined });
}

/** Returns the numbers of a limit that counts up to a number. */
export function countingRate(kind: NumbersKind, most: number): Numbers {
  return plainNumbers({ burst: most, count: most, periodMs: 0, emissionIntervalTicks: 1, toleranceTicks: most, kind });
}

/** Returns the numbers of a blocked id, whose bucket never has a token. The period and the kind are those of its limit. */
export function rateOfBlocked({ periodMs, kind }: Numbers): Numbers {
  return plainNumbers({ burst: 0, count: 0, periodMs, emissionIntervalTicks: 0, toleranceTicks: 0, kind });
}

/**
 * Returns the largest debt of an id, in tokens.
 *
 * @param own - The numbers of its limit.
 */
export function debtOf({ maxDebt }: Numbers, own: Numbers): number {
  return maxDebt ?? own.maxDebt ?? 0;
}

/** Returns numbers with the debt of others. */
export function withDebtOf({ maxDebt }: Numbers, numbers: Numbers): Numbers {
  return { ...numbers, maxDebt };
}

function tooFast(where: string, count: number, periodMs: number): SluiceError {
  return complaint('ERR_LIMIT', {
    option: `${where}.count`,
    demand: 'at most 16 per microsecond of the period',
    value: `${count} per ${durationText(periodMs)}`,
    remedy: 'Use a smaller count or a longer period.',
  });
}

function tooLarge(where: string, burst: number, emissionIntervalTicks: number): SluiceError {
  return complaint('ERR_LIMIT', {
    option: `${where}.burst`,
    demand: 'small enough for an empty bucket to fill within ten years (burst × period / count)',
    value: burst,
    remedy: `With this count and period use burst: ${Math.floor(MAX_TOLERANCE_TICKS / emissionIntervalTicks)} or less.`,
  });
}

function checkMaxDebt(
  option: string,
  maxDebt: number,
  { toleranceTicks, emissionIntervalTicks }: Pick<Numbers, 'toleranceTicks' | 'emissionIntervalTicks'>,
): void {
  checkedDebt(option, maxDebt);
  const most = Math.floor((MAX_TOLERANCE_TICKS - toleranceTicks) / emissionIntervalTicks);
  if (maxDebt <= most) return;
  throw complaint('ERR_LIMIT', {
    option,
    demand: 'small enough for a bucket with this debt to fill within ten years ((burst + maxDebt) × period / count)',
    value: maxDebt,
    remedy: `With these numbers use maxDebt: ${most} or less.`,
  });
}

/**
 * Validates a `maxDebt`.
 *
 * @param option - Its path in error messages: `limits.Tokens.maxDebt`.
 * @throws {SluiceError} `ERR_OPTION` when it is not a whole number from 0 to {@link MAX_TOKENS}.
 */
export function checkedDebt(option: string, value: unknown): number {
  const remedy = 'It is in tokens, for example maxDebt: 1000. For no debt, leave it out.';
  return wholeNumber(option, value, { min: 0, max: MAX_TOKENS, remedy });
}

/**
 * Validates a `burst` or a `count` of a rate.
 *
 * @param option - Its path in error messages: `limits.Orders.count`.
 * @throws {SluiceError} `ERR_OPTION` when it is not a whole number from 1 to {@link MAX_TOKENS}.
 */
export function checkedTokens(option: string, value: unknown): number {
  return wholeNumber(option, value, { min: 1, max: MAX_TOKENS, remedy: tokensRemedy(option, value) });
}

const FRACTION_REMEDY =
  "For a fraction multiply count and period by the same number: 5.5 per second are count: 11, period: '2s'.";

const TOO_MANY_REMEDY =
  "For no limit leave the limit out. For more, as money has, use a quota, such as per: 'month', or let a token stand for more, in all costs too.";

/** A rate in one text, as other libraries write it: `10/s`, `100 per minute`. */
const RATE_TEXT = /^(\d{1,10}) ?(?:\/|per) ?(ms|s|m|h|d)[a-z]*$/;

function tokensRemedy(option: string, value: unknown): string {
  if (typeof value === 'function') return NO_FUNCTION;
  const [, count, unit] = (typeof value === 'string' && RATE_TEXT.exec(value)) || [];
  if (count !== undefined) return `Write count: ${count}, period: '1${unit}'.`;
  if (typeof value === 'number' && value > 0 && !Number.isInteger(value) && value < MAX_TOKENS) {
    return leafOf(option) === 'burst' ? `For example burst: ${Math.ceil(value)}.` : FRACTION_REMEDY;
  }
  if (typeof value === 'number' && value > MAX_TOKENS && value < Infinity) return TOO_MANY_REMEDY;
  const isText = typeof value === 'string' && Number(value) !== 0;
  if (value !== undefined && !Number.isNaN(value) && !isText) {
    return 'To allow no bursts use burst: 1; for no limit leave the limit out.';
  }
  return leafOf(option) === 'burst' ? 'For example burst: 100.' : "For example count: 100, period: '1m'.";
}

/** Returns the level up to which a share of a bucket with these numbers reaches: to a tick, or to a whole token or slot. */
export function shareOfRoom({ kind }: Pick<Numbers, 'kind'>, roomTicks: number, share: number): number {
  return kind.level === 'falls' ? shareOf(roomTicks, share) : wholeShareOf(roomTicks, share);
}

/** Returns the part of a message about the longest delay, after that about the burst; `''` without a delay. */
export function andWait(waitTicks: number): string {
  return waitTicks === 0 ? '' : `, and of maxWait, ${waitTicks / TICKS_PER_MS} ms`;
}
