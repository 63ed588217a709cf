import { describe, expect, test } from 'vitest';
import {
  isLeased,
  leaseNumbers,
  type LeaseDemand,
  type LeaseNumbers,
} from '../../../src/leases/rules/lease-numbers.ts';

const TICKS_PER_MS = 16_000;
const SYNC_MS = 200;
const YEAR_MS = 365.25 * 86_400_000;

/** `count` tokens every `periodMs`. */
function solve({ burst, count, periodMs, overshoot = 0.1, gateways, syncMs = SYNC_MS }: Solved) {
  const intervalTicks = Math.floor((periodMs * TICKS_PER_MS) / count);
  return leaseNumbers({ burst, intervalTicks, overshoot, gateways, syncTicks: syncMs * TICKS_PER_MS });
}
interface Solved extends Pick<LeaseDemand, 'burst' | 'gateways'> {
  readonly count: number;
  readonly periodMs: number;
  readonly overshoot?: number;
  readonly syncMs?: number;
}

const tens = { burst: 20, count: 20, periodMs: 1000 };
const hundreds = { burst: 200, count: 100, periodMs: 1000 };
const slow = { burst: 300, count: 300, periodMs: 3 * 3_600_000 };
const thousands = { burst: 1000, count: 1000, periodMs: 1000 };
const fast = { burst: 40_000, count: 80_000, periodMs: 1000 };

describe('the numbers of a leased limit', () => {
  test.each([
    { ...tens, overshoot: 0.5, gateways: 2, overdraft: 4, leaseMs: 60, dueMs: 27, bound: 10 },
    { ...tens, overshoot: 0.5, gateways: 4, overdraft: 2, leaseMs: 60, dueMs: 27, bound: 10 },
    { ...hundreds, gateways: 2, overdraft: 7, leaseMs: 60, dueMs: 27, bound: 20 },
    { ...hundreds, gateways: 4, overdraft: 3, leaseMs: 60, dueMs: 27, bound: 18 },
    { ...hundreds, gateways: 16, overdraft: 1, leaseMs: 40, dueMs: 18, bound: 20 },
    { ...slow, gateways: 2, overdraft: 14, leaseMs: 60, dueMs: 27, bound: 29 },
    { ...slow, gateways: 4, overdraft: 7, leaseMs: 60, dueMs: 27, bound: 29 },
    { ...slow, gateways: 16, overdraft: 1, leaseMs: 60, dueMs: 27, bound: 17 },
    { ...thousands, gateways: 2, overdraft: 25, leaseMs: 50, dueMs: 22, bound: 100 },
    { ...thousands, gateways: 4, overdraft: 12, leaseMs: 52, dueMs: 23, bound: 100 },
    { ...thousands, gateways: 16, overdraft: 3, leaseMs: 52, dueMs: 23, bound: 100 },
    { ...thousands, gateways: 64, overdraft: 1, leaseMs: 36, dueMs: 16, bound: 100 },
    { ...fast, gateways: 2, overdraft: 1000, leaseMs: 25, dueMs: 11, bound: 4000 },
    { ...fast, gateways: 4, overdraft: 500, leaseMs: 25, dueMs: 11, bound: 4000 },
    { ...fast, gateways: 16, overdraft: 125, leaseMs: 25, dueMs: 11, bound: 4000 },
    { ...fast, gateways: 64, overdraft: 31, leaseMs: 25, dueMs: 11, bound: 4000 },
  ])(
    'follow from burst $burst, $count per $periodMs ms and $gateways processes',
    ({ overdraft, leaseMs, dueMs, bound, ...demand }) => {
      const numbers = solve(demand) as LeaseNumbers;
      expect(numbers).toMatchObject({ overdraftTokens: overdraft, boundTokens: bound });
      expect(Math.round(numbers.leaseTicks / TICKS_PER_MS)).toBe(leaseMs);
      expect(Math.round(numbers.dueTicks / TICKS_PER_MS)).toBe(dueMs);
    },
  );

  test.each([
    { ...tens, gateways: 1 },
    { ...hundreds, gateways: 3 },
    { ...slow, gateways: 5, overshoot: 1 },
    { ...fast, gateways: 7, overshoot: 0.29 },
  ])('keep the overshoot: burst $burst, $gateways processes', (demand) => {
    const numbers = solve(demand) as LeaseNumbers;
    const { gateways, overdraftTicks, leaseTicks, fitTicks, capTicks, overshoot } = numbers;
    const beyond = gateways * overdraftTicks + leaseTicks;
    expect(beyond).toBeLessThanOrEqual(overshoot * fitTicks);
    expect(capTicks).toBe(fitTicks + beyond);
    for (const ticks of [overdraftTicks, leaseTicks, numbers.dueTicks, capTicks]) {
      expect(Number.isSafeInteger(ticks)).toBe(true);
    }
  });

  test.each([
    { what: 'all comes back within 200 ms', count: 120, gateways: 2, settleMs: 0, reportMs: 200 },
    { what: 'all comes back within 20 ms', count: 1300, gateways: 2, syncMs: 20, settleMs: 0, reportMs: 20 },
    { what: 'it takes longer than 20 ms', count: 500, gateways: 2, syncMs: 20, settleMs: 10, reportMs: 20 },
    { what: 'a denial adds no more than 200 ms', count: 120, gateways: 2, syncMs: 1000, settleMs: 0, reportMs: 200 },
    { what: 'it takes longer than 200 ms', count: 100, gateways: 2, settleMs: 10, reportMs: 200 },
    { what: 'one token takes as long', count: 5, gateways: 2, settleMs: 10, reportMs: 200 },
    { what: 'one token takes longer', count: 4.9, gateways: 2, settleMs: 10, reportMs: 0 },
    { what: 'it takes longer, but there is only one process', count: 4.9, gateways: 1, settleMs: 0, reportMs: 0 },
  ])('have denials wait for what others have let through, where it matters: $what', (limit) => {
    const { settleMs, reportMs, ...demand } = limit;
    const numbers = solve({ burst: 50, periodMs: 1000, overshoot: 1, ...demand }) as LeaseNumbers;
    expect(numbers.settleTicks).toBe(settleMs * TICKS_PER_MS);
    expect(numbers.reportTicks).toBe(reportMs * TICKS_PER_MS);
  });

  test('do not exist when a process has not even one token of overshoot', () => {
    expect(solve({ ...tens, gateways: 3 })).toEqual({
      strictBecause: 'overshoot × burst is 2 tokens, and each of the 3 processes needs one',
    });
  });

  test('do not exist when leases would be too short to be renewed', () => {
    const numbers = solve({ ...tens, gateways: 2 });
    expect(isLeased(numbers)).toBe(false);
    expect(numbers).toEqual({ strictBecause: expect.stringContaining('11.25 ms') });
  });

  test('give up overdraft for longer leases before they give up leases', () => {
    // With an overdraft of 2 for each, nothing would be left for leases.
    const numbers = solve({ burst: 40, count: 40, periodMs: 1000, gateways: 2 }) as LeaseNumbers;
    expect(numbers.overdraftTokens).toBe(1);
    expect(numbers.leaseTicks / TICKS_PER_MS).toBe(50);
  });

  test('do not exist for a limit that takes ten years to refill', () => {
    const numbers = solve({ burst: 100, count: 100, periodMs: 9.9 * YEAR_MS, gateways: 2 });
    expect(numbers).toEqual({ strictBecause: expect.stringContaining('ten years') });
  });
});
