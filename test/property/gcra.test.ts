import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as gcra from '../../packages/core/src/rule/gcra.ts';
import { rateOf } from '../../packages/core/src/rule/rate.ts';
import { anyNumbers, written } from './limit-arbitraries.ts';
import { roundedRule } from './oracle.ts';

const share = fc.oneof(
  fc.integer({ min: 1, max: 100 }).map((percent) => percent / 100),
  fc.double({ min: 0, minExcluded: true, max: 1, noNaN: true }),
);

// Any limit; a TAT from long past to far beyond an empty bucket; a cost within the burst.
const cases = anyNumbers.chain((numbers) => {
  const rate = rateOf('limits.Orders', written(numbers));
  const tolerance = rate.toleranceTicks;
  const near = fc.integer({ min: -3, max: 3 });
  return fc.record({
    numbers: fc.constant(numbers),
    rate: fc.constant(rate),
    now: fc.integer({ min: -1e15, max: 2 ** 51 }),
    ahead: fc.oneof(
      fc.integer({ min: -tolerance, max: tolerance }),
      near,
      near.map((ticks) => tolerance + ticks),
      fc.tuple(fc.integer({ min: 0, max: numbers.burst }), near).map(([n, t]) => n * rate.emissionIntervalTicks + t),
    ),
    cost: fc.oneof(fc.integer({ min: 0, max: numbers.burst }), fc.constantFrom(0, 1, numbers.burst)),
  });
});

test('the numbers of a limit are those of the rule, rounded down to ticks', () => {
  fc.assert(
    fc.property(anyNumbers, (numbers) => {
      const rate = rateOf('limits.Orders', written(numbers));
      const rule = roundedRule(numbers);
      expect(BigInt(rate.emissionIntervalTicks)).toBe(rule.interval);
      expect(BigInt(rate.toleranceTicks)).toBe(rule.tolerance);
    }),
  );
});

test('levels, waits and tokens are those of the rule in whole numbers of any size', () => {
  fc.assert(
    fc.property(cases, ({ numbers, rate, now, ahead, cost }) => {
      const { interval, tolerance } = roundedRule(numbers);
      const increment = BigInt(cost) * interval;
      const exact = BigInt(ahead) < 0n ? 0n : BigInt(ahead);
      const level = gcra.levelOf(now + ahead, now);
      const given = cost * rate.emissionIntervalTicks;

      expect(BigInt(level)).toBe(exact);
      const fitting = increment === 0n || exact + increment <= tolerance;
      expect(gcra.fits(level, given, rate.toleranceTicks)).toBe(fitting);
      const wait = fitting ? 0n : exact + increment - tolerance;
      expect(BigInt(gcra.waitFor(level, given, rate.toleranceTicks))).toBe(wait);
      const tokens = gcra.remainingTokens(level, rate.emissionIntervalTicks, rate.toleranceTicks);
      expect(BigInt(tokens)).toBe(exact < tolerance ? (tolerance - exact) / interval : 0n);
      const cut = exact + increment < tolerance ? exact + increment : tolerance;
      expect(BigInt(gcra.charged(level, given, rate.toleranceTicks))).toBe(cut > exact ? cut : exact);
      expect(BigInt(gcra.refunded(level, given))).toBe(exact > increment ? exact - increment : 0n);
    }),
  );
});

test('after the wait the cost fits, and one tick sooner it does not', () => {
  fc.assert(
    fc.property(cases, ({ rate, now, ahead, cost }) => {
      const { emissionIntervalTicks, toleranceTicks } = rate;
      const increment = cost * emissionIntervalTicks;
      const tat = now + ahead;
      const fitsAt = (time: number): boolean => gcra.fits(gcra.levelOf(tat, time), increment, toleranceTicks);
      const wait = gcra.waitFor(gcra.levelOf(tat, now), increment, toleranceTicks);
      expect(fitsAt(now + wait)).toBe(true);
      fc.pre(wait > 0);
      expect(fitsAt(now + wait - 1)).toBe(false);
      expect(fitsAt(now)).toBe(false);
    }),
  );
});

test('after the wait for the next token one more is there, and one tick sooner it is not', () => {
  fc.assert(
    fc.property(cases, ({ rate, ahead }) => {
      const { emissionIntervalTicks, toleranceTicks } = rate;
      const level = gcra.levelOf(ahead, 0);
      const tokensAfter = (wait: number): number =>
        gcra.remainingTokens(Math.max(0, level - wait), emissionIntervalTicks, toleranceTicks);
      const wait = gcra.waitForNextToken(level, emissionIntervalTicks, toleranceTicks);
      fc.pre(level > 0);
      expect(tokensAfter(wait)).toBe(tokensAfter(0) + 1);
      expect(tokensAfter(wait - 1)).toBe(tokensAfter(0));
    }),
  );
});

test('within any share, one more token fits after the tokens that are left are spent and the wait for the next is over', () => {
  fc.assert(
    fc.property(cases, share, ({ rate, ahead }, part) => {
      const { emissionIntervalTicks, toleranceTicks } = rate;
      const level = gcra.levelOf(ahead, 0);
      const room = gcra.shareOf(toleranceTicks, part);
      fc.pre(level > 0 && room >= emissionIntervalTicks && level <= room);
      const spent = level + gcra.remainingTokens(level, emissionIntervalTicks, room) * emissionIntervalTicks;
      const fitsAfter = (wait: number): boolean => gcra.fits(Math.max(0, spent - wait), emissionIntervalTicks, room);
      const wait = gcra.waitForNextToken(level, emissionIntervalTicks, room);
      expect(fitsAfter(wait)).toBe(true);
      expect(fitsAfter(wait - 1)).toBe(false);
    }),
  );
});

test('a share is to the nearest tick, as far as doubles allow, and never a token less than is written', () => {
  fc.assert(
    fc.property(cases, fc.integer({ min: 1, max: 1000 }), ({ rate }, perMille) => {
      const ticks = BigInt(gcra.shareOf(rate.toleranceTicks, perMille / 1000));
      const thousandTimes = BigInt(rate.toleranceTicks) * BigInt(perMille);
      const difference = ticks * 1000n - thousandTimes;
      // Half a tick, and the rounding of the share and of the product to doubles.
      const most = BigInt(Math.min(1000, 500 + Math.ceil(1000 * (rate.toleranceTicks / 2 ** 52))));
      expect(difference).toBeGreaterThanOrEqual(-most);
      expect(difference).toBeLessThanOrEqual(most);
      const tokens = (BigInt(rate.burst) * BigInt(perMille)) / 1000n;
      expect(BigInt(gcra.remainingTokens(0, rate.emissionIntervalTicks, Number(ticks)))).toBeGreaterThanOrEqual(tokens);
      expect(gcra.shareOf(rate.toleranceTicks, 1)).toBe(rate.toleranceTicks);
    }),
  );
});

test('a full bucket need not wait for a token', () => {
  fc.assert(
    fc.property(cases, ({ rate }) => {
      expect(gcra.waitForNextToken(0, rate.emissionIntervalTicks, rate.toleranceTicks)).toBe(0);
    }),
  );
});

test('the refund of a decision is never more than it took, nor than what of it lies ahead', () => {
  fc.assert(
    fc.property(cases, ({ rate, now, ahead, cost }) => {
      const increment = cost * rate.emissionIntervalTicks;
      const given = gcra.refundable(increment, now + ahead, now);
      expect(given).toBe(Math.max(0, Math.min(increment, ahead)));
    }),
  );
});
