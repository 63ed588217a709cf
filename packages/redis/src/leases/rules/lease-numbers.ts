import { MAX_TOLERANCE_TICKS, wholeShareOf } from '@sluice/core/kit';
import { TICKS_PER_MS } from '@sluice/core/store';

/** What the numbers of a leased limit follow from. */
export interface LeaseDemand {
  /** The burst of the limit, in tokens. */
  readonly burst: number;
  /** The emission interval T of the limit. */
  readonly intervalTicks: number;
  /** How far the processes together may exceed the limit, as a part of the burst: above 0, at most 1. */
  readonly overshoot: number;
  /** The largest number of processes that share the limit. */
  readonly gateways: number;
  /** The longest time between two syncs of a bucket in use. */
  readonly syncTicks: number;
}

/** The numbers of a leased limit. Ticks are whole numbers of 1/16 µs. */
export interface LeaseNumbers extends LeaseDemand {
  /** The tolerance: burst × T. */
  readonly fitTicks: number;
  /** How many tokens one process may let through before it reports them. */
  readonly overdraftTokens: number;
  /** The same in ticks. */
  readonly overdraftTicks: number;
  /** A lease can be spent for this long after its request was sent. */
  readonly leaseTicks: number;
  /** The time between two syncs of a bucket in use, at most `syncTicks`. */
  readonly dueTicks: number;
  /**
   * What the other processes may have let through and not reported when a process denies: it adds this to the wait of the
   * denial. 0 with one process, and where even one token takes longer to come back.
   */
  readonly reportTicks: number;
  /**
   * Where the overdrafts of the others take longer to come back than `reportTicks`: a process that has let through more than
   * its part of `reportTicks` reports it within this time, and a process denies only after the TAT in Redis has not risen by
   * more than `reportTicks` for as long. Otherwise 0.
   */
  readonly settleTicks: number;
  /**
   * The most tokens that all processes together let through beyond the limit, in any window of time: the overdrafts of
   * all of them, and what refills during the life of a lease.
   */
  readonly boundTokens: number;
  /** The highest level that the bucket may have. Processes that decide strictly must use it, too. */
  readonly capTicks: number;
}

/** The reason why a limit can't be leased, in words that follow "decided strictly because". */
export interface NotLeased {
  readonly strictBecause: string;
}

/** The shortest time between two syncs of one stream. */
export const MIN_SYNC_GAP_TICKS: number = 5 * TICKS_PER_MS;
/**
 * What a longer lease would cost is worth more as overdraft: tokens that lie in the leases of one process are lacking when
 * the requests come to another one. See docs/decisions/0021-leases.md.
 */
const LONGEST_LEASE_TICKS = 60 * TICKS_PER_MS;
/** So many syncs fit into the life of a lease: one lease is spent while the next one is asked for. */
const SYNCS_PER_LEASE = 2.25;
const SHORTEST_LEASE_TICKS = SYNCS_PER_LEASE * MIN_SYNC_GAP_TICKS;
/**
 * A denied client hardly notices if tokens that take so long to come back had not been reported by other processes when it
 * was told how long to wait. See docs/decisions/0021-leases.md.
 */
const MOST_REPORT_TICKS = 200 * TICKS_PER_MS;
/** Enough for a report of each process, and a short wait for a denial. */
const SETTLE_TICKS = 2 * MIN_SYNC_GAP_TICKS;

/**
 * Divides the overshoot of a limit into overdrafts and leases. Half of it goes to the overdrafts, so that most of the
 * first requests for an id need not wait for a sync.
 */
export function leaseNumbers(demand: LeaseDemand): LeaseNumbers | NotLeased {
  const { burst, overshoot, gateways, intervalTicks } = demand;
  const allowedTokens = wholeShareOf(burst, overshoot);
  if (allowedTokens < gateways) {
    const tokens = `${allowedTokens} ${allowedTokens === 1 ? 'token' : 'tokens'}`;
    return strict(`overshoot × burst is ${tokens}, and each of the ${gateways} processes needs one`);
  }
  const leaseTicksAt = (overdraft: number): number =>
    Math.min(LONGEST_LEASE_TICKS, (allowedTokens - gateways * overdraft) * intervalTicks);

  let overdraftTokens = Math.max(1, Math.floor(allowedTokens / (2 * gateways)));
  let leaseTicks = leaseTicksAt(overdraftTokens);
  if (leaseTicks < SHORTEST_LEASE_TICKS) {
    overdraftTokens = 1;
    leaseTicks = leaseTicksAt(overdraftTokens);
  }
  if (leaseTicks < SHORTEST_LEASE_TICKS) {
    return strict('a lease would last less than 11.25 ms, which is too short for the syncs that renew it');
  }
  if (leaseTicks === LONGEST_LEASE_TICKS) {
    const restTicks = allowedTokens * intervalTicks - leaseTicks;
    overdraftTokens = Math.min(burst, Math.floor(restTicks / (gateways * intervalTicks)));
  }
  const numbers = withOverdraft(demand, overdraftTokens, leaseTicks);
  if (numbers.capTicks > MAX_TOLERANCE_TICKS)
    return strict('its burst and its overshoot need over ten years to refill');
  return numbers;
}

/** Whether a limit is leased with these numbers. */
export function isLeased(numbers: LeaseNumbers | NotLeased): numbers is LeaseNumbers {
  return 'leaseTicks' in numbers;
}

function withOverdraft(demand: LeaseDemand, overdraftTokens: number, leaseTicks: number): LeaseNumbers {
  const { burst, intervalTicks, gateways, syncTicks } = demand;
  const unreportedTicks = Math.min(syncTicks, MOST_REPORT_TICKS);
  const reportTicks = gateways === 1 || intervalTicks > unreportedTicks ? 0 : unreportedTicks;
  const fitTicks = burst * intervalTicks;
  const overdraftTicks = overdraftTokens * intervalTicks;
  return {
    ...demand,
    fitTicks,
    overdraftTokens,
    overdraftTicks,
    leaseTicks,
    dueTicks: Math.min(syncTicks, Math.floor(leaseTicks / SYNCS_PER_LEASE)),
    reportTicks,
    settleTicks: (gateways - 1) * overdraftTicks > reportTicks ? SETTLE_TICKS : 0,
    boundTokens: gateways * overdraftTokens + Math.ceil(leaseTicks / intervalTicks),
    capTicks: fitTicks + gateways * overdraftTicks + leaseTicks,
  };
}

function strict(strictBecause: string): NotLeased {
  return { strictBecause };
}
