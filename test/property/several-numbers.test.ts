import { accountId, createLimiter, memoryStore, type Limiter, type Store } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { written } from './limit-arbitraries.ts';
import { roundedRule } from './oracle.ts';
import { sets, steps, worstExcess, worstExcessOfRaise, type Taken } from './several-numbers.ts';

test('in memory, at most the largest burst + rate × time passes in any window, or with several rates the bursts + fastest rate × time', () => {
  fc.assert(
    fc.property(sets, steps, (all, asked) => {
      const time = new FakeTime();
      let current = all[0]!;
      const limiter = createLimiter({
        limits: { Only: { key: accountId(), ...written(current) } },
        overrides: () => written(current),
        store: memoryStore({ time }),
        log: false,
      });
      const taken: Taken[] = [];
      for (const { numbers, share, pause } of asked) {
        current = all[numbers % all.length]!;
        time.advance((pause * Number(roundedRule(current).interval)) / 16_000);
        const tokens = Math.max(1, Math.floor(share * current.burst));
        const { allowed } = limiter.spendSync([{ limit: 'Only', id: '7', cost: tokens }]);
        if (allowed) taken.push({ atTicks: BigInt(time.nowMicros()) * 16n, tokens });
      }
      expect(worstExcess(taken, all)).toBe(0n);
    }),
  );
});

const PROCESSES = 4;
const fewTokens = fc.integer({ min: 1, max: 20 });
/** One token in so many seconds; after the raise, as many times faster. */
const raise = fc
  .record({ seconds: fc.integer({ min: 1, max: 10_000 }), faster: fc.integer({ min: 2, max: 1000 }) })
  .chain(({ seconds, faster }) =>
    fc.tuple(fewTokens, fewTokens).map(([oldBurst, burst]) => ({
      old: { burst: oldBurst, count: 1, periodMicros: seconds * 1_000_000 },
      current: { burst, count: faster, periodMicros: seconds * 1_000_000 },
    })),
  );
const rollOut = fc.array(
  fc.record({
    process: fc.nat(PROCESSES - 1),
    // In one of four steps the process learns of the raise first.
    learns: fc.nat(3).map((n) => n === 0),
    most: fewTokens,
    // How long to wait before, as a share of the time in which the old bucket fills.
    pause: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.double({ min: 0, max: 1.2, noNaN: true })),
  }),
  { minLength: 1, maxLength: 40 },
);

test('while a raise reaches one process after the other, at most both bursts + the new rate × time pass in any window, and the old burst once more for each process that has the raise', () => {
  fc.assert(
    fc.property(raise, rollOut, ({ old, current }, asked) => {
      const time = new FakeTime();
      const store = memoryStore({ time });
      const set = (numbers: typeof old) => ({ limits: { Only: { key: accountId(), ...written(numbers) } } });
      const processes: Limiter[] = Array.from({ length: PROCESSES }, () =>
        createLimiter({ ...set(old), store: seenByAProcess(store), log: false }),
      );
      const taken: Taken[] = [];
      const learned = new Set<Limiter>();
      for (const { process, learns, most, pause } of asked) {
        time.advance(Math.floor((pause * Number(roundedRule(old).tolerance)) / 16_000));
        const limiter = processes[process]!;
        if (learns) {
          limiter.replace(set(current));
          learned.add(limiter);
        }
        let tokens = 0;
        while (tokens < most && limiter.spendSync([{ limit: 'Only', id: '7' }]).allowed) tokens++;
        if (tokens > 0) taken.push({ atTicks: BigInt(time.nowMicros()) * 16n, tokens });
      }
      expect(worstExcessOfRaise(taken, { old, current, learned: learned.size })).toBe(0n);
    }),
  );
});

/** The store as another process sees it: limiters of one process can't share the name of a limit. */
function seenByAProcess(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
