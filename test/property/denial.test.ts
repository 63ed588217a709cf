import { createLimiter, memoryStore, type SpendEntry } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyNumbers, limitOf, quickNumbers } from './limit-arbitraries.ts';
import { roundedRule, type Numbers } from './oracle.ts';

const share = fc.double({ min: 0, max: 1, noNaN: true });
const notAll = fc.double({ min: 0, max: 0.99, noNaN: true });
const IDS = ['1', '2', '3'] as const;
const entry = fc.record({
  id: fc.constantFrom(...IDS),
  share,
  mode: fc.constantFrom('check-and-spend' as const, 'check-only' as const, 'spend-only' as const),
});
const batch = fc.uniqueArray(entry, { minLength: 1, maxLength: 3, selector: ({ id }) => id });

function started(numbers: Numbers) {
  const time = new FakeTime();
  const limiter = createLimiter({ limits: { Only: limitOf(numbers) }, store: memoryStore({ time }), log: false });
  const look = () => limiter.checkSync(IDS.map((id) => ({ limit: 'Only', id, cost: 0 }))).results;
  return { time, limiter, look };
}

const chargesOf = (parts: readonly { id: string; share: number }[], { burst }: Numbers) =>
  parts.map(({ id, share: part }) => ({ limit: 'Only' as const, id, cost: Math.floor(part * burst) }));

const entriesOf = (parts: readonly { id: string; share: number; mode?: SpendEntry['mode'] }[], numbers: Numbers) =>
  chargesOf(parts, numbers).map((charge, i) => ({ ...charge, mode: parts[i]!.mode }));

test('a denial changes no bucket of the batch, spend-only included', () => {
  fc.assert(
    fc.property(anyNumbers, batch, batch, fc.nat(3), (numbers, before, others, knocks) => {
      const { limiter, look } = started(numbers);
      void limiter.charge(chargesOf(before, numbers));
      // One bucket of the batch is empty or nearly so: the cost of its whole burst does not fit.
      const [refused] = others;
      void limiter.charge([
        { limit: 'Only', id: refused!.id, cost: Math.max(1, numbers.burst - Math.floor(refused!.share * 2)) },
      ]);
      const was = look();
      const entries = entriesOf(others, numbers);
      entries[0] = { limit: 'Only', id: refused!.id, cost: numbers.burst, mode: 'check-and-spend' };
      for (let i = 0; i <= knocks; i++) expect(limiter.spendSync(entries).allowed).toBe(false);
      expect(look()).toEqual(was);
    }),
  );
});

test('what passes takes every cost of the batch that is not check-only, but for a spend-only that does not fit', () => {
  fc.assert(
    fc.property(anyNumbers, batch, batch, (numbers, before, asked) => {
      const { limiter, look } = started(numbers);
      void limiter.charge(chargesOf(before, numbers));
      const was = new Map(look().map(({ id, remaining }) => [id, remaining]));
      const entries = entriesOf(asked, numbers);
      const decision = limiter.spendSync(entries);
      fc.pre(decision.allowed);
      for (const { id, cost, mode } of entries) {
        const there = was.get(id)!;
        const taken = mode === 'check-only' || cost > there ? 0 : cost;
        was.set(id, there - taken);
      }
      expect(new Map(look().map(({ id, remaining }) => [id, remaining]))).toEqual(was);
    }),
  );
});

test('a change to a shorter tolerance cuts the debt once where the rate is raised, and leaves it where it is not', () => {
  fc.assert(
    fc.property(anyNumbers, anyNumbers, notAll, (high, low, part) => {
      const [before, after] = [roundedRule(high), roundedRule(low)];
      fc.pre(before.tolerance > after.tolerance);
      const { tolerance } = after.interval < before.interval ? after : before;
      const { time, limiter, look } = started(high);
      void limiter.charge([{ limit: 'Only', id: '1', cost: high.burst }]);
      limiter.replace({ limits: { Only: limitOf(low) } });
      const fillMs = Number((tolerance + 15n) / 16n) / 1000;
      for (const waitMs of [0, Math.floor(part * fillMs)]) {
        time.advance(waitMs);
        expect(limiter.spendSync([{ limit: 'Only', id: '1', cost: low.burst }]).allowed).toBe(false);
      }
      time.advance(Math.max(0, fillMs - time.nowMs));
      expect(look()[0]).toMatchObject({ id: '1', remaining: low.burst, resetAfterMs: 0 });
    }),
  );
});

test('keys never touch each other: each has the decisions that it would have alone', () => {
  const request = fc.record({ id: fc.constantFrom('1', '2', '01', '1 ', 'ä', 'a'), share, pause: share });
  fc.assert(
    fc.property(quickNumbers, fc.array(request, { maxLength: 25 }), (numbers, requests) => {
      const shared = started(numbers);
      const alone = new Map<string, ReturnType<typeof started>>();
      const fillMs = Number(roundedRule(numbers).tolerance) / 16_000;
      let nowMs = 0;
      for (const { id, pause, ...rest } of requests) {
        nowMs += Math.floor(pause ** 3 * fillMs);
        const own = alone.get(id) ?? started(numbers);
        alone.set(id, own);
        shared.time.set(nowMs);
        own.time.set(nowMs);
        const entries = entriesOf([{ id, ...rest }], numbers);
        expect(shared.limiter.spendSync(entries).results).toEqual(own.limiter.spendSync(entries).results);
      }
    }),
  );
});
