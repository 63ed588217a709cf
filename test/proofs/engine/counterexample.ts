import { isCondition, sumsIn, type Truth } from './condition.ts';
import type { Path } from './path.ts';
import { play, PlainScenario, type Given, type Played } from './plain-scenario.ts';
import { keyOf } from './sum.ts';
import { numeral, symbol } from './smt.ts';
import type { Refuted, Theorem } from './theorem.ts';
import type { Unknown } from './unknown.ts';

/** What is said of numbers for which a claim is false: from the replay on plain doubles. */
export type Counterexample = Extract<Played, { result: 'false' }>;

/** How far the numbers may be from their least ones, for a first and readable example. */
const DISTANCES = [3n, 20n, 1000n, 1n << 24n, undefined];
const RESOURCES = 3_000_000;
const RANDOM_TRIES = 20_000;

/**
 * Looks for numbers for which a claim is false also on plain doubles, and makes them small. The solver knows little of
 * products, so its numbers may be wrong; then numbers are tried at random.
 */
export function counterexampleOf(
  theorem: Theorem,
  path: Path,
  choices: ReadonlyMap<string, number>,
  refuted: Refuted | undefined,
): Counterexample | undefined {
  const opposite = refuted?.opposite ?? true;
  for (const numbers of numbersOn(path, opposite)) {
    const given = { numbers, choices };
    if (play(theorem, PlainScenario.of(given)).result === 'false') return shrunk(theorem, given);
  }
  const found = randomPlays(theorem, RANDOM_TRIES, { choices, fixed: true }).next().value;
  return found && shrunk(theorem, found);
}

/** Numbers by the solver for which all is true on a path, and a condition with it: small ones first. */
export function* numbersOn(path: Path, opposite: Truth): Generator<ReadonlyMap<string, number>> {
  const { inputs } = path;
  const names = inputs.map(({ name }) => name);
  const conditions = [...path.definitions, ...path.conditions, ...(isCondition(opposite) ? [opposite] : [])];
  const products = productsOf(
    conditions.flatMap(sumsIn).flatMap((sum) => [...sum.terms.values()].map((t) => t.factors)),
  );
  for (const distance of DISTANCES) {
    const { verdict, values } = path.solve(opposite, names, products + near(inputs, distance), RESOURCES);
    if (verdict === 'sat') yield new Map(names.map((name, i) => [name, Number(values[i]!)]));
  }
  const { verdict, values } = path.solve(opposite, names);
  if (verdict === 'sat') yield new Map(names.map((name, i) => [name, Number(values[i]!)]));
}

/** What the products are, which the solver otherwise sees as unknowns. */
function productsOf(all: readonly (readonly Unknown[])[]): string {
  const texts = all
    .filter((factors) => factors.length > 1)
    .map(
      (factors) => `(assert (= ${symbol(keyOf(factors))} (* ${factors.map(({ name }) => symbol(name)).join(' ')})))`,
    );
  return [...new Set(texts)].join('\n');
}

function near(inputs: readonly Unknown[], distance: bigint | undefined): string {
  if (distance === undefined) return '';
  return inputs
    .map(({ name, min = 0n }) => {
      const least = min < -(1n << 40n) ? 0n : min;
      return `(assert (<= ${numeral(least - distance)} ${symbol(name)} ${numeral(least + distance)}))`;
    })
    .join('\n');
}

/** Makes each number as small as it can be, one after the other. */
function shrunk(theorem: Theorem, given: Given): Counterexample {
  let best = PlainScenario.of(given);
  let played = play(theorem, best) as Counterexample;
  for (let round = 0; round < 3; round++) {
    for (const [name, { min, isWhole }] of best.bounds) {
      const aim = min < 0 ? 0 : min;
      for (let step = 1; step <= 64; step++) {
        const value = best.numbers.get(name)!;
        const part = step === 1 ? aim : aim + (value - aim) / 2;
        const smaller = isWhole ? Math.trunc(part) : part;
        if (smaller === value) break;
        const tried = PlainScenario.of({ numbers: new Map(best.numbers).set(name, smaller), choices: given.choices });
        const result = play(theorem, tried);
        if (result.result === 'false') [best, played] = [tried, result];
        else if (step > 1) break;
      }
    }
  }
  return played;
}

/** How the choices of numbers at random are made: as they are given, or at random too. */
interface ChoicesAtRandom {
  readonly choices: ReadonlyMap<string, number>;
  readonly fixed: boolean;
}

/** Numbers for which a theorem is false, tried at random, mostly at the ends of their ranges. */
export function* randomPlays(theorem: Theorem, tries: number, choices: ChoicesAtRandom): Generator<Given, undefined> {
  for (const { result, given } of randomResults(theorem, tries, choices)) if (result === 'false') yield given;
  return undefined;
}

/** Numbers at random, and what comes of a theorem with them. */
export function* randomResults(
  theorem: Theorem,
  tries: number,
  { choices, fixed }: ChoicesAtRandom,
): Generator<{ readonly result: Played['result']; readonly given: Given }> {
  let state = 1;
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  for (let i = 0; i < tries; i++) {
    const scenario = new PlainScenario(
      (_, { min, max }, isWhole) => {
        const value = picked(min, max, random);
        return isWhole ? Math.round(value) : value;
      },
      (name, count) => (fixed ? (choices.get(name) ?? 0) : Math.floor(random() * count)),
    );
    const { result } = play(theorem, scenario);
    yield { result, given: { numbers: scenario.numbers, choices: scenario.choices } };
  }
}

function picked(min: number, max: number, random: () => number): number {
  const kind = random();
  if (kind < 0.05) return min;
  if (kind < 0.1) return max;
  const span = max - min;
  const offset = kind < 0.5 ? Math.min(span, Math.floor(random() * 12)) : span ** random();
  return kind < 0.95 || min >= 0 ? Math.min(max, (min < 0 ? 0 : min) + offset) : Math.max(min, -offset);
}
