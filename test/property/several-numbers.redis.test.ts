import type { Store } from '@sluice/core';
import { passes, type StoreTransaction } from '@sluice/core/store';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readyStore } from '../../packages/redis/test/support/ready-store.ts';
import { redisServer } from '../redis/servers/redis-server.ts';
import { roundedRule, type Numbers } from './oracle.ts';
import { atMost } from './runs.ts';
import { sets, steps, worstExcess, type Taken } from './several-numbers.ts';
import { callsOf } from '@sluice/core/testing';

const server = await redisServer();

test('on Redis it does so as well, in calls of its own and in one call together', async () => {
  const store = await readyStore({ url: server.url, rememberDenialsMs: 0 });
  let run = 0;
  await fc.assert(
    fc.asyncProperty(sets, steps, fc.boolean(), async (all, asked, together) => {
      const id = String(run++);
      const batches = asked.map(({ numbers, share }) => transactionOf(id, all[numbers % all.length]!, share));
      const taken = together
        ? (await Promise.all(batches.map((batch) => spend(store, batch)))).flat()
        : await inTurn(store, batches);
      expect(worstExcess(taken, all)).toBe(0n);
    }),
    { numRuns: atMost(300) },
  );
  await store.close();
});

function transactionOf(id: string, numbers: Numbers, share: number): StoreTransaction & { tokens: number } {
  const { interval, tolerance } = roundedRule(numbers);
  const tokens = Math.max(1, Math.floor(share * numbers.burst));
  const incrementTicks = tokens * Number(interval);
  return {
    limit: 'Only',
    id,
    incrementTicks,
    fitTicks: Number(tolerance),
    capTicks: Number(tolerance),
    mode: 'check-and-spend',
    tokens,
  };
}

async function spend(store: Store, transaction: StoreTransaction & { tokens: number }): Promise<Taken[]> {
  const { nowTicks, levelsTicks } = await callsOf(store).spend([transaction]);
  return passes([transaction], levelsTicks) ? [{ atTicks: BigInt(nowTicks), tokens: transaction.tokens }] : [];
}

async function inTurn(store: Store, batches: readonly ReturnType<typeof transactionOf>[]): Promise<Taken[]> {
  const taken: Taken[] = [];
  // oxlint-disable-next-line no-await-in-loop -- one after the other
  for (const batch of batches) taken.push(...(await spend(store, batch)));
  return taken;
}
