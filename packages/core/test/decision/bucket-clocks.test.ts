import { createLimiter, memoryStore, type Store } from '@sluice/core';
import type { StoreOperation, StoreReading, StoreTransaction } from '@sluice/core/store';
import { callsOf, FakeTime } from '@sluice/core/testing';
import { expect, test } from 'vitest';
import { accountLimits } from '../support/limiter-on-fake-time.ts';

type Call = 'spend' | 'check' | 'charge' | 'refund';

/** A store on two servers, of which the one that holds Reads is an hour ahead. */
class TwoServers implements Store {
  readonly traits = { answersAtOnce: true } as const;
  readonly time = new FakeTime();
  readonly #servers = { Orders: memoryStore({ time: this.time }), Reads: memoryStore({ time: this.time }) };
  readonly #aheadTicks = { Orders: 0, Reads: 3600 * 16_000_000 };

  run = (operation: StoreOperation): StoreReading => {
    const batch = 'alternatives' in operation ? operation.alternatives.flat() : operation.batch;
    return this.#readings(operation.kind as Call, batch as readonly StoreTransaction[]);
  };
  close = (): void => undefined;

  #readings(call: Call, batch: readonly StoreTransaction[]): StoreReading {
    const parts = batch.map((entry) => {
      const { tatAfterSpendTicks, ...rest } = entry as StoreTransaction & { tatAfterSpendTicks?: number };
      const server = entry.limit as 'Orders' | 'Reads';
      const aheadTicks = this.#aheadTicks[server];
      const tat = tatAfterSpendTicks === undefined ? {} : { tatAfterSpendTicks: tatAfterSpendTicks - aheadTicks };
      const { passed, nowTicks, levelsTicks } = callsOf(this.#servers[server])[call]([{ ...rest, ...tat }]);
      return { passed, nowTicks: nowTicks + aheadTicks, levelTicks: levelsTicks.at(0)! };
    });
    return {
      passed: parts.at(0)!.passed,
      nowTicks: parts.at(0)!.nowTicks,
      levelsTicks: parts.map(({ levelTicks }) => levelTicks),
      bucketNowTicks: parts.map(({ nowTicks }) => nowTicks),
    };
  }
}

test('the refund of a decision uses the clock of each bucket', async () => {
  const store = new TwoServers();
  const numbers = { burst: 10, count: 1, period: '1s' };
  const limiter = createLimiter({ limits: accountLimits({ Orders: numbers, Reads: numbers }), store, log: false });
  const ask = (cost: number) => ['Orders', 'Reads'].map((limit) => ({ limit, id: '7', cost }));
  const decision = await limiter.spend(ask(3));
  await limiter.spend(ask(4));
  store.time.advance(1000);
  expect((await limiter.refund(decision)).map(({ remaining }) => remaining)).toEqual([6, 6]);
});
