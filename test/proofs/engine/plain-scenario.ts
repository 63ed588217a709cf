import type { Truth } from './condition.ts';
import { takeSuppositions } from './logic.ts';
import type { Bounds, Scenario, Theorem } from './theorem.ts';

/** Plain numbers for the unknowns of a theorem, and the places of its choices. */
export interface Given {
  readonly numbers: ReadonlyMap<string, number>;
  readonly choices: ReadonlyMap<string, number>;
}

/** The outcome of a theorem with plain numbers. `left out`: an assumption is false. */
export type Played =
  | { readonly result: 'true' | 'left out' }
  | { readonly result: 'false'; readonly claim: string; readonly story: readonly string[] };

class LeftOut extends Error {}
class False extends Error {}

/** Runs a theorem on plain doubles, in the same code. */
export function play(theorem: Theorem, scenario: PlainScenario): Played {
  takeSuppositions();
  const { stackTraceLimit } = Error;
  // Most are played with broken sources, and nobody reads where those fail.
  Error.stackTraceLimit = 0;
  try {
    theorem.run(scenario);
    return { result: 'true' };
  } catch (error) {
    if (error instanceof LeftOut) return { result: 'left out' };
    const { story } = scenario;
    if (error instanceof False) return { result: 'false', claim: error.message, story };
    return { result: 'false', claim: `the code ends without an error, but: ${(error as Error).message}`, story };
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Plain numbers, told as a story. */
export class PlainScenario implements Scenario {
  readonly bounds = new Map<string, Bounds & { readonly isWhole: boolean }>();
  readonly numbers = new Map<string, number>();
  readonly choices = new Map<string, number>();
  readonly #told: [words: string, value: unknown][] = [];
  readonly #number: (name: string, bounds: Bounds, isWhole: boolean) => number;
  readonly #choice: (name: string, count: number) => number;

  constructor(
    number: (name: string, bounds: Bounds, isWhole: boolean) => number,
    choice: (name: string, count: number) => number,
  ) {
    this.#number = number;
    this.#choice = choice;
  }

  static of({ numbers, choices }: Given): PlainScenario {
    return new this(
      (name, { min, max }) => Math.min(max, Math.max(min, numbers.get(name) ?? min)),
      (name) => choices.get(name) ?? 0,
    );
  }

  int(name: string, bounds: Bounds): number {
    return this.#give(name, bounds, true);
  }

  real(name: string, bounds: Bounds): number {
    return this.#give(name, bounds, false);
  }

  choice<T>(name: string, values: readonly T[]): T {
    const chosen = this.#choice(name, values.length);
    this.choices.set(name, chosen);
    const value = values[chosen]!;
    this.tell(name, typeof value === 'object' ? JSON.stringify(value) : value);
    return value;
  }

  assume(condition: boolean): void {
    if (!condition) throw new LeftOut('An assumption is false');
  }

  claim(words: string, condition: boolean): void {
    this.claimed(words, condition, takeSuppositions());
  }

  protected claimed(words: string, condition: boolean, _suppositions: readonly Truth[]): void {
    if (!condition) throw new False(words);
  }

  tell(words: string, value: unknown): void {
    this.#told.push([words, value]);
  }

  get story(): readonly string[] {
    return this.#told.map(([words, value]) => `${words}: ${String(value)}`);
  }

  product(): void {}

  #give(name: string, bounds: Bounds, isWhole: boolean): number {
    const value = this.#number(name, bounds, isWhole);
    this.bounds.set(name, { ...bounds, isWhole });
    this.numbers.set(name, value);
    this.tell(name, value);
    return value;
  }
}
