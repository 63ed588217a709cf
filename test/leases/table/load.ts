import { BoundCheck } from '../bound-check.ts';
import { Deployment, SECOND_TICKS, SYNC_TICKS, type Setting } from '../deployment.ts';

/** How a limit is used. */
export interface Load {
  readonly name: string;
  /** How many requests come for each token of the rate. */
  readonly ofRate: number;
  /** How many requests the first gateway gets for each one of another. */
  readonly skew: number;
}

/** What came of it. */
export interface LoadResult {
  /** How many tokens were let through beyond the limit, in the worst window of time. */
  readonly overTokens: number;
  /** The part of what the limit allows that was let through. */
  readonly admittedShare: number;
  /** The syncs of one gateway in 200 ms. */
  readonly callsPerGateway: number;
  /** The part of the requests that waited for a sync. */
  readonly waitedShare: number;
}

const SECONDS = 10;
const MOST_REQUESTS = 400_000;

/** Offers a load to one bucket of a limit, for ten seconds or less if there would be too many requests. */
export function resultOf(setting: Setting, { ofRate, skew }: Load): LoadResult {
  const { burst, count, periodMs } = setting;
  const perSecond = (1000 * count) / periodMs;
  // A slow limit would get hardly any requests at its rate: then its burst is asked for.
  const seconds = Math.min(SECONDS, MOST_REQUESTS / (ofRate * perSecond));
  const requests = Math.round(Math.max(ofRate * perSecond * seconds, 1.2 * burst));
  const deployment = new Deployment(setting);
  const { gateways, numbers, network, passed } = deployment;
  const [first] = gateways;
  deployment.offer(requests, seconds * SECOND_TICKS, [...Array.from({ length: skew - 1 }, () => first!), ...gateways]);

  const check = new BoundCheck(numbers.fitTicks, 0);
  for (const { atTicks } of passed) check.admit(atTicks, numbers.intervalTicks);
  return {
    overTokens: Math.max(0, Math.round((check.worstShare - 1) * burst)),
    admittedShare: passed.length / Math.min(requests, burst + perSecond * seconds),
    callsPerGateway: (network.syncs * SYNC_TICKS) / (gateways.length * seconds * SECOND_TICKS),
    waitedShare: deployment.waited / requests,
  };
}
