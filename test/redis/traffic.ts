import type { Decision, Limiter, SpendEntry } from '@sluice/core';

/** One decision, as its caller saw it. */
export interface Ask {
  readonly id: string;
  readonly sentMs: number;
  answeredMs: number | undefined;
  decision: Decision | undefined;
  error: unknown;
}

/** Asks a limiter again and again, from its start until it is stopped. */
export class Traffic {
  readonly #asks: Ask[] = [];
  readonly #limiter: Limiter;
  readonly #timer: NodeJS.Timeout;
  readonly #pending = new Set<Promise<void>>();

  /** @param entries - What is asked next, of one id. */
  constructor(limiter: Limiter, everyMs: number, entries: () => readonly [SpendEntry, ...SpendEntry[]]) {
    this.#limiter = limiter;
    this.#timer = setInterval(() => this.#ask(entries()), everyMs);
  }

  /** All that was asked so far. */
  get asks(): readonly Ask[] {
    return this.#asks;
  }

  /** Requests that the store decided. */
  get decidedByStore(): Ask[] {
    return this.#asks.filter(({ decision }) => decision !== undefined && decision.failure === undefined);
  }

  /** Requests that ended in an error. */
  get errors(): unknown[] {
    return this.#asks.flatMap(({ error }) => (error === undefined ? [] : [error]));
  }

  /** How many were allowed for each id. */
  admitted(asks: readonly Ask[] = this.#asks): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { id, decision } of asks) counts.set(id, (counts.get(id) ?? 0) + (decision?.allowed ? 1 : 0));
    return counts;
  }

  /** Asks no more, and waits for the answers. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#pending);
  }

  #ask(entries: readonly [SpendEntry, ...SpendEntry[]]): void {
    const ask: Ask = {
      id: entries[0].id,
      sentMs: performance.now(),
      answeredMs: undefined,
      decision: undefined,
      error: undefined,
    };
    this.#asks.push(ask);
    const answer = this.#answer(ask, entries).finally(() => this.#pending.delete(answer));
    this.#pending.add(answer);
  }

  async #answer(ask: Ask, entries: readonly SpendEntry[]): Promise<void> {
    try {
      ask.decision = await this.#limiter.spend(entries);
    } catch (error) {
      ask.error = error;
    }
    ask.answeredMs = performance.now();
  }
}
