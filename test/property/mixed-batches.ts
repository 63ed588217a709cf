import { accountId, createLimiter, everyone, type Store } from '@sluice/core';
import { borrow } from '@sluice/core/borrow';
import { quota } from '@sluice/core/quota';
import type { FakeTime } from '@sluice/core/testing';
import fc from 'fast-check';
import { callsOf } from '@sluice/core/testing';

const TICKS_PER_SECOND = 16_000_000;
const QUOTA = 20;
const key = accountId();

/** The numbers of each bucket that falls with time, for the oracle: those of the limits below. */
const BUCKETS = {
  Rate: { burst: 5, interval: TICKS_PER_SECOND / 10 },
  Shared: { burst: 10, interval: TICKS_PER_SECOND / 20 },
  Queue: { burst: 1, interval: TICKS_PER_SECOND / 5 },
  Debt: { burst: 4, interval: TICKS_PER_SECOND / 4 },
  Tenant: { burst: 3, interval: TICKS_PER_SECOND / 5 },
  'Tenant.ceiling': { burst: 8, interval: TICKS_PER_SECOND / 16 },
  Pool: { burst: 10, interval: TICKS_PER_SECOND / 20 },
} as const;

const WAIT_TICKS = TICKS_PER_SECOND;
const MAX_DEBT = 6;
/** With `tenants: 4`. */
const POOL_DEBT_TICKS = 4 * BUCKETS.Tenant.burst * BUCKETS.Pool.interval;

type Bucket = keyof typeof BUCKETS;
type Name = Exclude<Bucket, 'Tenant.ceiling' | 'Pool'> | 'Hourly';

interface Use {
  readonly limit: Name;
  readonly cost: number;
  readonly share?: number;
  readonly mode?: 'check-only' | 'charge';
}

/** The levels of all buckets of an id in ticks, and the used tokens of its quota. */
type Levels = Record<Bucket | 'Hourly', number>;

function mixedLimiter(time: FakeTime, store: Store) {
  return createLimiter({
    limits: {
      Rate: { key, burst: 5, count: 10, period: '1s' },
      Shared: { key, burst: 10, count: 20, period: '1s' },
      Queue: { key, burst: 1, count: 5, period: '1s', maxWait: '1s' },
      Debt: { key, burst: 4, count: 4, period: '1s', maxDebt: MAX_DEBT },
      Hourly: quota({ key, count: QUOTA, per: 'hour' }),
      Tenant: borrow({
        key,
        burst: 3,
        count: 5,
        period: '1s',
        borrow: { from: 'Pool', ceiling: { burst: 8, count: 16, period: '1s' }, fair: false, tenants: 4 },
      }),
      Pool: { key: everyone(), burst: 10, count: 20, period: '1s' },
    },
    store,
    time,
  });
}

async function levelsOf(limiter: ReturnType<typeof mixedLimiter>, store: Store, id: string): Promise<Levels> {
  const names = Object.keys(BUCKETS) as Bucket[];
  const batch = names.map((limit) => ({
    limit,
    id: limit === 'Pool' ? 'everyone' : id,
    incrementTicks: 0,
    fitTicks: 2 ** 50,
    capTicks: 2 ** 50,
    mode: 'check-only' as const,
  }));
  const { levelsTicks } = await callsOf(store).check(batch);
  const [usage] = await limiter.usage([{ limit: 'Hourly', id }]);
  const levels = Object.fromEntries(names.map((name, i) => [name, levelsTicks[i]!]));
  return { ...levels, Hourly: usage!.used } as Levels;
}

function tolerance(bucket: Bucket): number {
  return BUCKETS[bucket].burst * BUCKETS[bucket].interval;
}

function fitsInto(bucket: Bucket, cost: number, levels: Levels, room: number = tolerance(bucket)): boolean {
  return cost === 0 || levels[bucket] + cost * BUCKETS[bucket].interval <= room;
}

/** Whether one use of a batch lets it pass, by arithmetic of its own. */
function passes({ limit, cost, share = 1, mode }: Use, levels: Levels): boolean {
  if (mode === 'charge' || cost === 0) return true;
  if (limit === 'Hourly') return levels.Hourly + cost <= QUOTA;
  if (limit === 'Queue') return fitsInto('Queue', cost, levels, tolerance('Queue') + WAIT_TICKS);
  if (limit === 'Shared') return fitsInto('Shared', cost, levels, Math.round(share * tolerance('Shared')));
  if (limit !== 'Tenant') return fitsInto(limit, cost, levels);
  const isInside = fitsInto('Tenant', cost, levels) || fitsInto('Pool', cost, levels);
  return isInside && fitsInto('Tenant.ceiling', cost, levels);
}

/** The levels after a batch that passes, by arithmetic of its own. */
function after(uses: readonly Use[], before: Levels): Levels {
  const levels = { ...before };
  const take = (bucket: Bucket, cost: number, cap = 2 ** 50): void => {
    levels[bucket] = Math.max(levels[bucket], Math.min(levels[bucket] + cost * BUCKETS[bucket].interval, cap));
  };
  for (const { limit, cost, mode } of uses) {
    if (mode === 'check-only') continue;
    if (limit === 'Hourly') levels.Hourly += cost;
    else if (limit === 'Debt') take('Debt', cost, tolerance('Debt') + MAX_DEBT * BUCKETS.Debt.interval);
    else if (limit !== 'Tenant') take(limit, cost);
    else {
      const isAssured = fitsInto('Tenant', cost, before);
      take('Tenant.ceiling', cost);
      take('Pool', cost, isAssured ? tolerance('Pool') + POOL_DEBT_TICKS : undefined);
      if (isAssured) take('Tenant', cost);
    }
  }
  return levels;
}

const cost = fc.integer({ min: 0, max: 3 });
const check = fc.option(fc.constant('check-only' as const), { nil: undefined, freq: 3 });
const uses = fc
  .tuple(
    fc.record({ limit: fc.constant('Rate' as const), cost, mode: check }),
    fc.record({ limit: fc.constant('Shared' as const), cost, share: fc.constantFrom(0.35, 0.5, 1), mode: check }),
    fc.record({ limit: fc.constant('Queue' as const), cost: fc.integer({ min: 0, max: 1 }), mode: check }),
    fc.record({ limit: fc.constant('Debt' as const), cost, mode: fc.constantFrom(undefined, 'charge' as const) }),
    fc.record({ limit: fc.constant('Hourly' as const), cost, mode: check }),
    fc.record({ limit: fc.constant('Tenant' as const), cost, mode: check }),
  )
  .chain((all) => fc.shuffledSubarray<Use>(all as unknown as Use[], { minLength: 1 }));

interface Step {
  readonly uses: readonly Use[];
  readonly id: string;
  readonly waitMs: number;
}

/** Calls on one limiter: when, for which id, and with which limits in one batch. */
export function mixedSteps(maxLength: number): fc.Arbitrary<readonly Step[]> {
  const id = fc.constantFrom('7', '8');
  const waitMs = fc.constantFrom(0, 0, 50, 200, 1000, 30 * 60_000);
  return fc.array(fc.record({ uses, id, waitMs }), { minLength: 3, maxLength });
}

interface Outcome {
  readonly allowed: boolean;
  readonly levels: Levels;
}

/** Each decision and what it has done to all buckets, and the same by the arithmetic of this file. */
export async function mixedRun(
  steps: readonly Step[],
  store: Store,
  time: FakeTime,
): Promise<{ readonly seen: readonly Outcome[]; readonly exact: readonly Outcome[] }> {
  const limiter = mixedLimiter(time, store);
  const [seen, exact]: [Outcome[], Outcome[]] = [[], []];
  for (const { uses: batch, id, waitMs } of steps) {
    time.advance(waitMs);
    const before = await levelsOf(limiter, store, id);
    const { allowed } = await limiter.spend(batch.map((use) => ({ ...use, id })));
    seen.push({ allowed, levels: await levelsOf(limiter, store, id) });
    const isAllowed = batch.every((use) => passes(use, before));
    exact.push({ allowed: isAllowed, levels: isAllowed ? after(batch, before) : before });
  }
  await limiter.close();
  return { seen, exact };
}
