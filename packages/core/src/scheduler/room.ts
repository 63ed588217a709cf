import type { Decided } from '../decision/decided.ts';
import type { Transaction } from '../decision/transaction.ts';
import { waitFor } from '../rule/gcra.ts';
import { TICKS_PER_MICRO } from '../rule/ticks.ts';
import { mapKeyOf } from '../store/bucket-key.ts';
import type { ScheduledCall } from './scheduled-call.ts';

/** Why a call can't begin, and what is known about when it can. Times are in microseconds. */
export interface Denial {
  /** How long until its rates and quotas let it pass; `Infinity` if no wait helps. */
  readonly waitMicros: number;
  /** How long until it can begin, by them. */
  readonly beginsMicros: number;
  /** How long before that it can take its tokens. */
  readonly aheadMicros: number;
  /** The time that one such call takes of a rate; 0 if no rate denies it. */
  readonly everyMicros: number;
  /** Whether something that is held has denied it: then it is not known when it is released. */
  readonly isHeld: boolean;
  /** The buckets that have denied it, as `limit:id`. */
  readonly buckets: readonly string[];
}

/** Reads the figures of a denial. */
export function denialOf(decision: Decided): Denial {
  const { batch, results, outcome } = decision;
  const all = {
    buckets: [] as string[],
    waitMicros: 0,
    beginsMicros: 0,
    aheadMicros: Infinity,
    everyMicros: 0,
    isHeld: false,
  };
  if (outcome === 'unavailable' || decision.blocked) return { ...all, ...sameWait(decision.retryAfterMs) };
  for (const [i, { allowed, retryAfterMs, limit, id }] of results.entries()) {
    if (allowed) continue;
    all.buckets.push(mapKeyOf({ limit, id }));
    const transaction = batch[i]!;
    const { level } = transaction.rate.kind;
    if (level === 'held') {
      all.isHeld = true;
      continue;
    }
    const [waitMicros, aheadMicros] = [Math.round(retryAfterMs * 1000), aheadOf(transaction)];
    all.waitMicros = Math.max(all.waitMicros, waitMicros);
    all.beginsMicros = Math.max(all.beginsMicros, waitMicros + aheadMicros);
    all.aheadMicros = Math.min(all.aheadMicros, aheadMicros);
    if (level === 'falls') all.everyMicros = Math.max(all.everyMicros, transaction.incrementTicks / TICKS_PER_MICRO);
  }
  return { ...all, aheadMicros: all.aheadMicros === Infinity ? 0 : all.aheadMicros };
}

/** How long before its turn a transaction can take its tokens, in microseconds. */
function aheadOf({ fitTicks, lineTicks }: Transaction): number {
  return lineTicks === undefined ? 0 : Math.ceil((fitTicks - lineTicks) / TICKS_PER_MICRO);
}

function sameWait(retryAfterMs: number): Pick<Denial, 'waitMicros' | 'beginsMicros' | 'aheadMicros'> {
  const waitMicros = Math.round(retryAfterMs * 1000);
  return { waitMicros, beginsMicros: retryAfterMs === Infinity ? Infinity : 0, aheadMicros: 0 };
}

/** What is known about the next calls for the same buckets, after one that passed. */
export interface Rest {
  /** How long to wait before the next one is asked for, in microseconds. */
  readonly waitMicros: number;
  /** How many like it can pass then at most; at least 1. */
  readonly calls: number;
}

/**
 * Finds out how many calls like the next one can pass after a call that has.
 *
 * @param laterOf - How much later than at its earliest time a call is asked for, by how long ahead it can take its tokens and by
 *   how long they take to come back.
 */
export function restAfter(
  decision: Decided,
  next: ScheduledCall,
  laterOf: (aheadMicros: number, everyMicros: number) => number,
): Rest {
  const { batch, results } = decision;
  let [wait, calls] = [0, Infinity];
  for (const [i, { remaining, resetAfterMs, limit }] of results.entries()) {
    const { rate, fitTicks } = batch[i]!;
    const cost = next.entries.find((entry) => entry.limit === limit)?.cost ?? 1;
    if (cost === 0) continue;
    if (rate.kind.level !== 'falls') {
      calls = Math.min(calls, Math.floor(remaining / cost));
      continue;
    }
    const increment = cost * rate.emissionIntervalTicks;
    const levelTicks = resetAfterMs * 1000 * TICKS_PER_MICRO;
    const waitMicros = waitFor(levelTicks, increment, fitTicks) / TICKS_PER_MICRO;
    const laterMicros = waitMicros === 0 ? 0 : laterOf(aheadOf(batch[i]!), increment / TICKS_PER_MICRO);
    const roomTicks = waitMicros === 0 ? fitTicks - levelTicks : increment + laterMicros * TICKS_PER_MICRO;
    wait = Math.max(wait, waitMicros + laterMicros);
    calls = Math.min(calls, Math.floor(roomTicks / increment));
  }
  return { waitMicros: Math.ceil(wait), calls: Math.max(1, calls) };
}
