import type { ClientId } from '../keys/client-table.ts';
import { Timeline } from './timeline.ts';

/** How many ids are watched before those with the fewest denials are dropped, and how many are kept then. */
const [MOST, KEPT] = [4000, 2000];

/** An id that was denied, since its first denial. */
export interface DeniedId {
  readonly client: ClientId;
  /** One for each pass. */
  readonly denied: number[];
  /** Requests, and denials in the first pass. */
  readonly timeline: Timeline;
}

/** The ids of a limit that are denied most often. Beside these it forgets those with few denials. */
export class MostDenied {
  readonly #passes: number;
  readonly #ids = new Map<string, DeniedId>();

  constructor(passes: number) {
    this.#passes = passes;
  }

  /** Counts a request, if its id was denied before. Call it after the request is decided. */
  countRequest(id: string, second: number): void {
    this.#ids.get(id)?.timeline.add(second, 0, 1);
  }

  /** @param second - Seconds since 1970. */
  add(client: ClientId, pass: number, second: number): void {
    let known = this.#ids.get(client.text);
    if (known === undefined) {
      if (this.#ids.size >= MOST) this.#drop();
      const denied = Array.from({ length: this.#passes }, () => 0);
      known = { client, denied, timeline: new Timeline(second, 2) };
      this.#ids.set(client.text, known);
    }
    known.denied[pass]!++;
    if (pass === 0) known.timeline.add(second, 1, 1);
  }

  /** Returns the ids with the most denials, in any pass. */
  top(count: number): readonly DeniedId[] {
    return [...this.#ids.values()].toSorted(byDenials).slice(0, count);
  }

  #drop(): void {
    for (const { client } of this.top(MOST).slice(KEPT)) this.#ids.delete(client.text);
  }
}

function byDenials(a: DeniedId, b: DeniedId): number {
  return Math.max(...b.denied) - Math.max(...a.denied);
}
