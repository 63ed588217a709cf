import type { CalendarPeriod, Mode, StoreOperation, StoreTransaction } from '@sluice/core/store';

const DAY_MS = 86_400_000;
const TICKS_PER_MS = 16_000;
/** A token of a rate comes back after a day: not while processes replace each other. */
const TOKEN_TICKS = DAY_MS * TICKS_PER_MS;
const EXPIRY_MS = DAY_MS / 24;

/** The limits of a roll-out: one for each way in which a level comes down. */
export const LIMITS = ['Rate', 'Quota', 'Slots'] as const;
export type LimitName = (typeof LIMITS)[number];

/** A bucket in a step. */
export interface Bucket {
  readonly limit: LimitName;
  readonly id: string;
}

/** One transaction: tokens or slots, and up to how many. */
export interface Taking extends Bucket {
  readonly count: number;
  readonly most: number;
  readonly mode: Mode;
  /** For slots. */
  readonly holder: string;
}

/** Slots of a holder, from `first` on. */
export interface Holding extends Bucket {
  readonly holder: string;
  readonly first: number;
  readonly count: number;
}

/** One operation, in tokens and slots. */
export type Step =
  | { readonly kind: 'spend' | 'check'; readonly alternatives: readonly (readonly Taking[])[] }
  | ({ readonly kind: 'charge' } & Bucket & { readonly count: number; readonly most: number })
  | ({ readonly kind: 'refund' } & Bucket & { readonly count: number; readonly tatAfterSpendTicks?: number })
  | ({ readonly kind: 'cap' } & Bucket & { readonly most: number })
  | ({ readonly kind: 'renew' | 'release' } & Holding)
  | ({ readonly kind: 'reset' } & Bucket);

/** A step as stores get it. The period is the same for all of a roll-out. */
export function operationOf(step: Step, period: CalendarPeriod): StoreOperation {
  if ('alternatives' in step) {
    const alternatives = step.alternatives.map((batch) => batch.map((each) => transactionOf(each, period)));
    return { kind: step.kind, alternatives };
  }
  const bucket = bucketOf(step, period);
  if ('holder' in step) {
    const { kind, holder, first, count } = step;
    return { kind, batch: [{ ...bucket, slots: true, holder, first, count, expiryMs: EXPIRY_MS }] };
  }
  if (step.kind === 'reset') return { kind: 'reset', batch: [bucket] };
  const unit = unitOf(step);
  if (step.kind === 'cap') return { kind: 'cap', batch: [{ ...bucket, capTicks: step.most * unit }] };
  const incrementTicks = step.count * unit;
  if (step.kind === 'charge')
    return { kind: 'charge', batch: [{ ...bucket, incrementTicks, capTicks: step.most * unit }] };
  const { tatAfterSpendTicks } = step;
  return {
    kind: 'refund',
    batch: [{ ...bucket, incrementTicks, ...(tatAfterSpendTicks !== undefined && { tatAfterSpendTicks }) }],
  };
}

/** A look at all buckets of an id. */
export function lookAt(id: string): Step {
  const look = { count: 0, most: 100, mode: 'check-only', holder: 'nobody' } as const;
  return { kind: 'check', alternatives: [LIMITS.map((limit) => ({ limit, id, ...look }))] };
}

/** How many tokens or slots of a bucket are taken, by its level. */
export function countOf(bucket: Bucket, levelTicks: number): number {
  return Math.ceil(levelTicks / unitOf(bucket));
}

/** The ticks of a token, or of a slot. */
export function unitOf({ limit }: Bucket): number {
  return limit === 'Rate' ? TOKEN_TICKS : 1;
}

/** The day of a moment, and the day after it. */
export function periodAt(ms: number): CalendarPeriod {
  const start = ms - DAY_MS / 2;
  return [start, start + DAY_MS, start + 2 * DAY_MS];
}

function transactionOf(taking: Taking, period: CalendarPeriod): StoreTransaction {
  const { count, most, mode, holder } = taking;
  const ticks = most * unitOf(taking);
  const numbers = { incrementTicks: count * unitOf(taking), fitTicks: ticks, capTicks: ticks, mode };
  const bucket = bucketOf(taking, period);
  return { ...bucket, ...numbers, ...(taking.limit === 'Slots' && { holding: { holder, expiryMs: EXPIRY_MS } }) };
}

function bucketOf({ limit, id }: Bucket, period: CalendarPeriod) {
  if (limit === 'Quota') return { limit, id, calendar: 'day:UTC', period };
  return limit === 'Slots' ? ({ limit, id, slots: true } as const) : { limit, id };
}
