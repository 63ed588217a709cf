import type { Limit } from '../limits/limit.ts';
import { isExact } from '../limits/treatment.ts';
import type { LeaseDescription } from '../store/lease-description.ts';
import type { Store } from '../store/store.ts';
import { leaseOf } from '../kinds/rate/overshoot.ts';

/** How a limit is decided. */
export interface LimitDescription {
  readonly limit: string;
  /** Its numbers, as in a header field. */
  readonly numbers: string;
  /** Whether the limit is never exceeded. */
  readonly exact: boolean;
  /** How its store decides it, if it has an `overshoot` and the store has leases. */
  readonly lease: LeaseDescription | undefined;
  /** All of it as text, for people. */
  readonly text: string;
}

/** Describes how a store decides a limit. */
export function describedLimit(store: Store, limit: Limit<never>): LimitDescription {
  const lease = leaseOf(store, limit);
  const numbers = limit.kind.describe(limit);
  const lines = lease === undefined ? [exactLine(limit)] : linesOf(lease, limit);
  const text = [`${limit.name}: ${numbers}`, ...lines].join('\n');
  return { limit: limit.name, numbers, exact: lease?.leased !== true, lease, text };
}

type LeaseTerms = Extract<LeaseDescription, { readonly leased: true }>;

function exactLine({ treatment }: Limit<never>): string {
  return isExact(treatment) ? '  exact' : '  exact: the store has no leases, and ignores the overshoot';
}

function linesOf(lease: LeaseDescription, { rate, treatment }: Limit<never>): string[] {
  if (!lease.leased) return [`  exact, although it has an overshoot, because ${lease.reason}`];
  const { mode, overdraft, leaseMs, syncMs, bound, formula, callsPerSecond, outage } = lease;
  const part = ((100 * bound) / rate.burst).toFixed(1);
  return [
    `  decided in the process, by leases (mode ${mode})`,
    `  bound          ${bound} tokens more than the limit in any time (${part} % of the burst): ${formula}`,
    `  overdraft      ${overdraft} ${overdraft === 1 ? 'token' : 'tokens'} of each process`,
    `  lease          ${rounded(leaseMs)} ms`,
    `  sync           every ${rounded(syncMs)} ms while in use, about ${Math.ceil(callsPerSecond)} calls a second of each process`,
    `  denials        ${denialsOf(lease)}`,
    `  in an outage   ${treatment.onFailure}: ${outage}`,
  ];
}

function denialsOf({ settleMs, lateMs }: LeaseTerms): string {
  if (lateMs === 0) return 'their Retry-After is as without leases';
  const late = `${rounded(lateMs / 1000)} s, for what other processes have not reported`;
  if (settleMs > 0) {
    return `wait until other processes have reported little for ${rounded(settleMs)} ms; if Redis is far, their Retry-After includes up to ${late}`;
  }
  return `their Retry-After includes up to ${late}`;
}

function rounded(ms: number): string {
  return String(Math.round(10 * ms) / 10);
}
