import type { Spellings } from '../spellings/spellings.ts';
import type { TextKind } from '../spellings/text-kind.ts';
import { PatternBranches } from './pattern-branches.ts';

/** The paths that a rule applies to: `/orders` exactly, `/orders/*` with all that is below. */
export class PathPatterns {
  /** The first pattern, as it is written. */
  readonly first: string;
  readonly #branches: PatternBranches<string>;

  /** @param patterns - Each begins with `/`. A `*` may only be at the end. */
  constructor(patterns: readonly string[], kind: TextKind) {
    this.first = patterns[0]!;
    this.#branches = new PatternBranches(kind);
    for (const pattern of patterns) this.#branches.branchOf(pattern, () => pattern);
  }

  /** Whether a server may understand a path as one of these. */
  matchAny({ texts, areAll }: Spellings): boolean {
    return !areAll || texts.some((text) => this.matches(text));
  }

  /** Whether every server understands a path as one of these. */
  matchAll({ texts, areAll }: Spellings): boolean {
    return areAll && texts.every((text) => this.matches(text));
  }

  /** Whether one spelling is one of these. */
  matches(spelling: string): boolean {
    return this.#branches.of(spelling, '') !== undefined;
  }
}
