import type { Truth } from './condition.ts';

/** The range of an unknown number. */
export interface Bounds {
  readonly min: number;
  readonly max: number;
}

/**
 * What a theorem runs with: unknowns, or plain numbers in their place when a counterexample is replayed. To the compiler
 * unknowns are numbers and conditions are booleans, because the source is rewritten for them.
 */
export interface Scenario {
  /** A whole number. */
  int(name: string, bounds: Bounds): number;
  /** Any number, of which all rounding is left out. */
  real(name: string, bounds: Bounds): number;
  /** One of a few values, each of which is tried. */
  choice<T>(name: string, values: readonly T[]): T;
  /** Leaves out everything for which a condition is false. */
  assume(condition: boolean): void;
  /** Claims something of all values. */
  claim(words: string, condition: boolean): void;
  /** Tells a value in the story of a counterexample. */
  tell(words: string, value: unknown): void;
  /** Tells the solver that x × y ≥ 0 if x and y are at least 0, and the like: true of all numbers, but not found alone. */
  product(x: number, y: number): void;
}

/** A guarantee, as it is proved. */
export interface Theorem {
  /** As docs/proofs.md and docs/guarantees.md name it. */
  readonly name: string;
  /** What is promised, for a reader who knows no solver. */
  readonly words: string;
  readonly formula?: string;
  /** For promises about any number of steps: what each step keeps, so that it is true after all of them. */
  readonly invariant?: string;
  /** The files that are executed, from the root. */
  readonly sources: readonly string[];
  readonly assumes?: readonly string[];
  /** Whether it executes no code, but only joins other theorems: then its numbers are not doubles, and not rounded. */
  readonly isArithmetic?: true;
  readonly run: (scenario: Scenario) => void;
}

/** Theorems about one subject. */
export interface Part {
  readonly title: string;
  readonly about: string;
  readonly theorems: readonly Theorem[];
}

/** The outcome of a theorem on the way to its proof. */
export class Refuted extends Error {
  readonly claim: string;
  /** What must be true for a counterexample. */
  readonly opposite: Truth;
  readonly verdict: 'sat' | 'unknown';

  constructor(claim: string, opposite: Truth, verdict: 'sat' | 'unknown') {
    super(claim);
    this.claim = claim;
    this.opposite = opposite;
    this.verdict = verdict;
  }
}
