import { changed } from '../../src/decision/transaction.ts';
import { describe, expect, test } from 'vitest';
import { LocalRates, localRate } from '../../src/failure/local-rate.ts';
import { FALLING, rateOf } from '../../src/rule/rate.ts';
import { MAX_TOLERANCE_TICKS, TICKS_PER_SECOND } from '../../src/rule/ticks.ts';
import { transaction } from './support/guarded.ts';

const tenPerSecond = rateOf('limits.Orders', { burst: 10, count: 10, period: '1s' });

describe('the part of one of', () => {
  test('4 gateways: tokens refill four times as slowly, and the burst is a quarter, rounded down', () => {
    expect(localRate(tenPerSecond, 4)).toEqual({
      burst: 2,
      count: 10,
      periodMs: 4000,
      emissionIntervalTicks: 0.4 * TICKS_PER_SECOND,
      toleranceTicks: 0.8 * TICKS_PER_SECOND,
      kind: FALLING,
    });
  });

  test('more gateways than the burst: one token', () => {
    expect(localRate(tenPerSecond, 11)).toMatchObject({ burst: 1, toleranceTicks: 1.1 * TICKS_PER_SECOND });
  });

  test('10,000 gateways stays on the time grid: a token is refilled in at most ten years', () => {
    const onePerYear = rateOf('limits.Orders', { count: 1, period: '366d' });
    const tenYearsMs = 3652.5 * 86_400_000;
    expect(localRate(onePerYear, 10_000)).toEqual({
      burst: 1,
      count: 1,
      periodMs: tenYearsMs,
      emissionIntervalTicks: MAX_TOLERANCE_TICKS,
      toleranceTicks: MAX_TOLERANCE_TICKS,
      kind: FALLING,
    });
  });

  test.each([2, 3, 7, 100, 9_999])('%i gateways: all parts together are at most the limit', (gateways) => {
    for (const burst of [1, 2, 7, 1000, 1_000_000]) {
      const rate = rateOf('limits.Orders', { burst, count: 7, period: '1s' });
      const local = localRate(rate, gateways);
      expect(gateways * local.burst).toBeLessThanOrEqual(Math.max(burst, gateways));
      expect(local.emissionIntervalTicks).toBe(gateways * rate.emissionIntervalTicks);
      expect(local.toleranceTicks).toBeLessThanOrEqual(MAX_TOLERANCE_TICKS);
      expect(Number.isSafeInteger(local.toleranceTicks)).toBe(true);
    }
  });
});

describe('a local transaction', () => {
  test('carries its local rate, ticks and cost', () => {
    const local = new LocalRates(2).localized(transaction({ burst: 10, cost: 3 }));
    expect(local).toMatchObject({ limit: 'Orders', id: 'a', mode: 'check-and-spend', cost: 3 });
    expect(local.rate).toMatchObject({ burst: 5, periodMs: 2000 });
    expect(local.incrementTicks).toBe(6 * TICKS_PER_SECOND);
    expect([local.fitTicks, local.capTicks]).toEqual([10 * TICKS_PER_SECOND, 10 * TICKS_PER_SECOND]);
  });

  test('keeps its share of the local bucket, and its cap', () => {
    const shared = changed(transaction({ burst: 20, cost: 3 }), { fitTicks: 16 * TICKS_PER_SECOND });
    expect(new LocalRates(2).localized(shared)).toMatchObject({
      cost: 3,
      fitTicks: 16 * TICKS_PER_SECOND,
      capTicks: 20 * TICKS_PER_SECOND,
      rate: { burst: 10 },
    });
  });

  test('that costs more than its share of the local bucket takes all of it, at least one token', () => {
    const shared = changed(transaction({ burst: 20, cost: 15 }), { fitTicks: 16 * TICKS_PER_SECOND });
    const local = new LocalRates(4).localized(shared);
    const least = new LocalRates(40).localized(shared);
    expect([local.cost, local.fitTicks, local.incrementTicks]).toEqual([
      4,
      16 * TICKS_PER_SECOND,
      16 * TICKS_PER_SECOND,
    ]);
    expect([least.cost, least.fitTicks, least.incrementTicks]).toEqual([
      1,
      40 * TICKS_PER_SECOND,
      40 * TICKS_PER_SECOND,
    ]);
  });

  test('that costs more than the local burst takes the whole local bucket', () => {
    const local = new LocalRates(4).localized(transaction({ burst: 10, cost: 9 }));
    expect([local.cost, local.incrementTicks]).toEqual([2, local.fitTicks]);
  });

  test('keeps the longest delay', () => {
    const waiting = changed(transaction({ burst: 10, cost: 3 }), {
      fitTicks: 12 * TICKS_PER_SECOND,
      capTicks: 14 * TICKS_PER_SECOND,
      lineTicks: 10 * TICKS_PER_SECOND,
    });
    const local = new LocalRates(4).localized(waiting);
    expect(local).toMatchObject({
      rate: { burst: 2 },
      cost: 2,
      fitTicks: 10 * TICKS_PER_SECOND,
      capTicks: 12 * TICKS_PER_SECOND,
      lineTicks: 8 * TICKS_PER_SECOND,
    });
    const withoutDelay = changed(waiting, { fitTicks: 10 * TICKS_PER_SECOND });
    expect(new LocalRates(4).localized(withoutDelay).fitTicks).toBe(8 * TICKS_PER_SECOND);
    const half = changed(waiting, { fitTicks: 5 * TICKS_PER_SECOND });
    expect(new LocalRates(4).localized(half).fitTicks).toBe(4 * TICKS_PER_SECOND);
  });

  test('of the only gateway is the transaction itself, and the charge itself', () => {
    const asked = transaction();
    expect(new LocalRates(1).localized(asked)).toBe(asked);
    expect(new LocalRates(1).localizedCharge(asked)).toBe(asked);
  });

  test('shares its rate with all others of the same limit', () => {
    const rates = new LocalRates(4);
    const [one, other] = [transaction({ id: 'a' }), transaction({ id: 'b' })];
    expect(one.rate).toBe(other.rate);
    expect(rates.localized(one).rate).toBe(rates.localized(other).rate);
  });

  test('that is charged goes below empty by its part of the debt, which takes as long to pay back', () => {
    const charge = changed(transaction({ burst: 20, cost: 100, mode: 'charge' }), { capTicks: 30 * TICKS_PER_SECOND });
    const rates = new LocalRates(2);
    const local = rates.localized(charge);
    expect(local).toMatchObject({ cost: 15, capTicks: 30 * TICKS_PER_SECOND, fitTicks: 20 * TICKS_PER_SECOND });
    expect(local.incrementTicks).toBe(30 * TICKS_PER_SECOND);
    expect(rates.localizedCharge(changed(charge, { mode: 'check-and-spend' }))).toMatchObject({ cost: 15 });
    expect(rates.localized(changed(charge, { mode: 'check-and-spend' }))).toMatchObject({ cost: 10 });
  });

  test('with a debt refills within ten years', () => {
    const rate = rateOf('limits.Orders', { burst: 1, count: 1, period: '366d', maxDebt: 8 });
    const charge = changed(transaction({ rate, mode: 'charge' }), { capTicks: 9 * rate.emissionIntervalTicks });
    expect(new LocalRates(10_000).localizedCharge(charge).capTicks).toBe(MAX_TOLERANCE_TICKS);
  });
});
