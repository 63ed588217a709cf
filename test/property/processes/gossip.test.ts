import { accountId } from '@sluice/core';
import { TICKS_PER_MICRO } from '@sluice/core/store';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Numbers } from '../../../scripts/processes/contestant.ts';
import { Gossip } from '../../../scripts/processes/gossip.ts';
import { partOf, type Partition } from '../../../scripts/processes/partition.ts';
import { SluiceLimiter } from '../../../tools/cli/src/simulate/algorithms/sluice.ts';
import { atMost } from '../runs.ts';

const BURST = 5;
const PROCESSES = 4;
/** Not a whole number of microseconds for a token. */
const LIMITS = { Requests: { key: accountId(), burst: BURST, count: 30, period: '1s' } };

interface Asked {
  readonly id: string;
  readonly atMicros: number;
  readonly cost: number;
  readonly process: number;
}

/** Requests of two clients, in the order of time: many at the same moment, some after seconds. */
const requests = fc
  .array(
    fc.record({
      id: fc.constantFrom('1', '2'),
      gapMicros: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 70_000 }), fc.integer({ min: 0, max: 900_000 })),
      cost: fc.integer({ min: 1, max: BURST }),
      process: fc.nat(PROCESSES - 1),
    }),
    { maxLength: 60 },
  )
  .map((steps) => {
    let atMicros = 0;
    return steps.map(({ gapMicros, ...request }): Asked => ({ ...request, atMicros: (atMicros += gapMicros) }));
  });

const partitions = fc.option(
  fc
    .record({ parts: fc.integer({ min: 2, max: PROCESSES }), fromMicros: fc.nat(2_000_000), length: fc.nat(3_000_000) })
    .map(({ length, ...from }): Partition => ({ ...from, toMicros: from.fromMicros + length })),
  { nil: undefined },
);
const delays = fc.constantFrom(0, 1, 100_000, 2_000_000);

const LIMITER = new SluiceLimiter(LIMITS);
/** After a day, all buckets of the limiter are full again. */
const DAY_MICROS = 86_400_000_000;
let days = 0;

/** What a real limiter decides. */
function exactly(asked: readonly Asked[]): readonly boolean[] {
  const exact = LIMITER.by(['Requests']);
  const startMicros = ++days * DAY_MICROS;
  return asked.map(({ id, atMicros, cost }) => exact.decide(id, startMicros + atMicros, cost) === 0);
}

function byGossip(asked: readonly Asked[], delayMicros: number, partition?: Partition): readonly boolean[] {
  const gossip = new Gossip({ ...NUMBERS, delayMicros, partition });
  return asked.map(({ id, atMicros, cost, process }) => gossip.decide(id, atMicros, cost, process) === 0);
}

const { rate } = LIMITER.limits.get('Requests')!;
const NUMBERS: Numbers = {
  burst: BURST,
  count: rate.count,
  periodMicros: rate.periodMs * 1000,
  intervalTicks: rate.emissionIntervalTicks,
  overshoot: undefined,
  processes: PROCESSES,
  skew: 1,
  delayMicros: 0,
  partition: undefined,
};

/** The most tokens of a client that were let through beyond the rate, in any window of time. */
function mostBeyondRate(asked: readonly Asked[], allowed: readonly boolean[]): number {
  const { intervalTicks } = NUMBERS;
  let worst = 0;
  for (const client of ['1', '2']) {
    let [level, last] = [0, 0];
    for (const [i, { id, atMicros, cost }] of asked.entries()) {
      if (id !== client || allowed[i] !== true) continue;
      level = Math.max(0, level - (atMicros - last) * TICKS_PER_MICRO) + cost * intervalTicks;
      last = atMicros;
      worst = Math.max(worst, level / intervalTicks);
    }
  }
  return worst;
}

function check<T extends [unknown, ...unknown[]]>(property: fc.IPropertyWithHooks<T>): void {
  fc.assert(property, { numRuns: atMost(200) });
}

describe('processes that tell each other what they let through', () => {
  it('are the exact limiter if there is one of them, whatever the delay', () => {
    check(
      fc.property(requests, delays, (asked, delay) => {
        const alone = asked.map((each) => ({ ...each, process: 3 }));
        expect(byGossip(alone, delay)).toEqual(exactly(alone));
      }),
    );
  });

  it('are the exact limiter together if they know of each request at once', () => {
    check(
      fc.property(requests, (asked) => {
        expect(byGossip(asked, 0)).toEqual(exactly(asked));
      }),
    );
  });

  it('are an exact limiter in each part of a partition, so they let through the limit times the parts', () => {
    check(
      fc.property(requests, fc.integer({ min: 2, max: PROCESSES }), (asked, parts) => {
        const partition = { parts, fromMicros: 0, toMicros: Infinity };
        const allowed = byGossip(asked, 0, partition);
        for (let part = 0; part < parts; part++) {
          const isThere = asked.map(({ process }) => process % parts === part);
          expect(allowed.filter((_, i) => isThere[i])).toEqual(exactly(asked.filter((_, i) => isThere[i])));
        }
      }),
    );
    const flood = Array.from({ length: 4000 }, (_, i) => ({
      id: '1',
      atMicros: i * 1000,
      cost: 1,
      process: i % PROCESSES,
    }));
    const partition = { parts: PROCESSES, fromMicros: 0, toMicros: Infinity };
    const [whole, parted] = [byGossip(flood, 0), byGossip(flood, 0, partition)].map(
      (all) => all.filter(Boolean).length,
    );
    expect(whole).toBe(BURST + 119);
    expect(parted).toBe(4 * whole!);
  });

  it('let through no more than a burst for each process and the rate of the delay for each other one while they reach each other', () => {
    check(
      fc.property(requests, delays, (asked, delay) => {
        const bound = PROCESSES * BURST + ((PROCESSES - 1) * 30 * delay) / 1e6;
        expect(mostBeyondRate(asked, byGossip(asked, delay))).toBeLessThanOrEqual(bound + 1e-6);
      }),
    );
  });

  it('let through no more than the limit for each process, whatever the delay and the partition', () => {
    check(
      fc.property(requests, delays, partitions, (asked, delay, partition) => {
        const allowed = byGossip(asked, delay, partition);
        for (let process = 0; process < PROCESSES; process++) {
          const own = allowed.map((each, i) => each && asked[i]!.process === process);
          expect(mostBeyondRate(asked, own)).toBeLessThanOrEqual(BURST + 1e-6);
        }
      }),
    );
  });

  it('let a burst through at each of them before they know of the others', () => {
    const burst = Array.from({ length: 40 }, (_, i) => ({
      id: '1',
      atMicros: i * 2000,
      cost: 1,
      process: i % PROCESSES,
    }));
    expect(byGossip(burst, 100_000).filter(Boolean).length).toBe(PROCESSES * (BURST + 2));
    expect(byGossip(burst, 0).filter(Boolean).length).toBe(BURST + 2);
  });

  it('never learn what another part let through during a partition, and learn what was sent before it', () => {
    const partition = { parts: 2, fromMicros: 50_000, toMicros: 90_000 };
    const at = (atMicros: number, process: number): Asked => ({ id: '1', atMicros, cost: BURST, process });
    const before = [at(0, 0), at(60_000, 2), at(110_000, 1)];
    expect(byGossip(before, 50_000, partition)).toEqual([true, false, false]);
    const during = [at(60_000, 0), at(60_000, 1), at(110_000, 3), at(111_000, 2)];
    expect(byGossip(during, 50_000, partition)).toEqual([true, true, false, false]);
    const unknown = [at(60_000, 0), at(140_000, 1)];
    expect(byGossip(unknown, 50_000, partition)).toEqual([true, true]);
    expect(byGossip(unknown, 50_000)).toEqual([true, false]);
  });
});

describe('a partition', () => {
  it('divides the processes only as long as it lasts', () => {
    const partition = { parts: 3, fromMicros: 10, toMicros: 20 };
    expect([9, 10, 19, 20].map((at) => partOf(5, at, partition))).toEqual([0, 2, 2, 0]);
    expect(partOf(5, 15, undefined)).toBe(0);
  });
});
