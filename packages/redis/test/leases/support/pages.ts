// Transactions of limits with an overshoot, as a limiter passes them to a store.
import type { Store } from '@sluice/core';
import type { Mode, StoreTransaction } from '@sluice/core/store';
import { callsOf } from '@sluice/core/testing';

/** 100 per second, burst 200, overshoot 0.1: with two processes an overdraft of 7, and at most 20 beyond the limit. */
export const TOKEN = 160_000;
export const BURST = 200;
export const BEYOND = 20;

interface Numbers {
  readonly mode?: Mode;
  readonly overshoot?: number | undefined;
  readonly onFailure?: 'local' | 'closed' | 'open';
}

export function page(
  id: string,
  cost = 1,
  { mode = 'check-and-spend', overshoot = 0.1, onFailure = 'closed' }: Numbers = {},
) {
  const toleranceTicks = BURST * TOKEN;
  return {
    limit: 'Pages',
    id,
    incrementTicks: cost * TOKEN,
    fitTicks: toleranceTicks,
    capTicks: toleranceTicks,
    mode,
    treatment: { overshoot, onFailure },
    rate: { burst: BURST, emissionIntervalTicks: TOKEN, toleranceTicks },
  } satisfies StoreTransaction;
}

/** Spends tokens one by one, so that the process decides them: beyond its overdraft from leases, for which it waits. */
export async function spendEach(store: Store, tokens: number, one: StoreTransaction): Promise<void> {
  await Promise.all(Array.from({ length: tokens }, () => callsOf(store).spend([one])));
}

/** The same with a token an hour, so that none comes back while a test runs. */
export function hourly(id: string, cost = 1): StoreTransaction {
  const factor = 3_600_000 / 10;
  const { limit: _, rate, ...rest } = page(id, cost * factor);
  const ticks = { fitTicks: rest.fitTicks * factor, capTicks: rest.capTicks * factor };
  const hour = TOKEN * factor;
  return {
    ...rest,
    ...ticks,
    limit: 'Hourly',
    rate: { ...rate, emissionIntervalTicks: hour, toleranceTicks: BURST * hour },
  };
}
