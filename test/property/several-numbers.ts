// What one bucket lets through while several sets of numbers are in use on it: two versions in a roll-out, a plan that a
// token names, an override that some processes do not know yet.
import fc from 'fast-check';
import { quickNumbers } from './limit-arbitraries.ts';
import { roundedRule, type Numbers } from './oracle.ts';

/** Tokens that a bucket gave at one instant. */
export interface Taken {
  readonly atTicks: bigint;
  readonly tokens: number;
}

/** By how many ticks of the fastest rate the tokens of some window exceed the promise; 0 when none does. */
export function worstExcess(taken: readonly Taken[], all: readonly Numbers[]): bigint {
  const rules = all.map(roundedRule);
  const fastest = rules.map(({ interval }) => interval).reduce((a, b) => (a < b ? a : b));
  const isOneRate = rules.every(({ interval }) => interval === fastest);
  const bursts = rules.map(({ burst }) => burst);
  const most = bursts.reduce((a, b) => (isOneRate ? (a > b ? a : b) : a + b));
  return worst(taken, (tokens, ticks) => (tokens - most) * fastest - ticks);
}

/**
 * By how many ticks of the new rate the tokens of some window exceed the promise while a raise reaches one process after
 * the other: both bursts + the new rate × time, and the old burst once more for each process that has learned of the
 * raise. 0 when none does.
 */
export function worstExcessOfRaise(
  taken: readonly Taken[],
  { old, current, learned }: { old: Numbers; current: Numbers; learned: number },
): bigint {
  const [before, after] = [roundedRule(old), roundedRule(current)];
  const most = before.burst + after.burst + BigInt(learned) * before.burst;
  return worst(taken, (tokens, ticks) => (tokens - most) * after.interval - ticks);
}

function worst(taken: readonly Taken[], excessOf: (tokens: bigint, ticks: bigint) => bigint): bigint {
  let highest = 0n;
  for (let from = 0; from < taken.length; from++) {
    let tokens = 0n;
    for (let to = from; to < taken.length; to++) {
      tokens += BigInt(taken[to]!.tokens);
      const excess = excessOf(tokens, taken[to]!.atTicks - taken[from]!.atTicks);
      if (excess > highest) highest = excess;
    }
  }
  return highest;
}

const fewTokens = fc.integer({ min: 1, max: 50 });
/** Sets of numbers with one rate and several bursts, and sets that differ in both. */
const oneRate = quickNumbers.chain((numbers) =>
  fc.array(fewTokens, { minLength: 2, maxLength: 4 }).map((bursts) => bursts.map((burst) => ({ ...numbers, burst }))),
);
const severalRates = fc
  .array(fc.tuple(quickNumbers, fewTokens), { minLength: 2, maxLength: 4 })
  .map((sets) => sets.map(([numbers, burst]) => ({ ...numbers, burst })));
export const sets: fc.Arbitrary<Numbers[]> = fc
  .oneof(oneRate, severalRates)
  .filter((all) => all.every(fillsWithinAYear));

function fillsWithinAYear(numbers: Numbers): boolean {
  return roundedRule(numbers).tolerance < 365n * 86_400n * 16_000_000n;
}

const step = fc.record({
  numbers: fc.nat(3),
  share: fc.double({ min: 0, max: 1, noNaN: true }),
  // How long to wait before, as a share of the T of these numbers; most come in heaps.
  pause: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.double({ min: 0, max: 3, noNaN: true })),
});
export const steps = fc.array(step, { minLength: 1, maxLength: 40 });
