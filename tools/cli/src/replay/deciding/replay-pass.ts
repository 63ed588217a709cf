import { memoryStore, type Decision, type Limiter, type LimiterOptions, type Result } from '@sluice/core';
import { createDataLimiter } from '@sluice/core/kit';
import { FakeTime } from '@sluice/core/testing';
import type { Target } from '../entries/routes.ts';
import type { Identity } from '../keys/client-table.ts';
import { RequestsInProgress } from './requests-in-progress.ts';

/** The most buckets of a pass. */
const MAX_KEYS = 1_000_000;

/** The limits and overrides of a replay. */
export interface ReplayedLimits extends Pick<LimiterOptions, 'limits' | 'overrides'> {
  /** The names of the concurrency limits. */
  readonly concurrency: ReadonlySet<string>;
}

/** Requests whose cost is above the burst of a limit, for which a server would have thrown. */
export interface Undecidable {
  count: number;
  /** The result of that limit for the first of them. */
  example: Result | undefined;
}

interface ReplayEntry {
  readonly limit: string;
  id: string;
  cost: number;
}

/** Decides requests in the order of time, by a limiter with a memory store whose clock is that of the log. */
export class ReplayPass {
  readonly undecidable: Undecidable = { count: 0, example: undefined };
  readonly #time: FakeTime;
  readonly #limiter: Limiter;
  readonly #store: ReturnType<typeof memoryStore>;
  #lastMicros: number;
  /** Undefined without concurrency limits. */
  readonly #inProgress: RequestsInProgress | undefined;
  /** One for each limit that has ids, and those of the current request. Reused: the limiter reads them in its call only. */
  readonly #entryOf: readonly ReplayEntry[];
  readonly #entries: ReplayEntry[] = [];

  /**
   * @param names - The limits of which requests have ids, in the order of their ids.
   * @param startMicros - Not after the first request, in microseconds since 1970.
   */
  constructor({ limits, overrides, concurrency }: ReplayedLimits, names: readonly string[], startMicros: number) {
    this.#entryOf = names.map((limit) => ({ limit, id: '', cost: 1 }));
    this.#time = new FakeTime(startMicros / 1000);
    this.#lastMicros = startMicros;
    this.#store = memoryStore({ time: this.#time, maxKeys: MAX_KEYS });
    this.#limiter = createDataLimiter({
      limits,
      ...(overrides !== undefined && { overrides }),
      store: this.#store,
      time: this.#time,
      log: false,
    });
    this.#inProgress =
      concurrency.size === 0 ? undefined : new RequestsInProgress(this.#limiter, this.#time, concurrency);
  }

  get limiter(): Limiter {
    return this.#limiter;
  }

  /** How many buckets were evicted because there were too many. Their clients had full buckets afterwards. */
  get evicted(): number {
    return this.#store.stats().evicted;
  }

  /** Requests whose slots were released before their end, because too many were in progress. */
  get endedEarly(): number {
    return this.#inProgress?.endedEarly ?? 0;
  }

  /**
   * Decides a request by the limits that apply to it.
   *
   * @param micros - When it arrived. A time before that of an earlier request counts as that one.
   * @param durationMicros - For how long it holds the slots of concurrency limits.
   * @returns `undefined` if no limit applies, or if the request can't be decided.
   */
  decide(micros: number, identity: Identity, target: Target, durationMicros: number): Decision | undefined {
    if (micros > this.#lastMicros) {
      this.#lastMicros = micros;
      if (this.#inProgress === undefined) this.#time.set(micros / 1000);
    }
    this.#inProgress?.moveTo(this.#lastMicros);
    this.#setEntries(identity, target);
    if (this.#entries.length === 0) return undefined;
    const decision =
      this.#inProgress === undefined
        ? this.#limiter.spendSync(this.#entries)
        : this.#inProgress.decide(this.#entries, durationMicros);
    if (decision.retryAfterMs !== Infinity || decision.blocked) return decision;
    this.undecidable.count++;
    this.undecidable.example ??= decision.results[0];
    return undefined;
  }

  #setEntries(identity: Identity, { applies, cost }: Target): void {
    let count = 0;
    for (let i = 0; i < identity.length; i++) {
      const id = identity[i]!;
      if (id === null || !applies[i]!) continue;
      const entry = this.#entryOf[i]!;
      entry.id = id.text;
      entry.cost = cost;
      this.#entries[count++] = entry;
    }
    // Setting it takes time even if it does not change.
    if (this.#entries.length !== count) this.#entries.length = count;
  }

  async close(): Promise<void> {
    await this.#limiter.close();
    this.#store.close();
  }
}
