import { accountId, createLimiter, everyone, memoryStore } from '@sluice/core';
import { borrow } from '@sluice/core/borrow';
import { concurrency } from '@sluice/core/concurrency';
import { quota } from '@sluice/core/quota';
import { holdSync } from './hold.mjs';

const TURNS = 20_000;
const IDS = 7;
const OTHERS = /** @type {const} */ (['Waiting', 'Debt', 'Quota', 'Borrowing']);

/**
 * Decides by each kind of limit, mode and option, as a server whose limits differ. The compiled code of a rate is then that
 * of all kinds.
 */
export function useAllKinds() {
  const key = accountId();
  const numbers = { count: 1_000_000, period: '1s' };
  const limiter = createLimiter({
    limits: {
      Rate: { key, ...numbers },
      Waiting: { key, ...numbers, maxWait: '1s' },
      Debt: { key, ...numbers, maxDebt: 10 },
      Quota: quota({ key, count: 1_000_000, per: 'year' }),
      Slots: concurrency({ key, concurrency: 10 }),
      Borrowing: borrow({ key, ...numbers, borrow: { from: 'Pool', ceiling: numbers, tenants: IDS } }),
      Pool: { key: everyone(), count: 10_000_000, period: '1s' },
    },
    overrides: { Rate: { 0: { count: 2_000_000, period: '1s' }, 1: 'unlimited', 2: 'blocked' } },
    store: memoryStore(),
    log: false,
  });
  for (let turn = 0; turn < TURNS; turn++) {
    const id = String(turn % IDS);
    void limiter.spend([{ limit: 'Rate', id, cost: 2, mode: 'spend-only' }]);
    void limiter.spend([{ limit: 'Rate', id, share: 0.5 }]);
    for (const limit of OTHERS) void limiter.spend([{ limit, id }]);
    void limiter.spend([
      { limit: 'Rate', id },
      { limit: 'Quota', id, mode: 'check-only' },
    ]);
    void limiter.charge([{ limit: 'Debt', id }]);
    void holdSync(limiter, [{ limit: 'Slots', id }]).release();
  }
}
