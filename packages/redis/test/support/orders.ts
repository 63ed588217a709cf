import {
  passes,
  type CalendarPeriod,
  type Mode,
  type StoreCharge,
  type StoreHold,
  type StoreReading,
  type StoreRefund,
  type StoreTransaction,
} from '@sluice/core/store';

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

const HOUR_MS = 3_600_000;
const HALF_AN_HOUR_AGO = Date.now() - HOUR_MS / 2;

/** The period of an hour that runs while these tests do, and the next one; or some hours later. */
export function hour(laterHours = 0): CalendarPeriod {
  const start = HALF_AN_HOUR_AGO + laterHours * HOUR_MS;
  return [start, start + HOUR_MS, start + 2 * HOUR_MS];
}

/** One transaction of five calls an hour. */
export function hourly(id: string, cost = 1, period: CalendarPeriod = hour()): StoreTransaction {
  return { limit: 'Hourly', id, incrementTicks: cost, fitTicks: 5, capTicks: 5, mode: 'check-and-spend', period };
}

/** The slots of InFlight, and their expiry unless another one is given. It does not end while a test runs. */
export const SLOTS = 3;
const EXPIRY_MS = 60_000;

interface SlotNumbers {
  readonly count?: number;
  readonly expiryMs?: number;
}

/** One transaction of InFlight. */
export function inFlight(
  id: string,
  holder: string,
  {
    count = 1,
    expiryMs = EXPIRY_MS,
    fit = SLOTS,
    mode = 'check-and-spend',
  }: SlotNumbers & { readonly fit?: number; readonly mode?: Mode } = {},
): StoreTransaction {
  const holding = { holder, expiryMs };
  return { limit: 'InFlight', id, slots: true, incrementTicks: count, fitTicks: fit, capTicks: fit, mode, holding };
}

/** Slots that a transaction of InFlight has taken. */
export function hold(
  id: string,
  holder: string,
  { first = 1, count = 1, expiryMs = EXPIRY_MS }: SlotNumbers & { readonly first?: number } = {},
): StoreHold {
  return { limit: 'InFlight', id, slots: true, holder, expiryMs, first, count };
}
