import { accountId, everyone, type LimitDefinition, type Rate, type Store } from '@sluice/core';
import { borrow as borrowLimit, type Borrow } from '@sluice/core/borrow';
import { rateOf } from '../../packages/core/src/rule/rate.ts';
import { passes, readingsOf, type StoreReading, type StoreTransaction, type StoreOperation } from '@sluice/core/store';
import fc from 'fast-check';

/** A pool, and clients with an assured rate of it. */
export interface Scene {
  readonly pool: Rate;
  /** The assured numbers of each client: those of the limit, or of an override. */
  readonly own: Rate;
  readonly overrides: readonly Rate[];
  readonly clients: number;
  readonly fair: boolean;
  /** How many times the assured rate and burst the ceiling is. */
  readonly ceilingFactor: number;
  /** Whether the number of clients is stated, instead of found from the rates. */
  readonly hasTenants: boolean;
}

const PERIOD = '1s';

/** Pools whose rate suffices for what is assured to all clients. */
export const scenes: fc.Arbitrary<Scene> = fc
  .record({
    ownCount: fc.integer({ min: 1, max: 50 }),
    ownBurst: fc.integer({ min: 1, max: 60 }),
    clients: fc.integer({ min: 1, max: 6 }),
    overrides: fc.array(fc.record({ count: fc.integer({ min: 1, max: 80 }), burst: fc.integer({ min: 1, max: 80 }) }), {
      maxLength: 3,
    }),
    spare: fc.integer({ min: 0, max: 200 }),
    poolBurst: fc.integer({ min: 1, max: 300 }),
    fair: fc.boolean(),
    hasTenants: fc.boolean(),
    ceilingFactor: fc.integer({ min: 1, max: 8 }),
  })
  .map(({ ownCount, ownBurst, clients, overrides, spare, poolBurst, fair, hasTenants, ceilingFactor }) => {
    const listed = overrides.reduce((sum, { count }) => sum + count, 0);
    return {
      pool: { burst: poolBurst, count: clients * ownCount + listed + spare, period: PERIOD },
      own: { burst: ownBurst, count: ownCount, period: PERIOD },
      overrides: overrides.map((numbers) => ({ ...numbers, period: PERIOD })),
      clients,
      fair,
      hasTenants,
      ceilingFactor,
    };
  });

/** The ids of a scene, and the numbers that are assured to each. */
export function assuredOf({ own, overrides, clients }: Scene): ReadonlyMap<string, Rate> {
  const plain = Array.from({ length: clients }, (_, i): [string, Rate] => [`client${i}`, own]);
  return new Map([...plain, ...overrides.map((numbers, i): [string, Rate] => [`listed${i}`, numbers])]);
}

function ceilingOf({ count, burst = count, period }: Rate, { ceilingFactor }: Scene): Rate {
  return { burst: burst * ceilingFactor, count: count * ceilingFactor, period };
}

/** The limits and overrides of a scene, under names that no other run uses. */
export function definitionsOf(scene: Scene, run: number) {
  const borrow: Borrow = {
    from: `Pool${run}`,
    ceiling: ceilingOf(scene.own, scene),
    fair: scene.fair,
    ...(scene.hasTenants && { tenants: scene.clients }),
  };
  const listed = scene.overrides.map((numbers, i) => [
    `listed${i}`,
    { ...numbers, borrow: { ceiling: ceilingOf(numbers, scene) } },
  ]);
  const limits: Record<string, LimitDefinition> = {
    [`PerUser${run}`]: borrowLimit({ key: accountId(), ...scene.own, borrow }),
    [`Pool${run}`]: { key: everyone(), ...scene.pool },
  };
  return { limits, overrides: { [`PerUser${run}`]: Object.fromEntries(listed) } };
}

/** What a store granted at one bucket. */
export interface Grant {
  readonly limit: string;
  readonly id: string;
  readonly tokens: number;
  readonly nowTicks: number;
}

/** A store that keeps a record of the tokens that it grants. It counts a charge in full, also if it cut it. */
export function recorded(store: Store): { readonly store: Store; readonly grants: Grant[] } {
  const grants: Grant[] = [];
  const note = (batch: readonly StoreTransaction[], { nowTicks, levelsTicks }: StoreReading): void => {
    if (!passes(batch, levelsTicks)) return;
    for (const { limit, id, mode, cost } of batch as readonly (StoreTransaction & { cost: number })[]) {
      if (mode === 'check-and-spend' || mode === 'charge') grants.push({ limit, id, tokens: cost, nowTicks });
    }
  };
  const noted = (operation: StoreOperation, whole: StoreReading): StoreReading => {
    if (operation.kind !== 'spend') return whole;
    const { alternatives } = operation;
    for (const [i, reading] of readingsOf(alternatives, whole).entries()) note(alternatives[i]!, reading);
    return whole;
  };
  const recording: Store = {
    guard: store.guard,
    ...(store.traits && { traits: store.traits }),
    run(operation, deadlineMs) {
      const reading = store.run(operation, deadlineMs);
      return reading instanceof Promise
        ? reading.then((settled) => noted(operation, settled))
        : noted(operation, reading);
    },
    close: () => store.close(),
  };
  return { store: recording, grants };
}

/**
 * Returns by how many ticks grants exceed a bucket in any window: rate × w + burst. A bucket without an upper end finds
 * the worst window.
 */
function worstExcess(grants: readonly Grant[], numbers: Rate): number {
  const { emissionIntervalTicks, toleranceTicks } = rateOf('numbers', numbers);
  let [level, lastTicks, worst] = [0, 0, 0];
  for (const { tokens, nowTicks } of grants.toSorted((a, b) => a.nowTicks - b.nowTicks)) {
    level = Math.max(0, level - (nowTicks - lastTicks)) + tokens * emissionIntervalTicks;
    lastTicks = nowTicks;
    worst = Math.max(worst, level - toleranceTicks);
  }
  return worst;
}

/** Returns by how much the worst of the bounds of borrowing is exceeded: 0 if all are kept. */
export function worstBound(scene: Scene, run: number, grants: readonly Grant[]): number {
  const assured = assuredOf(scene);
  const bursts = [...assured.values()].reduce((sum, { count, burst = count }) => sum + burst, 0);
  const { burst = 0 } = scene.pool;
  const ofPool = grants.filter(({ limit }) => limit === `Pool${run}`);
  const excesses = [worstExcess(ofPool, { ...scene.pool, burst: burst + bursts })];
  for (const [id, numbers] of assured) {
    const ofClient = grants.filter((grant) => grant.limit === `PerUser${run}.ceiling` && grant.id === id);
    excesses.push(worstExcess(ofClient, ceilingOf(numbers, scene)));
  }
  return Math.max(...excesses);
}
