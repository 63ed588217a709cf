import { AsyncLocalStorage } from 'node:async_hooks';
import type { Awaitable, Decision, Time } from '@sluice/core';

/** The most keys and the most requests of one key that are remembered. What is older is not given back. */
const MOST_KEYS = 100_000;
const MOST_OF_KEY = 1000;

/** What one request took. */
export interface Taken {
  /** The id of the key, of bounded length. */
  readonly key: string;
  /** Undefined while the limit of the key is asked for, and once it is forgotten. */
  decision: Awaitable<Decision> | undefined;
}

/** What the requests of a key took and did not give back, the oldest first. */
interface OfKey {
  readonly all: Taken[];
  /** When the last of it has come back by itself. */
  untilMicros: number;
}

/**
 * Finds what a request took when a library asks to give it back: by the asynchronous context in which `increment` was called, or
 * where that is lost, among the requests of the key. Then that of a denied request comes first, for which libraries ask, too,
 * so that nothing is given back that was not taken.
 */
export class TakenTokens {
  readonly #time: Time;
  readonly #request = new AsyncLocalStorage<Taken>();
  readonly #byKey = new Map<string, OfKey>();
  /** Workers have no `enterWith`. */
  #canEnter = true;

  constructor(time: Time) {
    this.#time = time;
  }

  /** Returns what the decision of a request is noted in. */
  add(key: string, windowMs: number): Taken {
    const taken: Taken = { key, decision: undefined };
    this.#enter(taken);
    const nowMicros = this.#time.nowMicros();
    const known = this.#byKey.get(taken.key) ?? { all: [], untilMicros: 0 };
    known.untilMicros = nowMicros + windowMs * 1000;
    known.all.push(taken);
    if (known.all.length > MOST_OF_KEY) known.all.shift()!.decision = undefined;
    // The last that was used is the last in the map.
    this.#byKey.delete(taken.key);
    this.#byKey.set(taken.key, known);
    for (const [oldest, { untilMicros }] of this.#byKey) {
      if (untilMicros > nowMicros && this.#byKey.size <= MOST_KEYS) break;
      this.forget(oldest);
    }
    return taken;
  }

  /** Returns what is to be given back, which is then forgotten; undefined if there is nothing. */
  async takeBack(key: string): Promise<Decision | undefined> {
    const own = this.#request.getStore();
    // A pool of connections ends all responses in the context of the request that opened it: then the key finds the others.
    if (own?.key === key && (own.decision === undefined || this.#remove(own))) return own.decision;
    const all = this.#byKey.get(key)?.all ?? [];
    const decided = new Map<Taken, Decision | undefined>();
    // A decision that failed took nothing.
    await Promise.all(
      all.map(async (taken) => {
        decided.set(taken, await Promise.resolve(taken.decision).catch(() => undefined));
      }),
    );
    const left = all.filter((taken) => decided.get(taken) !== undefined);
    const chosen = left.find((taken) => decided.get(taken)?.allowed === false) ?? left.at(-1);
    return chosen !== undefined && this.#remove(chosen) ? chosen.decision : undefined;
  }

  /** Forgets what the requests of a key took, or those of all. */
  forget(key?: string): void {
    if (key === undefined) return [...this.#byKey.keys()].forEach((each) => this.forget(each));
    for (const taken of this.#byKey.get(key)?.all ?? []) taken.decision = undefined;
    this.#byKey.delete(key);
  }

  #enter(taken: Taken): void {
    if (!this.#canEnter) return;
    try {
      this.#request.enterWith(taken);
    } catch {
      this.#canEnter = false;
    }
  }

  #remove(taken: Taken): boolean {
    const all = this.#byKey.get(taken.key)?.all ?? [];
    const at = all.indexOf(taken);
    if (at === -1) return false;
    all.splice(at, 1);
    return true;
  }
}
