import { accountId, createLimiter, everyone, memoryStore, type Decision } from '@sluice/core';
import { borrow } from '@sluice/core/borrow';
import { rateOf } from '../../packages/core/src/rule/rate.ts';
import { callsOf, FakeTime } from '@sluice/core/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { assuredOf, definitionsOf, recorded, scenes, worstBound, type Scene } from './borrowing.ts';
import { RUNS } from './runs.ts';

/** 10,000 runs make more than a million requests. */
const REQUESTS_PER_RUN = 120;
const share = fc.double({ min: 0, max: 1, noNaN: true });
const step = fc.record({ who: fc.nat(), cost: share, pause: share });
const steps = fc.array(step, { minLength: REQUESTS_PER_RUN, maxLength: REQUESTS_PER_RUN });

/** A bucket with the assured numbers of a client, which shows whether the client keeps to them. */
class KeptRate {
  readonly #rate: ReturnType<typeof rateOf>;
  #tatTicks = 0;

  constructor(numbers: Parameters<typeof rateOf>[1]) {
    this.#rate = rateOf('assured', numbers);
  }

  get burst(): number {
    return this.#rate.burst;
  }

  ask(cost: number, nowTicks: number): boolean {
    const after = Math.max(this.#tatTicks, nowTicks) + cost * this.#rate.emissionIntervalTicks;
    if (after - nowTicks > this.#rate.toleranceTicks) return false;
    this.#tatTicks = after;
    return true;
  }
}

function memoryRun(scene: Scene, run: number) {
  const time = new FakeTime();
  const { store, grants } = recorded(memoryStore({ time }));
  const limiter = createLimiter({ ...definitionsOf(scene, run), store, time, log: false });
  const ids = [...assuredOf(scene)];
  // Every second client keeps to what is assured to it; the others take all they can get.
  const modest = new Map(ids.filter((_, i) => i % 2 === 1).map(([id, numbers]) => [id, new KeptRate(numbers)]));
  const spend = (id: string, cost: number) => limiter.spendSync([{ limit: `PerUser${run}`, id, cost }]);
  return { time, grants, ids, modest, spend };
}

describe('limits that borrow', () => {
  test('a pool and every client keep their bounds, and a client within its assured rate is never denied', () => {
    fc.assert(
      fc.property(scenes, steps, (scene, asked) => {
        const { time, grants, ids, modest, spend } = memoryRun(scene, 0);
        const ofModest: boolean[] = [];
        for (const { who, cost, pause } of asked) {
          // Most requests come together, with some long pauses.
          time.advance(Math.floor(pause ** 6 * 3_000_000) / 1000);
          const [id, { count, burst = count }] = ids[who % ids.length]!;
          const tokens = Math.max(1, Math.floor(cost ** 2 * burst));
          const kept = modest.get(id);
          if (kept !== undefined && !kept.ask(tokens, time.nowMicros() * 16)) continue;
          const { allowed, results } = spend(id, tokens);
          if (kept !== undefined) ofModest.push(allowed && results[0]?.borrowed === false);
        }
        expect(ofModest).not.toContain(false);
        expect(worstBound(scene, 0, grants)).toBe(0);
      }),
    );
  });

  test('nine clients that take all they can, beside ten at their assured rate, do not get more than the pool has', () => {
    const scene: Scene = {
      pool: { burst: 100, count: 1000, period: '1s' },
      own: { count: 50, period: '1s' },
      overrides: [],
      clients: 19,
      fair: false,
      hasTenants: true,
      ceilingFactor: 20,
    };
    const { time, grants, spend } = memoryRun(scene, 0);
    const ofAssured: Decision[] = [];
    for (let i = 0; i < 40_000; i++) {
      time.advance(0.25);
      spend(`client${10 + (i % 9)}`, 1);
      // Each of the ten once in 20 ms.
      if (i % 8 === 0) ofAssured.push(spend(`client${(i / 8) % 10}`, 1));
    }
    expect(ofAssured.every(({ allowed, results }) => allowed && results[0]?.borrowed === false)).toBe(true);
    expect(worstBound(scene, 0, grants)).toBe(0);
    const ofPool = grants.filter(({ limit }) => limit === 'Pool0').reduce((sum, { tokens }) => sum + tokens, 0);
    // The run takes 10 s; a charge that is cut at an empty bucket gives 1.4 times as much.
    expect(ofPool).toBeLessThan(1000 * 10 + 100 + 19 * 50);
    expect(ofPool).toBeGreaterThan(1000 * 10);
  });

  test('a denied request passes after its wait, and takes nothing', () => {
    fc.assert(
      fc.property(scenes, steps, (scene, asked) => {
        const { time, grants, ids, spend } = memoryRun(scene, 0);
        for (const { who, cost, pause } of asked.slice(0, 40)) {
          time.advance(Math.floor(pause ** 6 * 3_000_000) / 1000);
          const [id, { count, burst = count }] = ids[who % ids.length]!;
          const tokens = Math.max(1, Math.floor(cost ** 2 * burst));
          const before = grants.length;
          const denied = spend(id, tokens);
          if (denied.allowed) continue;
          expect(grants.length).toBe(before);
          time.advance(denied.retryAfterMs);
          expect(spend(id, tokens).allowed).toBe(true);
        }
      }),
      { numRuns: Math.ceil(RUNS / 4) },
    );
  });

  test('a refund of a decision restores every bucket', () => {
    fc.assert(
      fc.property(scenes, steps, (scene, asked) => {
        const time = new FakeTime();
        const store = memoryStore({ time });
        const limiter = createLimiter({ ...definitionsOf(scene, 0), store, time, log: false });
        const ids = [...assuredOf(scene)];
        const buckets = [
          { limit: 'Pool0', id: 'everyone' },
          ...ids.flatMap(([id]) => ['PerUser0', 'PerUser0.ceiling'].map((limit) => ({ limit, id }))),
        ].map((bucket) => ({ ...bucket, incrementTicks: 0, fitTicks: 0, capTicks: 0, mode: 'check-only' as const }));
        for (const [i, { who, cost }] of asked.slice(0, 30).entries()) {
          const [id, { count, burst = count }] = ids[who % ids.length]!;
          const before = callsOf(store).check(buckets).levelsTicks;
          const decision = limiter.spendSync([{ limit: 'PerUser0', id, cost: Math.max(1, Math.floor(cost * burst)) }]);
          if (i % 2 === 0) continue;
          void limiter.refund(decision);
          expect(callsOf(store).check(buckets).levelsTicks).toEqual(before);
        }
      }),
      { numRuns: Math.ceil(RUNS / 4) },
    );
  });
});

interface Hungry {
  readonly perSecond: number;
  readonly weight?: number;
}

const OWN = { count: 100, period: '1s' };
const CEILING = { count: 2000, period: '1s' };

/** Tokens per second that each client gets, of a pool of 1000 a second, for 10 s after 2 s. */
function rates(
  clients: readonly Hungry[],
  { gateways = 1, sticky = false } = {},
): readonly { all: number; lent: number }[] {
  const time = new FakeTime();
  const store = memoryStore({ time });
  const weight = (id: string): number => clients[Number(id)]?.weight ?? 1;
  const limits = {
    PerUser: borrow({ key: accountId(), ...OWN, borrow: { from: 'Pool', ceiling: CEILING, weight } }),
    Pool: { key: everyone(), count: 1000, period: '1s' },
  };
  const limiters = Array.from({ length: gateways }, () =>
    createLimiter({ limits, store: recorded(store).store, time, log: false }),
  );
  const got = clients.map(() => ({ all: 0, lent: 0 }));
  // Pseudo-random numbers, the same in each run.
  let seed = 1;
  const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  const next = clients.map(({ perSecond }) => random() / perSecond);
  for (let now = 0; ;) {
    const first = next.indexOf(Math.min(...next));
    const at = Math.ceil(next[first]! * 1e6);
    if (at >= 12e6) break;
    time.advance(Math.max(0, at - now) / 1000);
    now = Math.max(now, at);
    next[first]! -= Math.log(random()) / clients[first]!.perSecond;
    const gateway = limiters[sticky ? first % gateways : Math.floor(random() * gateways)]!;
    const { allowed, results } = gateway.spendSync([{ limit: 'PerUser', id: String(first) }]);
    if (!allowed || now < 2e6) continue;
    got[first]!.all += 0.1;
    if (results[0]?.borrowed === true) got[first]!.lent += 0.1;
  }
  return got;
}

function jain(values: readonly number[]): number {
  const sum = values.reduce((all, value) => all + value, 0);
  return sum ** 2 / (values.length * values.reduce((all, value) => all + value ** 2, 0));
}

describe('a fair pool', () => {
  const setups = [
    ['one gateway', {}],
    ['four gateways, each request at any of them', { gateways: 4 }],
    ['four gateways, each client at one of them', { gateways: 4, sticky: true }],
  ] as const;

  test.each(setups)('lends the same to five clients that want more, however often they ask: %s', (_, setup) => {
    const got = rates(
      [600, 900, 1200, 2000, 4000].map((perSecond) => ({ perSecond })),
      setup,
    );
    expect(jain(got.map(({ lent }) => lent))).toBeGreaterThan(0.98);
    expect(got.reduce((sum, { all }) => sum + all, 0)).toBeGreaterThan(999);
  });

  test.each(setups)('lends by weights, 3 to 1 within a tenth: %s', (_, setup) => {
    const [big, small] = rates([{ perSecond: 3000, weight: 3 }, { perSecond: 3000 }], setup);
    const ratio = big!.lent / small!.lent;
    expect(ratio).toBeGreaterThan(2.7);
    expect(ratio).toBeLessThan(3.3);
  });

  test.each(setups)('gives a single client the whole pool: %s', (_, setup) => {
    expect(rates([{ perSecond: 3000 }], setup)[0]!.all).toBeGreaterThan(999);
  });

  test.each(setups)('gives ten clients at three times their rate their assured rate each: %s', (_, setup) => {
    const got = rates(
      Array.from({ length: 10 }, () => ({ perSecond: 300 })),
      setup,
    );
    expect(Math.min(...got.map(({ all }) => all))).toBeGreaterThan(99.5);
  });
});
