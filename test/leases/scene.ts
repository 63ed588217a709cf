import { isLeased, leaseNumbers, type LeaseNumbers } from '../../packages/redis/src/leases/rules/lease-numbers.ts';
import type { NetworkQuality } from './network.ts';
import { Random } from './random.ts';

const TICKS_PER_MS = 16_000;
const TICKS_PER_SECOND = 1000 * TICKS_PER_MS;

/** What disturbs the gateways of a scene. A scene of one kind has nothing of the others. */
export const KINDS = ['calm', 'faults', 'refunds', 'resets', 'losses', 'strict', 'changes', 'local', 'moves'] as const;
export type Kind = (typeof KINDS)[number];

/** A limit, its keys and its gateways, and how they are used. */
export interface Scene {
  readonly seed: number;
  readonly kind: Kind;
  readonly numbers: LeaseNumbers;
  /** The numbers that replace them one gateway after another, in scenes with changes. */
  readonly laterNumbers: LeaseNumbers | undefined;
  readonly keys: readonly string[];
  readonly waits: boolean;
  readonly network: NetworkQuality;
  readonly durationTicks: number;
  readonly requests: number;
  /** The largest usual cost. */
  readonly mostTokens: number;
  /** The part of the gateways that decide strictly. */
  readonly strictShare: number;
  /** How unevenly the requests are spread over the gateways: 1 is evenly. */
  readonly skew: number;
}

/** Makes a scene. The same seed makes the same scene. */
export function sceneOf(kind: Kind, seed: number, requests: number): Scene {
  const random = new Random(seed);
  const numbers = someNumbers(random, random.magnitude(1, 32));
  const laterNumbers = kind === 'changes' ? changedNumbers(random, numbers) : undefined;
  const load = random.pick([0.5, 0.9, 1.2, 2, 5, 10]);
  const perSecond = (load * TICKS_PER_SECOND) / numbers.intervalTicks;
  const keys = ['a', 'b', 'c'].slice(0, random.pick([1, 1, 1, 2, 3]));
  const mostTokens = random.pick([1, 1, 1, 5, numbers.burst]);
  const meanTokens = mostTokens === 1 ? 1 : Math.sqrt(mostTokens);
  const seconds = Math.min(20, Math.max(0.5, (requests * meanTokens) / perSecond));
  return {
    seed,
    kind,
    numbers,
    laterNumbers,
    keys,
    waits: random.chance(0.7),
    network: someNetwork(random, kind),
    durationTicks: Math.ceil(seconds * TICKS_PER_SECOND),
    requests,
    mostTokens,
    strictShare: kind === 'strict' ? random.pick([0.2, 0.5, 0.8]) : 0,
    skew: random.pick([1, 1, 3, 10]),
  };
}

function someNumbers(random: Random, gateways: number): LeaseNumbers {
  for (;;) {
    const burst = random.magnitude(4, 3000);
    const perSecond = random.magnitude(1, 20_000);
    const numbers = leaseNumbers({
      burst,
      intervalTicks: Math.floor((TICKS_PER_SECOND * random.pick([1, 1, 10])) / perSecond),
      overshoot: random.pick([0.05, 0.1, 0.5, 1]),
      gateways,
      syncTicks: random.pick([50, 100, 200, 200]) * TICKS_PER_MS,
    });
    if (isLeased(numbers)) return numbers;
  }
}

/** Ten times as much at most, in either direction. */
function changedNumbers(random: Random, { gateways, burst, intervalTicks }: LeaseNumbers): LeaseNumbers {
  for (;;) {
    const numbers = leaseNumbers({
      burst: Math.max(1, Math.floor(burst * random.pick([0.1, 0.5, 1, 2, 10]))),
      intervalTicks: Math.max(1, Math.floor(intervalTicks * random.pick([0.5, 1, 2]))),
      overshoot: random.pick([0.1, 0.5, 1]),
      gateways,
      syncTicks: 200 * TICKS_PER_MS,
    });
    if (isLeased(numbers)) return numbers;
  }
}

function someNetwork(random: Random, kind: Kind): NetworkQuality {
  const isFaulty = kind !== 'calm' && kind !== 'local' && random.chance(0.6);
  return {
    delayTicks: random.pick([0.1, 0.5, 5]) * TICKS_PER_MS,
    lateTicks: random.pick([20, 200, 4000]) * TICKS_PER_MS,
    lateShare: isFaulty ? random.pick([0, 0.02, 0.1]) : 0,
    lostShare: isFaulty ? random.pick([0, 0.05, 0.3]) : 0,
  };
}
