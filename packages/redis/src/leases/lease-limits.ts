import { TICKS_PER_MS, type LeaseDescription, type OvershootNumbers, type StoreTransaction } from '@sluice/core/store';
import { isLeased, leaseNumbers, type NotLeased } from './rules/lease-numbers.ts';
import type { LeaseTerms } from './rules/leased-bucket.ts';

/** What all limits of a store have in common. */
export interface LeaseSettings {
  readonly gateways: number;
  readonly syncTicks: number;
  readonly mode: 'wait' | 'deny';
}

/** Called once for a limit with an overshoot that is decided strictly. */
type StrictListener = (limit: string, reason: string) => void;

/** What was worked out for the last numbers of a limit. */
interface KnownTerms {
  readonly numbers: OvershootNumbers;
  readonly terms: LeaseTerms | undefined;
}

/** The parts of a transaction or a charge that show whether it is leased. */
export type LeaseCandidate = Pick<
  StoreTransaction,
  'limit' | 'calendar' | 'incrementTicks' | 'capTicks' | 'lineTicks' | 'period' | 'slots' | 'treatment' | 'rate'
> &
  Partial<Pick<StoreTransaction, 'fitTicks' | 'mode'>>;

/** Works out how limits are leased. */
export class LeaseLimits {
  readonly #settings: LeaseSettings;
  readonly #onStrict: StrictListener;
  readonly #known = new Map<string, KnownTerms>();
  readonly #reported = new Set<string>();
  /** The numbers of which a limiter has learned by {@link describe} that they are decided strictly. It warns of them. */
  readonly #described = new Set<string>();

  constructor(settings: LeaseSettings, onStrict: StrictListener) {
    this.#settings = settings;
    this.#onStrict = onStrict;
  }

  /** The terms for a transaction; undefined if only Redis decides it. */
  termsOf(candidate: LeaseCandidate): LeaseTerms | undefined {
    if (tokensOf(candidate) === undefined) return undefined;
    const { limit, rate, treatment } = candidate;
    const known = this.#known.get(limit);
    if (known !== undefined && followFrom(known.numbers, candidate)) return known.terms;
    const { burst, emissionIntervalTicks: intervalTicks } = rate!;
    const { onFailure, overshoot } = treatment as { onFailure: OvershootNumbers['onFailure']; overshoot: number };
    const numbers = { burst, intervalTicks, overshoot, onFailure };
    const terms = this.#work(numbers);
    if (!isLeased(terms) && !this.#described.has(textOf(numbers))) this.reportStrict(limit, terms.strictBecause);
    this.#known.set(limit, { numbers, terms: isLeased(terms) ? terms : undefined });
    return isLeased(terms) ? terms : undefined;
  }

  /** Reports that a limit, or some of its buckets, are decided strictly: once for each limit. */
  reportStrict(limit: string, reason: string): void {
    if (this.#reported.has(limit)) return;
    this.#reported.add(limit);
    this.#onStrict(limit, reason);
  }

  describe(numbers: OvershootNumbers): LeaseDescription {
    const terms = this.#work(numbers);
    if (isLeased(terms)) return described(terms, numbers.onFailure);
    this.#described.add(textOf(numbers));
    return { leased: false, reason: terms.strictBecause };
  }

  #work({ burst, intervalTicks, overshoot, onFailure }: OvershootNumbers): LeaseTerms | NotLeased {
    const { gateways, syncTicks, mode } = this.#settings;
    const numbers = leaseNumbers({ burst, intervalTicks, overshoot, gateways, syncTicks });
    if (!isLeased(numbers)) return numbers;
    return { ...numbers, waits: mode === 'wait', onFailure: inOutage(onFailure) };
  }
}

/** Whether numbers, or the terms that were worked out from them, are those of a transaction that {@link tokensOf} accepts. */
export function followFrom(numbers: OvershootNumbers, { rate, treatment }: LeaseCandidate): boolean {
  return (
    numbers.burst === rate!.burst &&
    numbers.intervalTicks === rate!.emissionIntervalTicks &&
    numbers.overshoot === treatment!.overshoot &&
    inOutage(numbers.onFailure) === inOutage(treatment!.onFailure)
  );
}

/**
 * Returns the tokens of a transaction or a charge that can be leased, or undefined if only Redis can decide it.
 *
 * Leases know one level up to which a bucket is used, and whole tokens. A share of a bucket, a queue, a debt, slots and
 * periods are decided by Redis, as a part of the same bucket.
 */
export function tokensOf(candidate: LeaseCandidate): number | undefined {
  const { treatment, rate } = candidate;
  if (rate === undefined || treatment === undefined || treatment.overshoot === undefined) return undefined;
  if (candidate.lineTicks !== undefined || candidate.period !== undefined) return undefined;
  if (candidate.slots !== undefined || candidate.calendar !== undefined) return undefined;
  const { toleranceTicks } = rate;
  const { incrementTicks, fitTicks, mode } = candidate;
  const levelTicks = mode === undefined || mode === 'charge' ? candidate.capTicks : toleranceTicks;
  if (levelTicks !== toleranceTicks || (fitTicks ?? toleranceTicks) !== toleranceTicks) return undefined;
  if (incrementTicks > toleranceTicks) return undefined;
  // Faster than a remainder, and as exact for numbers below 2^53.
  const tokens = incrementTicks / rate.emissionIntervalTicks;
  return Number.isInteger(tokens) ? tokens : undefined;
}

/** The policy `open` is the limiter's to apply: it must learn of the outage. */
function inOutage(onFailure: OvershootNumbers['onFailure']): LeaseTerms['onFailure'] {
  return onFailure === 'local' ? 'local' : 'closed';
}

function textOf({ burst, intervalTicks, overshoot }: OvershootNumbers): string {
  return `${burst} ${intervalTicks} ${overshoot}`;
}

function described(terms: LeaseTerms, onFailure: OvershootNumbers['onFailure']): LeaseDescription {
  const { overdraftTokens, leaseTicks, dueTicks, settleTicks, boundTokens, gateways, intervalTicks } = terms;
  const refilled = Math.ceil(leaseTicks / intervalTicks);
  const syncTicks = settleTicks || dueTicks;
  return {
    leased: true,
    mode: terms.waits ? 'wait' : 'deny',
    overdraft: overdraftTokens,
    leaseMs: leaseTicks / TICKS_PER_MS,
    syncMs: syncTicks / TICKS_PER_MS,
    bound: boundTokens,
    formula: `${gateways} processes × ${overdraftTokens} + ${refilled} that refill in ${leaseTicks / TICKS_PER_MS} ms`,
    callsPerSecond: (1000 * TICKS_PER_MS) / syncTicks,
    settleMs: terms.waits ? settleTicks / TICKS_PER_MS : 0,
    lateMs: (settleTicks > 0 ? (gateways - 1) * terms.overdraftTicks : terms.reportTicks) / TICKS_PER_MS,
    outage: OUTAGE[onFailure](terms),
  };
}

const OUTAGE: Readonly<Record<OvershootNumbers['onFailure'], (terms: LeaseTerms) => string>> = {
  closed: () => 'when the leases are spent, requests get a 503',
  local({ gateways, overdraftTokens }) {
    const ifIdle = overdraftTokens > 1 ? ` (${gateways * overdraftTokens} if all were idle before)` : '';
    return `at most ${gateways} ${gateways === 1 ? 'token' : 'tokens'} more than this bound if no process reaches Redis${ifIdle}; if only some do, the others add their share of the rate`;
  },
  open: () => 'there is no bound: all requests pass',
};
