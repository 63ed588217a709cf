import type { Place } from './place.ts';

/** A mistake in one file. */
export interface Finding {
  readonly at: Place;
  readonly message: string;
  /** The name of the limit with the mistake, if it is known. */
  readonly limit?: string | undefined;
}

/** How many findings of one file are kept. More would not help the author, and a hostile file could have millions. */
const KEPT = 1000;
/** After this many findings the rest of a file is not read. */
export const MOST_FINDINGS = 10_000;

/**
 * The mistakes of one file. A file that can't be read (invalid YAML, or the wrong kind of file) gets only the findings
 * that explain why: other findings could be wrong, because a part that seems to be missing may follow the mistake.
 */
export class Findings {
  readonly list: Finding[] = [];
  /** The number of findings, including those that were not kept. */
  count = 0;
  unreadable = false;

  /** Whether there are so many findings that the rest of the file is not read. */
  get isFull(): boolean {
    return this.count >= MOST_FINDINGS;
  }

  /** Adds a mistake in a value. Ignored if the file can't be read. */
  add(at: Place, message: string, limit?: string): void {
    if (this.unreadable) return;
    this.count++;
    if (this.list.length < KEPT) this.list.push({ at, message, limit });
  }

  /** Adds a reason why the file can't be read, and drops all other findings. */
  addUnreadable(at: Place, message: string): void {
    if (!this.unreadable) {
      this.list.length = 0;
      this.count = 0;
      this.unreadable = true;
    }
    this.count++;
    if (this.list.length < KEPT) this.list.push({ at, message });
  }

  /** Adds the findings of another thread. If there are too many, those that come first in the file are kept. */
  addAll({ list, count, unreadable }: Pick<Findings, 'list' | 'count' | 'unreadable'>): void {
    if (unreadable && !this.unreadable) {
      this.list.length = 0;
      this.count = 0;
      this.unreadable = true;
    }
    if (unreadable || !this.unreadable) {
      this.count += count;
      const all = [...list, ...this.list].toSorted(byPlace);
      this.list.splice(0, Infinity, ...all.slice(0, KEPT));
    }
  }
}

/** Compares findings by their position in a text. Findings in data keep their order. */
export function byPlace(a: Finding, b: Finding): number {
  return typeof a.at === 'number' && typeof b.at === 'number' ? a.at - b.at : 0;
}
