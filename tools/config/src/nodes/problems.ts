import type { Position } from './position.ts';

/** A mistake in one file. */
export interface FoundProblem {
  readonly at: Position;
  readonly message: string;
  /** The name of the limit with the mistake, if it is known. */
  readonly limit?: string | undefined;
}

/** How many problems of one file are kept. More would not help the author, and a hostile file could have millions. */
const KEPT = 1000;
/** After this many problems the rest of a file is not read. */
export const MAX_PROBLEMS = 10_000;

/**
 * The mistakes of one file. A file that can't be read (invalid YAML, or the wrong kind of file) gets only the problems
 * that explain why: other problems could be wrong, because a part that seems to be missing may follow the mistake.
 */
export class Problems {
  readonly list: FoundProblem[] = [];
  /** The number of problems, including those that were not kept. */
  count = 0;
  unreadable = false;

  /** Whether there are so many problems that the rest of the file is not read. */
  get isFull(): boolean {
    return this.count >= MAX_PROBLEMS;
  }

  /** Adds a mistake in a value. Ignored if the file can't be read. */
  add(at: Position, message: string, limit?: string): void {
    if (this.unreadable) return;
    this.count++;
    if (this.list.length < KEPT) this.list.push({ at, message, limit });
  }

  /** Adds a reason why the file can't be read, and drops all other problems. */
  addUnreadable(at: Position, message: string): void {
    if (!this.unreadable) {
      this.list.length = 0;
      this.count = 0;
      this.unreadable = true;
    }
    this.count++;
    if (this.list.length < KEPT) this.list.push({ at, message });
  }
}

/** Compares problems by their position in a text. Problems in data keep their order. */
export function byPosition(a: FoundProblem, b: FoundProblem): number {
  return typeof a.at === 'number' && typeof b.at === 'number' ? a.at - b.at : 0;
}
