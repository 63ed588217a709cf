import { isLeased, leaseNumbers, type LeaseNumbers } from '../../packages/redis/src/leases/rules/lease-numbers.ts';
import { Gateway } from './gateway.ts';
import { SimulatedNetwork } from './network.ts';
import { Random } from './random.ts';

const TICKS_PER_MS = 16_000;
export const SECOND_TICKS: number = 1000 * TICKS_PER_MS;
export const SYNC_TICKS: number = 200 * TICKS_PER_MS;
/** As in the product. */
const SYNC_DEADLINE_TICKS = 200 * TICKS_PER_MS;
export const KEY = 'bucket';
export const ONE_TOKEN = { keys: [KEY], tokens: [1], modes: ['check-and-spend'] } as const;

/** A limit, `count` tokens every `periodMs`, and the processes that share it. */
export interface Setting {
  readonly burst: number;
  readonly count: number;
  readonly periodMs: number;
  readonly overshoot: number;
  readonly gateways: number;
  readonly waits?: boolean;
  /** The longest time that a message takes, one way. */
  readonly delayMs?: number;
  /** The shortest one. */
  readonly leastDelayMs?: number;
}

/** A decision that let a token through. */
interface Passed {
  readonly atTicks: number;
  readonly gateway: Gateway;
  readonly tokens: number;
}

/** The numbers of a leased limit, or the reason why it can't be leased. */
export function numbersOf({ burst, count, periodMs, overshoot, gateways }: Setting): ReturnType<typeof leaseNumbers> {
  const intervalTicks = Math.floor((periodMs * TICKS_PER_MS) / count);
  return leaseNumbers({ burst, intervalTicks, overshoot, gateways, syncTicks: SYNC_TICKS });
}

/** Gateways with one limit and one bucket on a quick network. */
export class Deployment {
  readonly numbers: LeaseNumbers;
  readonly network: SimulatedNetwork;
  readonly gateways: readonly Gateway[];
  readonly random = new Random(1);
  /** The requests that were let through. */
  readonly passed: Passed[] = [];
  /** How many requests waited for a sync. */
  waited = 0;
  /** How many requests Redis decided. */
  exact = 0;

  constructor(setting: Setting) {
    const numbers = numbersOf(setting);
    if (!isLeased(numbers)) throw new Error(numbers.strictBecause);
    this.numbers = numbers;
    const { waits = true, delayMs = 0.5, leastDelayMs = 0.001 } = setting;
    const quality = {
      delayTicks: delayMs * TICKS_PER_MS,
      leastDelayTicks: leastDelayMs * TICKS_PER_MS,
      lateTicks: 16,
      lateShare: 0,
      lostShare: 0,
    };
    this.network = new SimulatedNetwork(this.random, quality, () => undefined);
    this.gateways = Array.from({ length: setting.gateways }, (_, i) => {
      return new Gateway({
        name: String(i),
        network: this.network,
        reports: {
          decided: (gateway, batch, { outcome }, waitedTicks) => {
            const { tokens } = batch[0]!;
            if (outcome === 'passed') this.passed.push({ atTicks: this.network.nowTicks, gateway, tokens });
            if (waitedTicks > 0) this.waited++;
          },
          gaveBack: () => undefined,
          exact: () => this.exact++,
        },
        terms: () => ({ ...numbers, waits, onFailure: 'closed' }),
        syncTicks: SYNC_TICKS,
        pace: 1 - this.random.next() / 8,
        clockAheadTicks: 16 * this.random.whole(0, 1e9),
        maxKeys: 1000,
        callDeadlineTicks: SYNC_DEADLINE_TICKS,
      });
    });
  }

  /** Offers requests of one token evenly over a time, to some of the gateways in random order. */
  offer(requests: number, ticks: number, gateways = this.gateways): void {
    const start = this.network.nowTicks;
    for (let i = 0; i < requests; i++) {
      const at = start + 16 * Math.floor((i * ticks) / requests / 16);
      this.network.at(at, () => this.random.pick(gateways).request(ONE_TOKEN));
    }
    this.network.runUntil(start + ticks);
  }

  passedSince(ticks: number): number {
    return this.passed.filter(({ atTicks }) => atTicks >= ticks).length;
  }
}
