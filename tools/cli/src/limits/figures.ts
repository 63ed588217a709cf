import type { LoadedLimits } from '@sluice/config';
import type { Limiter } from '@sluice/core';
import { limitsOf, timeOf } from '@sluice/core/kit';
import { durationText } from '../console/number-text.ts';
import { UsageError } from '../console/failure.ts';
import { blockText, shownBlock, type ShownBlock } from './shown-block.ts';
import { shownId } from './shown-id.ts';
import { listedOverride, type ListedOverride } from './listed-override.ts';
import { type Feature, featuresOf, isInProcess, type KindAndNumbers, numbersText } from './limit-kind.ts';

/** A bucket of the command line, with the limiter that decides it. */
export interface AskedBucket {
  readonly loaded: Pick<LoadedLimits, 'overrides'>;
  readonly limiter: Limiter;
  readonly limit: string;
  /** As it was written. */
  readonly id: string;
  /** The cost of the request that is asked about. */
  readonly cost: number;
}

/** What a bucket contains, as the next decision finds it. */
export interface Figures extends KindAndNumbers, ListedOverride {
  readonly limit: string;
  /** The canonical id. */
  readonly id: string;
  readonly features: readonly Feature[];
  readonly state: 'counted' | 'unlimited' | 'blocked';
  /** The block by which the id is denied; left out if there is none. */
  readonly block?: ShownBlock;
  readonly cost: number;
  /** Whether a request of this cost is allowed now. */
  readonly allowed: boolean;
  /** Whole tokens, or free slots. */
  readonly remaining: number;
  readonly delayMs: number;
  readonly retryAfterMs: number;
  readonly resetAfterMs: number;
  /** The current period of a quota. */
  readonly period?: { readonly start: string; readonly end: string };
}

const UNLIMITED = {
  remaining: Infinity,
  burst: Infinity,
  count: Infinity,
  periodMs: 0,
  retryAfterMs: 0,
  resetAfterMs: 0,
};

/**
 * Returns what a bucket contains, by the decision that a server would make now. Takes nothing.
 *
 * @throws {SluiceError} What the store rejected with, and the errors of `limiter.check`.
 * @throws {UsageError} For a limit without buckets in a store.
 */
export async function figuresOf(bucket: AskedBucket): Promise<Figures> {
  const { loaded, limiter, limit: name, id: text, cost } = bucket;
  const limits = limitsOf(limiter);
  const limit = limits.get(name);
  if (limit !== undefined && isInProcess(limit)) throw notStored(name);
  const decision = await limiter.check([{ limit: name, id: text, cost }]);
  if (decision.failure !== undefined) throw decision.failure.cause;
  const [result] = decision.results;
  const id = limit!.key.format.canonical(text);
  const block = result?.blocked === true ? limiter.store.blocks?.find(name, id, timeOf(limiter).wallNow()) : undefined;
  const { remaining, burst, count, periodMs, retryAfterMs, resetAfterMs } = result ?? UNLIMITED;
  return {
    limit: name,
    id,
    kind: limit!.rate.kind.name,
    features: featuresOf(limit!, limits),
    ...listedOverride(loaded, name, id),
    state: result === undefined ? 'unlimited' : result.blocked ? 'blocked' : 'counted',
    cost,
    allowed: decision.allowed,
    remaining,
    burst,
    count,
    periodMs,
    per: limit!.periods?.unit ?? null,
    delayMs: decision.delayMs,
    retryAfterMs,
    resetAfterMs,
    ...(block !== undefined && { block: shownBlock(block) }),
    ...(limit!.periods !== undefined && { period: await periodOf(limiter, name, text) }),
  };
}

async function periodOf(limiter: Limiter, limit: string, id: string): Promise<{ start: string; end: string }> {
  const [usage] = await limiter.usage([{ limit, id }]);
  return { start: usage!.start.toISOString(), end: usage!.end.toISOString() };
}

function notStored(name: string): UsageError {
  const what = `The limit \`${name}\` is counted in each process, so it has no buckets in Redis.`;
  return new UsageError(`${what} To see its numbers, use sluice explain.`);
}

/** Returns figures as lines for people. */
export function figuresLines(figures: Figures): string[] {
  const { limit, state, override, endedOverride: ended, period, block } = figures;
  const id = shownId(figures.id);
  const own = ended === null ? 'the limit itself' : `the limit itself: the override for ${shownId(ended)} has ended`;
  const why = override === null ? own : `an override for ${shownId(override)}`;
  if (block !== undefined) return [`${limit} ${id}: ${blockText(block)}`];
  if (state !== 'counted')
    return [`${limit} ${id}: ${state}, by ${override === null ? 'the limit, which is disabled' : why}`];
  const full = fullText(figures);
  return [
    `${limit} ${id}: ${figures.remaining} of ${figures.burst} ${unitOf(figures)} left`,
    `  numbers   ${numbersText(figures)}, from ${why}`,
    ...(period === undefined ? [] : [`  period    ${period.start} to ${period.end}`]),
    ...(full === '' ? [] : [`  full      ${full}`]),
    `  a request of cost ${figures.cost} is ${allowedText(figures)}`,
  ];
}

/** Returns one line about how empty a bucket is. */
export function emptinessLine(figures: Figures): string {
  const { limit, id, remaining, burst, kind, resetAfterMs } = figures;
  const full = kind === 'concurrency' ? '' : `, full in ${durationText(resetAfterMs)}`;
  return `${limit} ${shownId(id)}: ${remaining} of ${burst} ${unitOf(figures)} left${full}`;
}

function unitOf({ kind }: Figures): string {
  return kind === 'concurrency' ? 'slots' : 'tokens';
}

function fullText({ kind, resetAfterMs }: Figures): string {
  if (kind === 'concurrency') return '';
  return resetAfterMs === 0 ? 'now' : `in ${durationText(resetAfterMs)} if nothing more comes`;
}

function allowedText({ allowed, delayMs, retryAfterMs }: Figures): string {
  if (allowed) return delayMs > 0 ? `allowed after a wait of ${durationText(delayMs)}` : 'allowed now';
  return retryAfterMs > 0 && retryAfterMs < Infinity ? `denied for ${durationText(retryAfterMs)}` : 'denied now';
}
