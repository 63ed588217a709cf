import { toNativePromise, type Awaitable } from '../../async/awaitable.ts';
import type { Time } from '../../time/time.ts';
import { EntryTable } from './entry-table.ts';
import { overrideRate, type Override } from './override.ts';

/** Queries the source of the overrides, such as a database. `undefined` means no override. */
export type OverrideQuery = (limit: string, id: string) => Awaitable<Override | undefined>;

/** After a failure, an id is not queried again for this time, or for `maxAge` if that is shorter. */
const PAUSE_MICROS = 1_000_000;
/** A query without an answer for this time counts as failed: the next request starts another one. */
const QUERY_DEADLINE_MICROS = 10_000_000;

/** The validated parts of a cache. */
export interface OverrideCacheParts {
  readonly ask: OverrideQuery;
  readonly maxAgeMicros: number;
  readonly maxEntries: number;
  readonly time: Time;
  /** Called when a cached answer remains in use because it could not be refreshed. */
  readonly onStale: (stale: StaleOverride) => void;
}

/** A cached answer that could not be refreshed. */
export interface StaleOverride {
  readonly limit: string;
  readonly id: string;
  readonly ageMicros: number;
  readonly cause: unknown;
}

/** A query in progress. */
interface RunningQuery {
  readonly startedMicros: number;
  readonly answer: Promise<Override | undefined>;
}

/** The state of one id of a limit. */
interface Entry {
  readonly limit: string;
  readonly id: string;
  answer:
    | { readonly override: Override | undefined; readonly atMicros: number; readonly askedMicros: number }
    | undefined;
  failure: { readonly cause: unknown; readonly atMicros: number } | undefined;
  running: RunningQuery | undefined;
}

/**
 * Caches the answers of a query, runs one query at a time for each id, and keeps using a cached answer when a query
 * fails.
 */
export class OverrideCache {
  readonly #parts: OverrideCacheParts;
  readonly #pauseMicros: number;
  readonly #entries: EntryTable<Entry>;
  readonly #limits = new Set<string>();

  constructor(parts: OverrideCacheParts) {
    this.#parts = parts;
    this.#pauseMicros = Math.min(PAUSE_MICROS, parts.maxAgeMicros);
    this.#entries = new EntryTable(parts.maxEntries);
  }

  /** Returns a cached answer synchronously. If there is none and the query fails, throws or rejects. */
  get(limit: string, id: string): Awaitable<Override | undefined> {
    const nowMicros = this.#parts.time.nowMicros();
    const entry = this.#entries.get(keyOf(limit, id)) ?? this.#added(limit, id);
    if (entry.answer !== undefined && nowMicros - entry.answer.atMicros < this.#parts.maxAgeMicros) {
      return entry.answer.override;
    }
    if (this.#parts.time.timersEndWithRequest === true) return this.#askInRequest(entry, nowMicros);
    if (this.#mayAsk(entry, nowMicros)) this.#ask(entry, nowMicros);
    if (entry.answer !== undefined) return entry.answer.override;
    if (entry.running !== undefined) return entry.running.answer;
    throw entry.failure!.cause;
  }

  /** Deletes the answer for an id, of one limit or of all. */
  delete(id: string, limit?: string): void {
    for (const name of limit === undefined ? this.#limits : [limit]) this.#entries.delete(keyOf(name, id));
  }

  /** Deletes all answers. */
  clear(): void {
    this.#entries.clear();
  }

  /**
   * Where a query ends with the request that made it, each request without an answer makes its own, and one request waits for
   * the refresh of an answer, once in a pause.
   */
  #askInRequest(entry: Entry, nowMicros: number): Awaitable<Override | undefined> {
    const stale = entry.answer;
    const asked = Math.max(entry.running?.startedMicros ?? -Infinity, entry.failure?.atMicros ?? -Infinity);
    const mayRefresh = nowMicros - asked >= this.#pauseMicros;
    if (stale === undefined && entry.running === undefined && !mayRefresh) throw entry.failure!.cause;
    if (stale !== undefined && !mayRefresh) return stale.override;
    // That of a request that has ended is never heard of again.
    entry.running = undefined;
    const running = this.#ask(entry, nowMicros);
    if (running !== undefined) return stale === undefined ? running.answer : running.answer.catch(() => stale.override);
    if (entry.answer !== undefined) return entry.answer.override;
    throw entry.failure!.cause;
  }

  #added(limit: string, id: string): Entry {
    const entry: Entry = { limit, id, answer: undefined, failure: undefined, running: undefined };
    this.#limits.add(limit);
    this.#entries.add(keyOf(limit, id), entry);
    return entry;
  }

  #mayAsk({ running, failure }: Entry, nowMicros: number): boolean {
    if (running !== undefined) return nowMicros - running.startedMicros >= QUERY_DEADLINE_MICROS;
    return failure === undefined || nowMicros - failure.atMicros >= this.#pauseMicros;
  }

  /** Returns the query, if it takes time. */
  #ask(entry: Entry, nowMicros: number): RunningQuery | undefined {
    if (entry.running !== undefined) this.#failed(entry, new Error('the query did not answer within 10 s'));
    let answer: Awaitable<Override | undefined>;
    try {
      answer = toNativePromise(this.#parts.ask(entry.limit, entry.id));
      if (!(answer instanceof Promise)) {
        this.#accept(entry, answer, nowMicros);
        return undefined;
      }
    } catch (cause) {
      this.#failed(entry, cause);
      return undefined;
    }
    const running: RunningQuery = { startedMicros: nowMicros, answer: this.#settled(entry, answer, () => running) };
    entry.running = running;
    // The outcome of a refresh may not be awaited: avoids an unhandled rejection.
    running.answer.catch(() => undefined);
    return running;
  }

  async #settled(
    entry: Entry,
    answer: Promise<Override | undefined>,
    query: () => RunningQuery,
  ): Promise<Override | undefined> {
    try {
      const override = await answer;
      this.#accept(entry, override, query().startedMicros);
      return override;
    } catch (cause) {
      // The failure of a query that was replaced by a later one is ignored.
      if (entry.running === query()) this.#failed(entry, cause);
      throw cause;
    } finally {
      if (entry.running === query()) entry.running = undefined;
    }
  }

  /** @throws {SluiceError} For an invalid override. */
  #accept(entry: Entry, override: Override | undefined, askedMicros: number): void {
    const { limit, id } = entry;
    if (override !== undefined) overrideRate(`overrides(${limit})`, override);
    // A later query has already answered.
    if (entry.answer !== undefined && entry.answer.askedMicros > askedMicros) return;
    entry.answer = { override, atMicros: this.#parts.time.nowMicros(), askedMicros };
    entry.failure = undefined;
    this.#entries.rank(keyOf(limit, id), entry, override !== undefined);
  }

  #failed(entry: Entry, cause: unknown): void {
    const { limit, id, answer } = entry;
    const atMicros = this.#parts.time.nowMicros();
    entry.failure = { cause, atMicros };
    if (answer !== undefined) this.#parts.onStale({ limit, id, ageMicros: atMicros - answer.atMicros, cause });
  }
}

// The name of a limit contains no colon.
function keyOf(limit: string, id: string): string {
  return `${limit}:${id}`;
}
