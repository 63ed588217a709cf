// The rules on which the bound of leases rests, one by one: the scenes of leases.test.ts use them together, and would not
// notice each error in one of them.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BucketLeases } from '../../packages/redis/src/leases/rules/bucket-leases.ts';
import { Lease, Spent } from '../../packages/redis/src/leases/rules/lease.ts';
import { Uncharged } from '../../packages/redis/src/leases/rules/uncharged.ts';

const T = 1000;
const RUNS = 20_000;

/** What other processes do to a bucket: after some time, charge it by a lease, or give back what is left of one. */
const otherStep = fc.record({
  passTicks: fc.nat(4 * T),
  tokens: fc.nat(6),
  givesBack: fc.boolean(),
  which: fc.nat(5),
});

/** The TAT of a bucket as Redis has it. */
class Bucket {
  tatTicks: number;

  constructor(tatTicks: number) {
    this.tatTicks = tatTicks;
  }

  charge(ticks: number, nowTicks: number): void {
    if (ticks > 0) this.tatTicks = Math.max(this.tatTicks, nowTicks) + ticks;
  }

  giveBack(ticks: number, nowTicks: number): void {
    this.tatTicks = Math.max(this.tatTicks - ticks, Math.min(this.tatTicks, nowTicks));
  }

  levelTicks(nowTicks: number): number {
    return Math.max(0, this.tatTicks - nowTicks);
  }
}

test('what is left of a lease is given back as if the lease had been smaller, whatever others do meanwhile', () => {
  let returns = 0;
  const delays = fc.record({ there: fc.nat(T), lapsing: fc.nat(3 * T), sending: fc.nat(3 * T), arriving: fc.nat(T) });
  fc.assert(
    fc.property(
      fc.nat(10 * T),
      fc.integer({ min: 1, max: 12 }),
      fc.nat(12),
      fc.integer({ min: 1, max: 6 * T }),
      fc.array(otherStep, { maxLength: 8 }),
      delays,
      (startLevel, granted, spentAtMost, leaseTicks, others, { there, lapsing, sending, arriving }) => {
        const sentTicks = 100 * T;
        let now = sentTicks + there;
        const spent = Math.min(spentAtMost, granted);
        const bucket = new Bucket(sentTicks + startLevel);
        /** The same bucket, of which the process has leased only what it spends. */
        const smaller = new Bucket(sentTicks + startLevel);
        bucket.charge(granted * T, now);
        smaller.charge(spent * T, now);
        const leases = new BucketLeases();
        leases.add(new Lease(granted, T, { sentTicks, leaseTicks }));
        if (spent > 0) leases.spend(spent, new Spent());

        const steps = [...others];
        // The level at the start is a lease that another process has got just before.
        const leasesOfOthers = [{ ticks: startLevel, untilTicks: sentTicks + startLevel }];
        /** Lets the others do what they do up to a moment. */
        const othersUntil = (ticks: number): void => {
          while (steps.length > 0 && now + steps[0]!.passTicks <= ticks) {
            const { passTicks, tokens, givesBack, which } = steps.shift()!;
            now += passTicks;
            const lease = leasesOfOthers[which];
            if (givesBack && lease !== undefined) {
              const returned = Math.max(0, Math.min(lease.ticks, lease.untilTicks - now));
              for (const each of [bucket, smaller]) each.giveBack(returned, now);
              lease.ticks = 0;
            } else {
              for (const each of [bucket, smaller]) each.charge(tokens * T, now);
              leasesOfOthers.push({ ticks: tokens * T, untilTicks: now + tokens * T });
            }
          }
          now = Math.max(now, ticks);
        };

        othersUntil(sentTicks + leaseTicks + lapsing);
        leases.dropLapsed(now);
        othersUntil(now + sending);
        const returned = leases.takeReturn(now + T);
        othersUntil(now + arriving);
        bucket.giveBack(returned, now);
        if (returned > 0) returns++;
        const isWhole = returned === (granted - spent) * T;
        const moreTicks = bucket.levelTicks(now) - smaller.levelTicks(now);
        expect(moreTicks).toBeGreaterThanOrEqual(0);
        expect(isWhole && moreTicks > 0).toBe(false);
      },
    ),
    { numRuns: RUNS },
  );
  expect(returns).toBeGreaterThan(RUNS / 20);
});

test('a late report of what was let through changes the TAT as each decision would have', () => {
  const step = fc.record({ passTicks: fc.nat(3 * T), tokens: fc.integer({ min: 1, max: 5 }) });
  fc.assert(
    fc.property(fc.nat(10 * T), fc.array(step, { minLength: 1, maxLength: 10 }), (startLevel, steps) => {
      let now = 100 * T;
      const bucket = new Bucket(now + startLevel);
      const { tatTicks } = bucket;
      const uncharged = new Uncharged();
      for (const { passTicks, tokens } of steps) {
        now += passTicks;
        bucket.charge(tokens * T, now);
        uncharged.add(tokens * T, now);
      }
      expect(Math.max(tatTicks + uncharged.chargeTicks, uncharged.ownTatTicks)).toBe(bucket.tatTicks);
    }),
    { numRuns: RUNS },
  );
});

test('two leases that lapse together are given back as if both had been smaller', () => {
  const lease = fc.record({ afterTicks: fc.nat(6 * T), granted: fc.integer({ min: 1, max: 12 }), spent: fc.nat(12) });
  let returns = 0;
  fc.assert(
    fc.property(fc.nat(10 * T), lease, lease, fc.nat(20 * T), (startLevel, first, second, lapsing) => {
      let now = 100 * T;
      const bucket = new Bucket(now + startLevel);
      const smaller = new Bucket(now + startLevel);
      const leases = new BucketLeases();
      for (const { afterTicks, granted, spent } of [first, second]) {
        now += afterTicks;
        bucket.charge(granted * T, now);
        smaller.charge(Math.min(spent, granted) * T, now);
        const added = new Lease(granted, T, { sentTicks: now, leaseTicks: 0 });
        added.tokens = granted - Math.min(spent, granted);
        leases.add(added);
      }
      now += lapsing;
      leases.dropLapsed(now);
      const returned = leases.takeReturn(now);
      if (returned > 0) returns++;
      bucket.giveBack(returned, now);
      // What has refilled is not given back.
      expect(bucket.levelTicks(now)).toBeGreaterThanOrEqual(smaller.levelTicks(now));
    }),
    { numRuns: RUNS },
  );
  expect(returns).toBeGreaterThan(RUNS / 10);
});
