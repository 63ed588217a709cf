// What processes with leases do when buckets are reset and when Redis loses its data, and how much of a limit they use.
import { describe, expect, test } from 'vitest';
import { isLeased, leaseNumbers } from '../../packages/redis/src/leases/lease-numbers.ts';
import { Gateway } from '../leases/gateway.ts';
import { SimulatedNetwork } from '../leases/network.ts';
import { Random } from '../leases/random.ts';

const MS = 16_000;
const SECOND = 1000 * MS;
const SYNC = 200 * MS;
const KEY = 'bucket';

interface Setting {
  readonly burst: number;
  readonly count: number;
  readonly periodMs: number;
  readonly overshoot: number;
  readonly gateways: number;
  readonly waits?: boolean;
}

/** Gateways with one limit and one bucket on a quick network. */
class Deployment {
  readonly network: SimulatedNetwork;
  readonly gateways: readonly Gateway[];
  readonly random = new Random(1);
  /** When a token was let through, and by which gateway. */
  readonly passed: { readonly atTicks: number; readonly gateway: Gateway }[] = [];

  constructor({ burst, count, periodMs, overshoot, gateways, waits = true }: Setting) {
    const intervalTicks = Math.floor((periodMs * MS) / count);
    const numbers = leaseNumbers({ burst, intervalTicks, overshoot, gateways, syncTicks: SYNC });
    if (!isLeased(numbers)) throw new Error(numbers.strictBecause);
    const quality = { delayTicks: MS / 2, lateTicks: 16, lateShare: 0, lostShare: 0 };
    this.network = new SimulatedNetwork(this.random, quality, () => undefined);
    this.gateways = Array.from({ length: gateways }, (_, i) => {
      return new Gateway({
        name: String(i),
        network: this.network,
        reports: {
          decided: (gateway, _batch, { outcome }) => {
            if (outcome === 'passed') this.passed.push({ atTicks: this.network.nowTicks, gateway });
          },
          gaveBack: () => undefined,
        },
        terms: () => ({ ...numbers, waits, onFailure: 'closed' }),
        syncTicks: SYNC,
        clockAheadTicks: 16 * this.random.whole(0, 1e9),
        maxKeys: 10,
      });
    });
  }

  /** Offers requests of one token evenly over a time, to some of the gateways in random order. */
  offer(requests: number, ticks: number, gateways = this.gateways): void {
    const start = this.network.nowTicks;
    for (let i = 0; i < requests; i++) {
      const at = start + 16 * Math.floor((i * ticks) / requests / 16);
      this.network.at(at, () => this.random.pick(gateways).request(one));
    }
    this.network.runUntil(start + ticks);
  }

  passedSince(ticks: number): number {
    return this.passed.filter(({ atTicks }) => atTicks >= ticks).length;
  }
}

const one = { keys: [KEY], tokens: [1], modes: ['check-and-spend'] } as const;

const slow = { burst: 300, count: 300, periodMs: 3 * 3_600_000, overshoot: 0.1, gateways: 4 };
const perMinute = { burst: 60, count: 60, periodMs: 60_000, overshoot: 0.5, gateways: 4 };
const quick = { burst: 200, count: 100, periodMs: 1000, overshoot: 0.1, gateways: 4 };

describe('after a reset', () => {
  test.each([slow, perMinute, quick])(
    'a client gets its burst again, also where a gateway was idle before: $burst, $count per $periodMs ms',
    (setting) => {
      const deployment = new Deployment(setting);
      deployment.offer(2 * setting.burst, SECOND);
      // The last gateway has seen the debt, and is idle from now on.
      deployment.offer(setting.burst, 2 * SECOND, deployment.gateways.slice(0, -1));
      const resetTicks = deployment.network.nowTicks;
      deployment.network.reset(KEY);
      deployment.offer(2 * setting.burst, 3 * SECOND);
      expect(deployment.passedSince(resetTicks)).toBeGreaterThanOrEqual(0.9 * setting.burst);
    },
  );

  test.each([slow, perMinute, quick])(
    'a gateway that denies has a new view within two syncs: $burst, $count per $periodMs ms',
    (setting) => {
      const deployment = new Deployment({ ...setting, waits: false });
      deployment.offer(3 * setting.burst, SECOND);
      deployment.network.reset(KEY);
      const { nowTicks } = deployment.network;
      for (const gateway of deployment.gateways) gateway.request(one);
      deployment.network.runUntil(nowTicks + 2 * SYNC);
      for (const gateway of deployment.gateways) gateway.request(one);
      const since = deployment.passed.filter(({ atTicks }) => atTicks >= nowTicks);
      expect(new Set(since.map(({ gateway }) => gateway)).size).toBe(setting.gateways);
    },
  );
});

test('when Redis loses all data under load, the gateways restore nearly all of it', () => {
  const deployment = new Deployment({ burst: 400, count: 200, periodMs: 1000, overshoot: 0.1, gateways: 16 });
  deployment.offer(4000, 2 * SECOND);
  deployment.network.flushAll([KEY]);
  deployment.offer(4000, 2 * SECOND);
  const allowed = 400 + 4 * 200;
  // Without restoring, it would be another burst.
  expect(deployment.passed.length - allowed).toBeLessThan(100);
});

test.each([
  { ...quick, load: 0.9, used: 0.98 },
  { ...quick, load: 2, used: 0.97 },
  { burst: 1000, count: 1000, periodMs: 1000, overshoot: 0.1, gateways: 16, load: 2, used: 0.97 },
  { burst: 1000, count: 1000, periodMs: 1000, overshoot: 0.1, gateways: 64, load: 2, used: 0.97 },
])(
  'a limit is used in full, and exceeded by less than its bound: $count per second, $gateways gateways, load $load',
  (setting) => {
    const { burst, count, overshoot, load, used } = setting;
    const seconds = 10;
    const deployment = new Deployment(setting);
    deployment.offer(load * count * seconds, seconds * SECOND);
    const possible = Math.min(load * count * seconds, burst + count * seconds);
    expect(deployment.passed.length).toBeGreaterThan(used * possible);
    expect(deployment.passed.length).toBeLessThanOrEqual(burst + count * seconds + overshoot * burst);
  },
);
