import { accountId, createLimiter, memoryStore } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { written } from './limit-arbitraries.ts';
import { atOnce } from './one-bucket.ts';
import { roundedRule } from './oracle.ts';
import { sets, steps, worstExcess, type Taken } from './several-numbers.ts';

test('in memory, no window holds more than the largest burst + rate × time, or with several rates the bursts + fastest rate × time', () => {
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
        const { allowed } = atOnce(limiter.spend([{ limit: 'Only', id: '7', cost: tokens }]));
        if (allowed) taken.push({ atTicks: BigInt(time.nowMicros()) * 16n, tokens });
      }
      expect(worstExcess(taken, all)).toBe(0n);
    }),
  );
});
