import type { Place } from './place.ts';

/** Something that is wrong in one file. */
export interface Finding {
  readonly at: Place;
  readonly message: string;
  /** The limit that it is about, where it is about one. */
  readonly limit?: string | undefined;
}

/** How many findings of one file are kept. More help no one, and a hostile file could have millions. */
const KEPT = 1000;
/** After so many a file is not read on. */
export const MOST_FINDINGS = 10_000;

/**
 * What is wrong in one file. When it can't be read, because it is no YAML or no file of its kind, nothing else is said of
 * it: what seems to be missing may stand behind the mistake.
 */
export class Findings {
  readonly list: Finding[] = [];
  /** How many there are, those included that were not kept. */
  count = 0;
  unreadable = false;

  /** Whether there are so many that the file is not read on. */
  get isFull(): boolean {
    return this.count >= MOST_FINDINGS;
  }

  /** Notes what is wrong with a value. */
  add(at: Place, message: string, limit?: string): void {
    if (this.unreadable) return;
    this.count++;
    if (this.list.length < KEPT) this.list.push({ at, message, limit });
  }

  /** Notes why the file can't be read. */
  addUnreadable(at: Place, message: string): void {
    if (!this.unreadable) {
      this.list.length = 0;
      this.count = 0;
      this.unreadable = true;
    }
    this.count++;
    if (this.list.length < KEPT) this.list.push({ at, message });
  }

  /** Takes over what was found in another thread. Of too many those are kept that stand first. */
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

/** By place in a text; what has none keeps its order. */
export function byPlace(a: Finding, b: Finding): number {
  return typeof a.at === 'number' && typeof b.at === 'number' ? a.at - b.at : 0;
}
