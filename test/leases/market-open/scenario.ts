import { isLeased, leaseNumbers, type LeaseNumbers } from '../../../packages/redis/src/leases/rules/lease-numbers.ts';

const TICKS_PER_SECOND = 16_000_000;
const SYNC_TICKS = TICKS_PER_SECOND / 5;

/** A rate that rises once, from one number of requests a second to another. */
export interface Rise {
  readonly perSecond: number;
  readonly toPerSecond: number;
  readonly atMs: number;
  readonly forMs: number;
}

/** The numbers of a limit, as an application states them. */
export interface LimitNumbers {
  readonly burst: number;
  readonly count: number;
  readonly periodMs: number;
  readonly overshoot: number;
}

/** The processor time of Redis, in microseconds. */
export interface RedisCosts {
  /** For each call, whatever is in it. */
  readonly callMicros: number;
  /** For each decision of a strict call, of both limits. */
  readonly decisionMicros: number;
  /** For each bucket of a sync. */
  readonly bucketMicros: number;
}

export interface Scenario {
  readonly seed: number;
  readonly clients: number;
  /** The client with rank k asks in proportion to k^-exponent. */
  readonly exponent: number;
  readonly gateways: number;
  readonly rise: Rise;
  readonly durationMs: number;
  /** Protects the backend: what it can do. */
  readonly everyone: LimitNumbers;
  readonly client: LimitNumbers;
  readonly redis: RedisCosts;
  /** The delay of a message between a gateway and Redis. */
  readonly oneWayMicros: number;
  /** A strict gateway sends the requests that arrive within this time in one call, as a turn of its event loop does. */
  readonly turnMicros: number;
  readonly deadlineMs: number;
}

export const MARKET_OPEN: Scenario = {
  seed: 1,
  clients: 1_400_000,
  exponent: 0.8,
  gateways: 16,
  rise: { perSecond: 18_000, toPerSecond: 285_000, atMs: 500, forMs: 200 },
  durationMs: 2500,
  everyone: { burst: 16_000, count: 80_000, periodMs: 1000, overshoot: 0.2 },
  client: { burst: 300, count: 300, periodMs: 60_000, overshoot: 0.1 },
  redis: { callMicros: 20, decisionMicros: 5, bucketMicros: 3.5 },
  oneWayMicros: 50,
  turnMicros: 1000,
  deadlineMs: 50,
};

/** The requests a second at a moment. */
export function offeredAt({ perSecond, toPerSecond, atMs, forMs }: Rise, ms: number): number {
  const risen = Math.min(1, Math.max(0, (ms - atMs) / forMs));
  return perSecond + risen * (toPerSecond - perSecond);
}

/** What follows from the overshoot of a limit. */
export function leaseNumbersOf(limit: LimitNumbers, gateways: number): LeaseNumbers {
  const { burst, count, periodMs, overshoot } = limit;
  const intervalTicks = Math.floor((periodMs * TICKS_PER_SECOND) / 1000 / count);
  const numbers = leaseNumbers({ burst, intervalTicks, overshoot, gateways, syncTicks: SYNC_TICKS });
  if (!isLeased(numbers)) throw new Error(`The limit can't be leased: ${numbers.strictBecause}.`);
  return numbers;
}
