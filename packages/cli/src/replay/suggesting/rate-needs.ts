import type { ClientTable } from '../keys/client-table.ts';
import type { ClientId } from '../keys/identity.ts';
import { periodMicros, type SuggestedRate } from './rates.ts';

const TICKS_PER_MICRO = 16;

/** For each client, the smallest burst that never denies it, at each of several rates. */
export class RateNeeds {
  readonly #clients: ClientTable;
  readonly #intervalTicks: readonly number[];
  #tats: Float64Array;
  #needs: Uint32Array;

  constructor(clients: ClientTable, rates: readonly SuggestedRate[]) {
    this.#clients = clients;
    // As a limit does: see `rateOf` of the core.
    this.#intervalTicks = rates.map((rate) => Math.floor((periodMicros(rate) * TICKS_PER_MICRO) / rate.count));
    this.#tats = new Float64Array(1024 * rates.length);
    this.#needs = new Uint32Array(1024 * rates.length);
  }

  /** @param micros - Since the start of the log. */
  add({ row, hash }: ClientId, micros: number, cost: number): void {
    const clients = this.#clients;
    if (row === -1 || !clients.keeps(hash)) return;
    const rates = this.#intervalTicks.length;
    const [first, now] = [row * rates, micros * TICKS_PER_MICRO];
    if (first + rates > this.#tats.length) this.#grow(first + rates);
    // The row may have been that of a client that is no longer in the sample.
    if (clients.requests[row]!++ === 0) this.#clear(first, rates);
    for (let i = 0; i < rates; i++) {
      const interval = this.#intervalTicks[i]!;
      const before = this.#tats[first + i]!;
      const tat = (before > now ? before : now) + cost * interval;
      this.#tats[first + i] = tat;
      const need = Math.ceil((tat - now) / interval);
      if (need > this.#needs[first + i]!) this.#needs[first + i] = need;
    }
  }

  /** Returns for each rate the smallest burst that ever denies at most a part of the clients. */
  bursts(denyAtMost: number): number[] {
    const rates = this.#intervalTicks.length;
    const rows = [...this.#clients.used()];
    const most = Math.floor(denyAtMost * rows.length);
    return this.#intervalTicks.map((_, i) => {
      const needs = Uint32Array.from(rows, (row) => this.#needs[row * rates + i]!).toSorted();
      return needs[needs.length - 1 - most] ?? 1;
    });
  }

  #clear(first: number, rates: number): void {
    this.#tats.fill(0, first, first + rates);
    this.#needs.fill(0, first, first + rates);
  }

  #grow(needed: number): void {
    const size = Math.max(needed, 2 * this.#tats.length);
    const [tats, needs] = [new Float64Array(size), new Uint32Array(size)];
    tats.set(this.#tats);
    needs.set(this.#needs);
    this.#tats = tats;
    this.#needs = needs;
  }
}
