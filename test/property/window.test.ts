import type { Decision } from '@sluice/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { coreOf } from '../../packages/core/src/limiter/create-limiter.ts';
import { quickNumbers } from './limit-arbitraries.ts';
import { OneBucket } from './one-bucket.ts';
import { roundedRule, type Numbers } from './oracle.ts';

// How long to wait before each request, as a share of T; most come in heaps.
const pause = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.double({ min: 0, max: 3, noNaN: true }));
const cost = fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1, noNaN: true }));
const requests = fc.array(fc.record({ pause, cost, refunds: fc.boolean(), back: fc.nat(4) }), { maxLength: 30 });

interface Taken {
  readonly atTicks: bigint;
  readonly tokens: number;
  refunded: boolean;
  readonly decision: Decision;
}

const costOf = (share: number, { burst }: Numbers): number => Math.max(1, Math.floor(share * burst));
const intervalMs = (numbers: Numbers): number => Number(roundedRule(numbers).interval) / 16_000;
const ticksNow = ({ time }: OneBucket): bigint => BigInt(time.nowMicros()) * 16n;

/** By how much the tokens of some window exceed burst + W/T, in ticks: 0 when tokens × T ≤ τ + W in each. */
function worstExcess(taken: readonly { atTicks: bigint; tokens: number }[], numbers: Numbers): bigint {
  const { interval, tolerance } = roundedRule(numbers);
  let worst = 0n;
  for (let from = 0; from < taken.length; from++) {
    let tokens = 0;
    for (let to = from; to < taken.length; to++) {
      tokens += taken[to]!.tokens;
      const excess = BigInt(tokens) * interval - tolerance - (taken[to]!.atTicks - taken[from]!.atTicks);
      if (excess > worst) worst = excess;
    }
  }
  return worst;
}

test('at most burst + W/T tokens pass in any window of length W', () => {
  fc.assert(
    fc.property(quickNumbers, requests, (numbers, all) => {
      const bucket = new OneBucket(numbers);
      const taken: { atTicks: bigint; tokens: number }[] = [];
      for (const request of all) {
        bucket.time.advance(request.pause * intervalMs(numbers));
        const tokens = costOf(request.cost, numbers);
        if (bucket.spend(tokens).allowed) taken.push({ atTicks: ticksNow(bucket), tokens });
      }
      expect(worstExcess(taken, numbers)).toBe(0n);
    }),
  );
});

test('it does so as well when decisions are refunded: what was not refunded keeps to the bound, the last spent given back first', () => {
  fc.assert(
    fc.property(quickNumbers, requests, (numbers, all) => {
      const bucket = new OneBucket(numbers);
      const taken: Taken[] = [];
      for (const request of all) {
        bucket.time.advance(request.pause * intervalMs(numbers));
        const tokens = costOf(request.cost, numbers);
        const decision = bucket.spend(tokens);
        if (decision.allowed) taken.push({ atTicks: ticksNow(bucket), tokens, refunded: false, decision });
        if (request.refunds) refundFrom(bucket, taken, request.back);
      }
      expect(
        worstExcess(
          taken.filter(({ refunded }) => !refunded),
          numbers,
        ),
      ).toBe(0n);
    }),
  );

  // Gives back the decisions from one of the last on, in the opposite order in which they were made.
  function refundFrom(bucket: OneBucket, taken: Taken[], back: number): void {
    for (const each of taken.slice(-1 - back).toReversed()) {
      if (each.refunded) continue;
      bucket.refund(each.decision);
      each.refunded = true;
    }
  }
});

test('refunded in any order, tokens taken less tokens given back keep to the bound in every window', () => {
  fc.assert(
    fc.property(quickNumbers, requests, (numbers, all) => {
      const bucket = new OneBucket(numbers);
      const moved: { atTicks: bigint; tokens: number }[] = [];
      const open: { decision: Decision; tokens: number }[] = [];
      for (const request of all) {
        bucket.time.advance(request.pause * intervalMs(numbers));
        const tokens = costOf(request.cost, numbers);
        const decision = bucket.spend(tokens);
        if (decision.allowed) open.push({ decision, tokens });
        if (decision.allowed) moved.push({ atTicks: ticksNow(bucket), tokens });
        const [refund] = request.refunds ? open.splice(request.back % open.length, 1) : [];
        if (refund === undefined) continue;
        bucket.refund(refund.decision);
        moved.push({ atTicks: ticksNow(bucket), tokens: -refund.tokens });
      }
      expect(worstExcess(moved, numbers)).toBe(0n);
    }),
  );
});

test('given back in two parts, a decision gives no more than it would have at once', async () => {
  const other = fc.record({ pause, cost });
  const others = fc.array(other, { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(
      quickNumbers,
      others,
      other,
      fc.nat(),
      others,
      others,
      async (numbers, before, one, part, between, after) => {
        const [whole, parts] = [new OneBucket(numbers), new OneBucket(numbers)];
        const pass = (ms: number): void => [whole, parts].forEach(({ time }) => time.advance(ms));
        // What fits into the fuller bucket fits into the other as well.
        const spend = (request: { pause: number; cost: number }): (Decision | undefined)[] => {
          pass(request.pause * intervalMs(numbers));
          const tokens = costOf(request.cost, numbers);
          const decision = parts.spend(tokens);
          if (!decision.allowed) return [];
          const same = whole.spend(tokens);
          expect(same.allowed).toBe(true);
          return [same, decision];
        };
        before.forEach(spend);
        const [atOnce, inParts] = spend(one);
        fc.pre(atOnce !== undefined && inParts !== undefined);
        between.slice(2).forEach(spend);
        whole.refund(atOnce);
        const result = inParts.results[0]!;
        await coreOf(parts.limiter).settleResult(inParts, result, { cost: part % (result.spent + 1) });
        between.slice(0, 2).forEach(spend);
        parts.refund(inParts);
        expect(parts.look().remaining).toBeLessThanOrEqual(whole.look().remaining);
        after.forEach(spend);
        expect(parts.look().remaining).toBeLessThanOrEqual(whole.look().remaining);
      },
    ),
  );
});

test('a clock that steps back grants nothing: no more passes than the burst and what the time that went forward brings', () => {
  const jump = fc.record({ pause: fc.double({ min: -5, max: 3, noNaN: true }), cost });
  fc.assert(
    fc.property(quickNumbers, fc.array(jump, { maxLength: 30 }), (numbers, jumps) => {
      const { interval, tolerance } = roundedRule(numbers);
      const bucket = new OneBucket(numbers);
      let forward = 0n;
      let tokens = 0;
      let gained = 0;
      for (const request of jumps) {
        const before = bucket.look();
        const ticks = ticksNow(bucket);
        bucket.time.set(bucket.time.nowMs + request.pause * intervalMs(numbers));
        const passed = ticksNow(bucket) - ticks;
        if (passed > 0n) forward += passed;
        else gained = Math.max(gained, bucket.look().remaining - before.remaining);
        tokens += bucket.spend(costOf(request.cost, numbers)).results[0]!.spent;
        expect(BigInt(tokens) * interval <= tolerance + forward).toBe(true);
      }
      expect(gained).toBe(0);
    }),
  );
});
