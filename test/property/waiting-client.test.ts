import fc from 'fast-check';
import { expect, test } from 'vitest';
import { promisedNumbers, quickNumbers } from './limit-arbitraries.ts';
import { OneBucket } from './one-bucket.ts';
import { exactRule, roundedRule, type Numbers } from './oracle.ts';

const share = fc.double({ min: 0, max: 1, noNaN: true });
const shares = fc.array(fc.record({ cost: share, pause: share }), { minLength: 1, maxLength: 30 });
const costOf = (part: number, { burst }: Numbers): number => Math.max(1, Math.floor(part * burst));
const fillMs = (numbers: Numbers): number => Number(roundedRule(numbers).tolerance) / 16_000;

test('the same cost passes after retryAfterMs, and not one microsecond sooner', () => {
  fc.assert(
    fc.property(quickNumbers, shares, share, (numbers, before, part) => {
      const bucket = new OneBucket(numbers);
      for (const { cost, pause } of before) {
        bucket.spend(costOf(cost, numbers));
        bucket.time.advance(pause * pause * fillMs(numbers));
      }
      const asked = costOf(part, numbers);
      if (bucket.spend(asked).allowed) bucket.charge(Math.max(0, numbers.burst - Math.floor(part * 3)));
      fc.pre(!bucket.spend(asked).allowed);
      bucket.time.advance(bucket.spend(asked).retryAfterMs - 0.001);
      expect(bucket.spend(asked)).toMatchObject({ allowed: false, retryAfterMs: 0.001 });
      bucket.time.advance(0.001);
      expect(bucket.spend(asked)).toMatchObject({ allowed: true, retryAfterMs: 0 });
    }),
  );
});

test('a bucket is full after resetAfterMs, and one microsecond sooner it is not', () => {
  fc.assert(
    fc.property(quickNumbers, shares, (numbers, before) => {
      const bucket = new OneBucket(numbers);
      for (const { cost, pause } of before) {
        bucket.time.advance(pause * pause * fillMs(numbers));
        bucket.spend(costOf(cost, numbers));
      }
      const { resetAfterMs } = bucket.look();
      bucket.time.advance(resetAfterMs - 0.001);
      expect(bucket.spend(numbers.burst, 'check-only').allowed).toBe(false);
      bucket.time.advance(0.001);
      expect(bucket.spend(numbers.burst).allowed).toBe(true);
    }),
  );
});

test('a client alone in its bucket that waits Retry-After in whole seconds is never denied the same cost', () => {
  fc.assert(
    fc.property(quickNumbers, share, fc.array(share, { minLength: 1, maxLength: 20 }), (numbers, part, lateness) => {
      const bucket = new OneBucket(numbers);
      const cost = costOf(part, numbers);
      for (const late of lateness) {
        const { allowed, retryAfterMs } = bucket.spend(cost);
        if (allowed) continue;
        bucket.time.advance(Math.max(1, Math.ceil(retryAfterMs / 1000)) * 1000 + late * 1000);
        expect(bucket.spend(cost).allowed).toBe(true);
      }
    }),
  );
});

test('a client alone in its bucket that sends at most q in any w seconds, as the policy reports, is never denied', () => {
  fc.assert(
    fc.property(quickNumbers, shares, (numbers, requests) => {
      const quota = numbers.burst;
      const windowMs = Math.max(1, Math.ceil(fillMs(numbers) / 1000)) * 1000;
      const bucket = new OneBucket(numbers);
      const sent: { atMs: number; cost: number }[] = [];
      for (const { cost: part, pause } of requests) {
        const cost = costOf(part, numbers);
        bucket.time.advance(pause ** 4 * windowMs);
        for (const earlier of sent) {
          const { nowMs } = bucket.time;
          if (used(nowMs) + cost <= quota) break;
          bucket.time.advance(Math.max(0, earlier.atMs + windowMs - nowMs));
        }
        sent.push({ atMs: bucket.time.nowMs, cost });
        expect(bucket.spend(cost).allowed).toBe(true);
      }

      function used(nowMs: number): number {
        return sent.filter(({ atMs }) => atMs > nowMs - windowMs).reduce((sum, { cost }) => sum + cost, 0);
      }
    }),
  );
});

test('a client that sends q at once every w seconds is never denied', () => {
  fc.assert(
    fc.property(quickNumbers, (numbers) => {
      const bucket = new OneBucket(numbers);
      for (let i = 0; i < 5; i++) {
        expect(bucket.spend(numbers.burst).allowed).toBe(true);
        bucket.time.advance(Math.max(1, Math.ceil(fillMs(numbers) / 1000)) * 1000);
      }
    }),
  );
});

// Parts per million of the rate: 0.01 % up to 1,000 per second, 0.1 % up to 10,000, 1 % up to 100,000.
function promisedError({ count, periodMicros }: Numbers): bigint {
  const perSecond = (count / periodMicros) * 1e6;
  return perSecond <= 1000 ? 100n : perSecond <= 10_000 ? 1000n : 10_000n;
}

test('the rate is never below what is written, and above it by no more than is promised', () => {
  fc.assert(
    fc.property(promisedNumbers, fc.integer({ min: 1, max: 1e9 }), (numbers, more) => {
      const bucket = new OneBucket(numbers);
      const exact = exactRule(numbers);
      bucket.charge(numbers.burst);
      // After the exact time of n tokens, rounded up to what a clock can read, n are there …
      const tokens = BigInt((more % numbers.burst) + 1);
      const micros = (tokens * exact.interval + exact.unitsPerMicro - 1n) / exact.unitsPerMicro;
      bucket.time.advance(Number(micros) / 1000);
      const { remaining } = bucket.look();
      expect(BigInt(remaining)).toBeGreaterThanOrEqual(tokens);
      // … and as many at the most as that time brings at a rate that much higher.
      const most =
        (micros * exact.unitsPerMicro * (1_000_000n + promisedError(numbers))) / (exact.interval * 1_000_000n);
      expect(BigInt(remaining)).toBeLessThanOrEqual(most);
    }),
  );
});

test('one token at a time, as much passes as by the exact rule, and no more than its rate and the promised error bring', () => {
  fc.assert(
    fc.property(promisedNumbers, fc.array(fc.record({ times: fc.nat(8), pause: share })), (numbers, visits) => {
      const exact = exactRule(numbers);
      const bucket = new OneBucket(numbers);
      bucket.charge(numbers.burst);
      let tat = exact.tolerance;
      let passed = 0n;
      let exactlyPassed = 0n;
      for (const { times, pause } of visits) {
        bucket.time.advance(pause * 4 * (fillMs(numbers) / numbers.burst));
        const now = BigInt(bucket.time.nowMicros()) * exact.unitsPerMicro;
        for (let i = 0; i < times; i++) {
          if (bucket.spend(1).allowed) passed++;
          const newTat = (tat > now ? tat : now) + exact.interval;
          if (newTat - now > exact.tolerance) continue;
          tat = newTat;
          exactlyPassed++;
        }
        expect(passed).toBeGreaterThanOrEqual(exactlyPassed);
        expect(passed * exact.interval * 1_000_000n).toBeLessThanOrEqual(now * (1_000_000n + promisedError(numbers)));
      }
    }),
  );
});
