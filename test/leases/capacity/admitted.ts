import { BoundCheck } from '../bound-check.ts';
import { Deployment, KEY, SECOND_TICKS, SYNC_TICKS, type Setting } from '../deployment.ts';
import { Random } from '../random.ts';
import { SharedBucket } from './shared-bucket.ts';
import { arrivalsOf, type Arrival, type Traffic } from './traffic.ts';

const TICKS_PER_MS = 16_000;
const TICKS_PER_MICRO = 16;
const SECONDS = 10;
/** A large cost is one in the upper half of those of a traffic. */
const LARGE_SHARE = 0.5;

/** What processes with leases let through, of what one shared bucket lets through. */
export interface Admitted {
  /** In tokens. */
  readonly share: number;
  /** Requests with large costs; 1 if the traffic has none. */
  readonly ofLargeCosts: number;
  /** The part of the bound that was used in the worst window. Above 1, the bound does not hold. */
  readonly ofBound: number;
  /** The syncs of one process in 200 ms. */
  readonly callsPerProcess: number;
  readonly waitedShare: number;
  /** The part of the requests that Redis decided. */
  readonly exactShare: number;
}

/** Offers a traffic to one bucket, which it uses up first. */
export function admittedOf(setting: Setting, traffic: Traffic, seconds: number = SECONDS): Admitted {
  const perSecond = (1000 * setting.count) / setting.periodMs;
  const deployment = new Deployment(setting);
  const { numbers, network, gateways, passed } = deployment;
  const arrivals = arrivalsOf(traffic, { perSecond, processes: gateways.length, seconds }, new Random(7));
  for (const arrival of arrivals) {
    network.at(ticksOf(arrival), () => gateways[arrival.process]!.request(requestOf(arrival)));
  }
  network.runUntil((seconds + 1) * SECOND_TICKS);

  const ideal = idealOf(arrivals, numbers);
  const least = LARGE_SHARE * traffic.costs[1];
  const large = (all: readonly { tokens: number }[]): number => all.filter(({ tokens }) => tokens > least).length;
  const hasLarge = traffic.costs[1] > traffic.costs[0];
  return {
    share: tokensOf(passed) / tokensOf(ideal),
    ofLargeCosts: hasLarge ? large(passed) / large(ideal) : 1,
    ofBound: ofBound(deployment),
    callsPerProcess: (network.syncs * SYNC_TICKS) / (gateways.length * seconds * SECOND_TICKS),
    waitedShare: deployment.waited / arrivals.length,
    exactShare: deployment.exact / arrivals.length,
  };
}

function ofBound({ numbers, passed }: Deployment): number {
  const { fitTicks, overdraftTicks, gateways, leaseTicks, intervalTicks } = numbers;
  const check = new BoundCheck(fitTicks + gateways * overdraftTicks + leaseTicks, 0);
  for (const { atTicks, tokens } of passed) check.admit(atTicks, tokens * intervalTicks);
  return check.worstShare;
}

function idealOf(arrivals: readonly Arrival[], numbers: Deployment['numbers']): readonly Arrival[] {
  const bucket = new SharedBucket(numbers);
  return arrivals.filter((arrival) => bucket.spend(arrival.tokens, ticksOf(arrival)));
}

function tokensOf(all: readonly { readonly tokens: number }[]): number {
  return all.reduce((sum, { tokens }) => sum + tokens, 0);
}

function ticksOf({ atMs }: Arrival): number {
  return TICKS_PER_MICRO * Math.floor((atMs * TICKS_PER_MS) / TICKS_PER_MICRO);
}

function requestOf({ tokens }: Arrival) {
  return { keys: [KEY], tokens: [tokens], modes: ['check-and-spend'] } as const;
}
