import type { Mode, StoreCharge, StoreReading, StoreRefund, StoreTransaction } from '@sluice/core';
import { passes } from '@sluice/core/kit';

/** One token of Orders: it comes back after a minute, so that none does while a test runs. There are five. */
export const TOKEN_TICKS = 60 * 16_000_000;
export const BURST = 5;

/** One transaction of Orders; the cost is in tokens. */
export function order(id: string, cost = 1, mode: Mode = 'check-and-spend'): StoreTransaction {
  return {
    limit: 'Orders',
    id,
    incrementTicks: cost * TOKEN_TICKS,
    fitTicks: BURST * TOKEN_TICKS,
    capTicks: BURST * TOKEN_TICKS,
    mode,
  };
}

export function charge(id: string, cost = 1): StoreCharge {
  const { mode: _, ...rest } = order(id, cost);
  return rest;
}

export function refund(id: string, cost = 1, tatAfterSpendTicks?: number): StoreRefund {
  return { ...charge(id, cost), tatAfterSpendTicks };
}

/** The same numbers under the name of another limit. */
export function read(id: string, cost = 1, mode: Mode = 'check-and-spend'): StoreTransaction {
  return { ...order(id, cost, mode), limit: 'Reads' };
}

/** Tokens that are owed, in whole ones. */
export function owed({ levelsTicks }: StoreReading): number[] {
  return levelsTicks.map((level) => Math.ceil(level / TOKEN_TICKS));
}

export function isAllowed(batch: readonly StoreTransaction[], { levelsTicks }: StoreReading): boolean {
  return passes(batch, levelsTicks);
}
