import type { Truth } from './condition.ts';
import { isCondition } from './condition.ts';
import { numbersOn, randomResults } from './counterexample.ts';
import type { Path } from './path.ts';
import { play, PlainScenario, type Given } from './plain-scenario.ts';
import { sabotaged, sitesOf, type Site } from './sabotage.ts';
import type { Theorem } from './theorem.ts';

/** After how many examples numbers at random are tried with broken sources, and how many. */
const FIRST_EXAMPLES = 6;
const RANDOM_TRIES = 300;
/** In how many of them the same place is broken at first. */
const MOST_TIMES = 8;

/** The values of choices, in their order. */
type Choices = ReadonlyMap<string, number>;

/** Choices, and the same in words. */
interface Tried {
  readonly choices: Choices;
  readonly told: readonly string[];
}

/** An example, and the claims that are made in it. */
interface Made {
  readonly given: Given;
  readonly claims: ReadonlySet<string>;
}

/**
 * What shows that a theorem says something. A theorem that assumes what can't be is true of everything, and so is a claim
 * that only repeats what its branch has asked. So there have to be
 *
 * - for each combination of choices that the theorem tries, an example: plain numbers for which all that it assumes is true
 * - for each claim, an example in which it is made; and for each of its implications, one in which the condition is true
 * - for each claim about sources, an operator of theirs that makes it false in an example when it is broken
 */
export class Evidence {
  readonly #theorem: Theorem;
  /** The combinations of choices that were tried, and those that have an example. */
  readonly #tried = new Map<string, string>();
  readonly #shown = new Set<string>();
  /** The claims and the conditions of their implications, and those that an example has. */
  readonly #claimed = new Set<string>();
  readonly #met = new Set<string>();
  /** The claims that no broken operator has made false; in a theorem without sources, those that were true at once. */
  readonly #unbroken = new Set<string>();
  readonly #examples: Made[] = [];
  /** How many times each place was broken. */
  readonly #broken = new Map<Site, number>();

  constructor(theorem: Theorem) {
    this.#theorem = theorem;
  }

  /** Notes a claim on a path, and looks for an example in which the conditions of its implications are true. */
  claimed(words: string, suppositions: readonly Truth[], truth: Truth, on: { path: Path; choices: Choices }): void {
    if (!this.#claimed.has(words)) this.#unbroken.add(words);
    this.#claimed.add(words);
    if (this.#theorem.isArithmetic === true && truth !== true) this.#unbroken.delete(words);
    for (const [i, supposition] of suppositions.entries()) {
      const name = nameOf(words, i);
      this.#claimed.add(name);
      if (!this.#met.has(name) && isCondition(supposition)) this.#search(on.path, on.choices, supposition);
    }
  }

  /** Notes a path, and looks for an example of it if it has something new. */
  ended(path: Path, { choices, told }: Tried, isPossible: boolean): void {
    const key = keyOf(choices);
    this.#tried.set(key, told.join(', '));
    if (isPossible && (!this.#shown.has(key) || this.#lacking.length > 0 || this.#unbroken.size > 0))
      this.#search(path, choices, true);
  }

  /** Why the theorem is empty; undefined if it is not. */
  problem(): string | undefined {
    for (const [key, told] of this.#tried) {
      if (![...this.#shown].some((shown) => shown.startsWith(key)))
        return `nothing is possible with these choices: ${told}`;
    }
    const [lacking] = this.#lacking;
    if (lacking !== undefined) return `no example has ${lacking}`;
    if (this.#examples.length < FIRST_EXAMPLES) this.#breakAtRandom();
    const examples = this.#examples.map((made) => ({ ...made, isUseful: this.#makesUnbroken(made) }));
    // A broken source can make a claim that the example does not make: the last hope.
    for (const { given } of examples.filter(({ isUseful }) => isUseful)) this.#break(given, Infinity);
    for (const { given } of examples.filter(({ isUseful }) => !isUseful)) this.#break(given, Infinity);
    const [unbroken] = this.#unbroken;
    return unbroken === undefined ? undefined : `true whatever the sources do: ${unbroken}`;
  }

  get #lacking(): readonly string[] {
    return [...this.#claimed].filter((name) => !this.#met.has(name));
  }

  #search(path: Path, choices: Choices, also: Truth): void {
    if (also !== true && path.solve(also).verdict === 'unsat') return;
    for (const numbers of numbersOn(path, also)) if (this.#show({ numbers, choices })) return;
  }

  #show(given: Given): boolean {
    const example = Example.of(given) as Example;
    if (play(this.#theorem, example).result !== 'true') return false;
    for (const name of example.met) this.#met.add(name);
    this.#shown.add(keyOf(example.choices));
    const made = { given, claims: example.met };
    this.#examples.push(made);
    if (this.#makesUnbroken(made)) this.#break(given, MOST_TIMES);
    if (this.#examples.length === FIRST_EXAMPLES) this.#breakAtRandom();
    return true;
  }

  #makesUnbroken({ claims }: Made): boolean {
    return [...this.#unbroken].some((words) => claims.has(words));
  }

  /** What is left out with sources that work may not be left out with broken ones. */
  #breakAtRandom(): void {
    if (this.#theorem.isArithmetic === true) return;
    for (const { given } of randomResults(this.#theorem, RANDOM_TRIES, { choices: new Map(), fixed: false })) {
      if (this.#unbroken.size === 0) return;
      this.#break(given, 2 * MOST_TIMES);
    }
  }

  #isToBreak(site: Site, mostTimes: number): boolean {
    const isOfSources = typeof site !== 'string' || this.#theorem.sources.some((path) => site.includes(`/${path}:`));
    const times = this.#broken.get(site) ?? 0;
    if (!isOfSources || times >= mostTimes) return false;
    this.#broken.set(site, times + 1);
    return true;
  }

  /** Breaks the operators that an example executes, until each claim was false once. */
  #break(given: Given, mostTimes: number): void {
    if (this.#unbroken.size === 0) return;
    let before = 0;
    const executed = sitesOf((count) => {
      const example = Example.of(given) as Example;
      example.onClaim = (words) => void (this.#unbroken.has(words) && (before = count()));
      play(this.#theorem, example);
    });
    // What is executed after a claim does not make it false. If the example makes none of these claims, it may when it is broken.
    const sites = executed.slice(0, before || undefined).filter(({ site }) => this.#isToBreak(site, mostTimes));
    sabotaged(sites, () => {
      const example = Example.of(given) as Example;
      play(this.#theorem, example);
      for (const words of example.wrong) this.#unbroken.delete(words);
      return this.#unbroken.size === 0;
    });
  }
}

/** A scenario that goes on after a false claim. */
class Example extends PlainScenario {
  readonly met = new Set<string>();
  readonly wrong = new Set<string>();
  onClaim: (words: string) => void = () => undefined;

  protected override claimed(words: string, condition: boolean, suppositions: readonly Truth[]): void {
    this.onClaim(words);
    if (!condition) this.wrong.add(words);
    this.met.add(words);
    for (const [i, supposition] of suppositions.entries()) if (supposition === true) this.met.add(nameOf(words, i));
  }
}

const CONDITION = 'the condition ';

function nameOf(words: string, place: number): string {
  return `${CONDITION}${place + 1} of: ${words}`;
}

function keyOf(choices: Choices): string {
  return [...choices].map(([name, value]) => `${name}=${value};`).join('');
}
