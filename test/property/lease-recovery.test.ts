// What processes with leases do when buckets are reset and when Redis loses its data, and how much of a limit they use.
import { describe, expect, test } from 'vitest';
import { admittedOf } from '../leases/capacity/admitted.ts';
import { firstReturnsOf } from '../leases/capacity/fresh-clients.ts';
import { MOVING } from '../leases/capacity/traffic.ts';
import { Deployment, KEY, ONE_TOKEN, SECOND_TICKS as SECOND, SYNC_TICKS as SYNC } from '../leases/deployment.ts';

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
      for (const gateway of deployment.gateways) gateway.request(ONE_TOKEN);
      deployment.network.runUntil(nowTicks + 2 * SYNC);
      for (const gateway of deployment.gateways) gateway.request(ONE_TOKEN);
      const since = deployment.passed.filter(({ atTicks }) => atTicks >= nowTicks);
      expect(new Set(since.map(({ gateway }) => gateway)).size).toBe(setting.gateways);
    },
  );
});

test.each([
  { burst: 10, count: 1, gateways: 2, overshoot: 0.5 },
  { burst: 10, count: 1, gateways: 4, overshoot: 1 },
  { burst: 10, count: 3, gateways: 8, overshoot: 1 },
  { burst: 20, count: 2, gateways: 4, overshoot: 0.5 },
  { burst: 20, count: 5, gateways: 2, overshoot: 1 },
  { burst: 100, count: 10, gateways: 8, overshoot: 1 },
  { burst: 10, count: 1, gateways: 4, overshoot: 1, roundTripMs: 20 },
  { burst: 100, count: 10, gateways: 4, overshoot: 0.5, roundTripMs: 30 },
  { burst: 100, count: 10, gateways: 4, overshoot: 1, roundTripMs: 60 },
  { burst: 10, count: 1, gateways: 4, overshoot: 0.5, roundTripMs: 80 },
])(
  'clients that spend $burst at once at $count a second of $gateways processes are hardly ever denied at their first return',
  ({ roundTripMs = 0.5, ...limit }) => {
    const delays = { delayMs: roundTripMs / 2, leastDelayMs: roundTripMs / 2 };
    for (const gapMs of [0, 5, 15]) {
      const { returns, deniedAgain, latestMs } = firstReturnsOf({ ...limit, ...delays, periodMs: 1000 }, gapMs);
      expect(returns).toBe(100);
      expect(deniedAgain).toBeLessThanOrEqual(5);
      expect(latestMs).toBeLessThanOrEqual(1050);
    }
  },
);

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
  // A lease lasts for 52 ms.
  { burst: 1000, count: 1000, periodMs: 1000, overshoot: 0.1, gateways: 8, load: 2, used: 0.96, delayMs: 20 },
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

test.each([
  quick,
  { burst: 1000, count: 100, periodMs: 1000, overshoot: 0.1, gateways: 8 },
  { burst: 1000, count: 1000, periodMs: 1000, overshoot: 0.1, gateways: 8 },
])(
  'gateways that are asked equally get similar parts of a limit that is used up: $count per second, $gateways gateways',
  (setting) => {
    const deployment = new Deployment(setting);
    const offer = (seconds: number): void => deployment.offer(10 * setting.count * seconds, seconds * SECOND);
    offer(4);
    const fromTicks = deployment.network.nowTicks;
    offer(10);
    const later = deployment.passed.filter(({ atTicks }) => atTicks > fromTicks);
    const parts = deployment.gateways.map((each) => later.filter(({ gateway }) => gateway === each).length);
    expect(Math.min(...parts)).toBeGreaterThan(later.length / setting.gateways / 2);
  },
);

test.each([0.5, 10, 20, 40, 80])(
  'almost all that a limit allows passes while its requests move from process to process, %s ms away from Redis',
  (roundTripMs) => {
    const delays = { delayMs: roundTripMs / 2, leastDelayMs: roundTripMs / 2 };
    const setting = { burst: 1000, count: 1000, periodMs: 1000, overshoot: 0.1, gateways: 4, ...delays };
    expect(admittedOf(setting, MOVING, 3).share).toBeGreaterThan(0.97);
  },
);
