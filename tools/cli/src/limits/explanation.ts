import type { LoadedLimits } from '@sluice/config';
import { createLimiter, IpAddress, type IdFormat, type Limiter } from '@sluice/core';
import { borrowTermsOf, ceilingOf } from '@sluice/core/kinds';
import {
  bucketsToReset,
  limitsOf,
  overridesOf,
  type Limit,
  type OverrideRate,
  type Numbers as NumbersInTicks,
} from '@sluice/core/kit';
import type { CalendarUnit } from '@sluice/core/quota';
import { TICKS_PER_MS } from '@sluice/core/store';
import { redisKey, type RedisKey } from '@sluice/redis';
import { UsageError } from '../console/failure.ts';
import type { KeyOptions } from '../redis/options.ts';
import { listedOverride, type ListedOverride } from './listed-override.ts';
import { type Feature, featuresOf, isInProcess, type Kind, type Numbers } from './limit-kind.ts';

/** Which numbers apply, why, and what follows from them. */
export interface Explanation extends ListedOverride {
  readonly limit: string;
  /** The canonical id; null if the limit itself is explained. */
  readonly id: string | null;
  readonly kind: Kind;
  /** The calendar period of a quota; null for others. */
  readonly per: CalendarUnit | null;
  readonly features: readonly Feature[];
  readonly idFormat: string;
  readonly state: 'counted' | 'unlimited' | 'blocked';
  /** Undefined if nothing is counted. */
  readonly numbers: Numbers | undefined;
  /** The numbers of the limit, where an override changes them. */
  readonly insteadOf: Numbers | undefined;
  readonly rate: RateFacts | undefined;
  readonly borrow: BorrowFacts | undefined;
  readonly slots: { readonly expiryMs: number; readonly scope: string } | undefined;
  readonly period: { readonly start: string; readonly end: string } | undefined;
  readonly overshoot: number | undefined;
  /** The buckets of the id in Redis. Empty without an id. */
  readonly buckets: readonly (RedisKey & { readonly limit: string })[];
}

/** What follows from the numbers of a rate. */
export interface RateFacts {
  /** T, the time in which one token refills. */
  readonly tokenMs: number;
  /** The time in which an empty bucket fills. */
  readonly fullAfterMs: number;
  /** The most tokens in any window of a minute, an hour and a day: burst + maxDebt + window / T. */
  readonly mostPerMinute: number;
  readonly mostPerHour: number;
  readonly mostPerDay: number;
  readonly maxDebt: number;
  readonly maxWaitMs: number;
}

/** How an id borrows. */
export interface BorrowFacts {
  readonly from: string;
  readonly ceiling: Numbers;
  readonly fair: boolean;
  readonly weight: number | 'a function';
}

/** What is to be explained. */
export interface Question {
  readonly loaded: Pick<LoadedLimits, 'overrides'>;
  /** The name of a limit. */
  readonly name: string;
  /** An id as it was written; undefined for the limit itself. */
  readonly text: string | undefined;
  readonly keyOptions: KeyOptions;
}

/** Opens limits without a store, to explain them. It validates them as a server does. */
export function limiterOf(loaded: LoadedLimits): Limiter {
  return createLimiter({ ...loaded, log: false });
}

/**
 * Explains which numbers apply to an id of a limit, and why.
 *
 * @throws {SluiceError} `ERR_UNKNOWN_LIMIT`, and `ERR_ID` if the id is not valid in the format of the limit.
 */
export async function explanationOf(limiter: Limiter, question: Question): Promise<Explanation> {
  const { loaded, name, text, keyOptions } = question;
  // Throws for the name of no limit, with the names of all.
  limiter.describe(name);
  const limits = limitsOf(limiter);
  const limit = limits.get(name)!;
  const id = text === undefined ? undefined : canonicalId(limit.key.format, text);
  if (id === '') throw new UsageError('The id must not be empty.');
  const listed = listedOverride(loaded, name, id);
  const own: OverrideRate = limit.disabled ? 'unlimited' : limit.rate;
  const rate = limit.disabled || listed.override === null ? own : overridesOf(loaded.overrides, name)!.rateOf(id!)!;
  const isCounted = typeof rate !== 'string';
  return {
    limit: name,
    id: id ?? null,
    kind: limit.rate.kind.name,
    per: limit.periods?.unit ?? null,
    features: featuresOf(limit, limits),
    idFormat: limit.key.format.name,
    ...listed,
    state: isCounted ? 'counted' : rate,
    numbers: isCounted && limit.kind.level !== 'own' ? numbersOf(rate) : undefined,
    insteadOf: listed.override !== null && limit.kind.level !== 'own' ? numbersOf(limit.rate) : undefined,
    rate: isCounted && limit.rate.kind.name === 'rate' ? rateFacts(rate, limit) : undefined,
    borrow: isCounted ? borrowFacts(rate, limit) : undefined,
    slots: limit.treatment.holding as Explanation['slots'],
    period: periodOf(limit, id),
    overshoot: limit.treatment.overshoot,
    buckets: id === undefined || isInProcess(limit) ? [] : await bucketsOf(limits, { limit: name, id }, keyOptions),
  };
}

/** The id of an address is its network if the format counts networks: a request has an address, not a network. */
function canonicalId(format: IdFormat, text: string): string {
  const length = format.prefixLengths?.ipv6;
  const address = length === undefined ? undefined : IpAddress.parse(text);
  return format.canonical(address?.family === 6 ? asId(address, length!) : text);
}

function asId(address: IpAddress, length: number): string {
  return length === 128 ? address.text : address.network(length);
}

function numbersOf({ burst, count, periodMs }: NumbersInTicks): Numbers {
  return { burst, count, periodMs };
}

const MINUTE_MS = 60_000;

function rateFacts(rate: NumbersInTicks, { rate: own }: Limit): RateFacts {
  const {
    burst,
    emissionIntervalTicks,
    toleranceTicks,
    maxDebt = own.maxDebt ?? 0,
    waitTicks = own.waitTicks ?? 0,
  } = rate;
  const most = (windowMs: number): number =>
    burst + maxDebt + Math.floor((windowMs * TICKS_PER_MS) / emissionIntervalTicks);
  return {
    tokenMs: emissionIntervalTicks / TICKS_PER_MS,
    fullAfterMs: toleranceTicks / TICKS_PER_MS,
    mostPerMinute: most(MINUTE_MS),
    mostPerHour: most(60 * MINUTE_MS),
    mostPerDay: most(1440 * MINUTE_MS),
    maxDebt,
    maxWaitMs: waitTicks / TICKS_PER_MS,
  };
}

function borrowFacts(rate: NumbersInTicks, limit: Limit): BorrowFacts | undefined {
  const borrow = borrowTermsOf(limit);
  if (borrow === undefined) return undefined;
  const weight = rate.borrow?.weight ?? borrow.weight;
  return {
    from: borrow.from,
    ceiling: numbersOf(ceilingOf(borrow, rate)),
    fair: borrow.fair,
    weight: typeof weight === 'function' ? 'a function' : weight,
  };
}

function periodOf({ periods }: Limit, id: string | undefined): { start: string; end: string } | undefined {
  if (periods === undefined) return undefined;
  const [startMs, endMs] = periods.running(periods.of(id ?? ''));
  return { start: new Date(startMs).toISOString(), end: new Date(endMs).toISOString() };
}

/** The buckets that belong to one id. The pool from which it borrows belongs to all. */
async function bucketsOf(
  limits: ReadonlyMap<string, Limit>,
  named: { readonly limit: string; readonly id: string },
  keyOptions: KeyOptions,
): Promise<(RedisKey & { limit: string })[]> {
  const buckets = await bucketsToReset({ limits }, [named]);
  return buckets.map((bucket) => ({ limit: bucket.limit, ...redisKey(bucket, keyOptions) }));
}
