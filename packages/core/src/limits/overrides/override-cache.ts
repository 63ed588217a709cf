import { adopted, type Awaitable } from '../../async/awaitable.ts';
import type { Clock } from '../../time/clock.ts';
import { EntryTable } from './entry-table.ts';
import { overrideRate, type Override } from './override.ts';

/** What knows the overrides, such as a database. */
export type OverrideQuery = (limit: string, id: string) => Awaitable<Override | undefined>;

/** After a failure an id is not asked for again for so long, or for `maxAge` if that is shorter. */
const PAUSE_MICROS = 1_000_000;
/** A query that has not answered for so long counts as failed: the next request starts another one. */
const PATIENCE_MICROS = 10_000_000;

/** What a cache is made of, checked. */
export interface OverrideCacheParts {
  readonly ask: OverrideQuery;
  readonly maxAgeMicros: number;
  readonly maxEntries: number;
  readonly clock: Clock;
  /** Told when a known answer remains in use because it could not be refreshed. */
  readonly onStale: (stale: StaleOverride) => void;
}

/** A known answer that could not be refreshed. */
export interface StaleOverride {
  readonly limit: string;
  readonly id: string;
  readonly ageMicros: number;
  readonly cause: unknown;
}

/** One query that has not answered yet. */
interface Flight {
  readonly startedMicros: number;
  readonly answer: Promise<Override | undefined>;
}

/** What is known of one id of a limit. */
interface Entry {
  readonly limit: string;
  readonly id: string;
  answer:
    { readonly override: Override | undefined; readonly atMicros: number; readonly askedMicros: number } | undefined;
  failure: { readonly cause: unknown; readonly atMicros: number } | undefined;
  flight: Flight | undefined;
}

/** Keeps the answers of a query for a while, asks once for many, and goes on with what is known when asking fails. */
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

  /** Gives an answer at once when one is known; throws or rejects when none is and the query fails. */
  get(limit: string, id: string): Awaitable<Override | undefined> {
    const nowMicros = this.#parts.clock.nowMicros();
    const entry = this.#entries.get(keyOf(limit, id)) ?? this.#added(limit, id);
    if (entry.answer !== undefined && nowMicros - entry.answer.atMicros < this.#parts.maxAgeMicros) {
      return entry.answer.override;
    }
    if (this.#mayAsk(entry, nowMicros)) this.#ask(entry, nowMicros);
    if (entry.answer !== undefined) return entry.answer.override;
    if (entry.flight !== undefined) return entry.flight.answer;
    throw entry.failure!.cause;
  }

  /** Forgets an id, under one limit or under all. */
  delete(id: string, limit?: string): void {
    for (const name of limit === undefined ? this.#limits : [limit]) this.#entries.delete(keyOf(name, id));
  }

  /** Forgets everything. */
  clear(): void {
    this.#entries.clear();
  }

  #added(limit: string, id: string): Entry {
    const entry: Entry = { limit, id, answer: undefined, failure: undefined, flight: undefined };
    this.#limits.add(limit);
    this.#entries.add(keyOf(limit, id), entry);
    return entry;
  }

  #mayAsk({ flight, failure }: Entry, nowMicros: number): boolean {
    if (flight !== undefined) return nowMicros - flight.startedMicros >= PATIENCE_MICROS;
    return failure === undefined || nowMicros - failure.atMicros >= this.#pauseMicros;
  }

  #ask(entry: Entry, nowMicros: number): void {
    if (entry.flight !== undefined) this.#failed(entry, new Error('the query did not answer within 10 s'));
    let answer: Awaitable<Override | undefined>;
    try {
      answer = adopted(this.#parts.ask(entry.limit, entry.id));
      if (!(answer instanceof Promise)) return this.#accept(entry, answer, nowMicros);
    } catch (cause) {
      return this.#failed(entry, cause);
    }
    const flight: Flight = { startedMicros: nowMicros, answer: this.#landing(entry, answer, () => flight) };
    entry.flight = flight;
    // Of a refresh nobody may wait for the outcome.
    flight.answer.catch(() => undefined);
  }

  async #landing(
    entry: Entry,
    answer: Promise<Override | undefined>,
    flight: () => Flight,
  ): Promise<Override | undefined> {
    try {
      const override = await answer;
      this.#accept(entry, override, flight().startedMicros);
      return override;
    } catch (cause) {
      // Of an older query than the present one nobody needs the failure.
      if (entry.flight === flight()) this.#failed(entry, cause);
      throw cause;
    } finally {
      if (entry.flight === flight()) entry.flight = undefined;
    }
  }

  /** @throws {SluiceError} for what is no override. */
  #accept(entry: Entry, override: Override | undefined, askedMicros: number): void {
    const { limit, id } = entry;
    if (override !== undefined) overrideRate(`overrides(${limit})`, override);
    // A later query has answered before.
    if (entry.answer !== undefined && entry.answer.askedMicros > askedMicros) return;
    entry.answer = { override, atMicros: this.#parts.clock.nowMicros(), askedMicros };
    entry.failure = undefined;
    this.#entries.rank(keyOf(limit, id), entry, override !== undefined);
  }

  #failed(entry: Entry, cause: unknown): void {
    const { limit, id, answer } = entry;
    const atMicros = this.#parts.clock.nowMicros();
    entry.failure = { cause, atMicros };
    if (answer !== undefined) this.#parts.onStale({ limit, id, ageMicros: atMicros - answer.atMicros, cause });
  }
}

// A limit's name has no colon in it.
function keyOf(limit: string, id: string): string {
  return `${limit}:${id}`;
}
