import { TICKS_PER_MICRO } from '@sluice/core/kit';
import { MAX_NEED, type ClientTable } from '../keys/client-table.ts';
import type { ClientId } from '../keys/identity.ts';
import { intervalTicks, type SuggestedRate } from './rates.ts';

/** For each client, the smallest burst that never denies it in any pass, at each of several rates. */
export class RateNeeds {
  readonly #clients: ClientTable;
  readonly #intervalTicks: readonly number[];
  /** For each pass. */
  readonly #tats: Float64Array[];
  #needs: Uint32Array;

  constructor(clients: ClientTable, rates: readonly SuggestedRate[], passes: number) {
    this.#clients = clients;
    this.#intervalTicks = rates.map(intervalTicks);
    this.#tats = Array.from({ length: passes }, () => new Float64Array(1024 * rates.length));
    this.#needs = new Uint32Array(1024 * rates.length);
  }

  /** @param micros - When the request arrives in each pass, since the start of the log. */
  add(client: ClientId, micros: Float64Array, cost: number): void {
    const clients = this.#clients;
    const row = clients.rowOf(client);
    if (row === -1) return;
    const rates = this.#intervalTicks.length;
    const first = row * rates;
    if (first + rates > this.#needs.length) this.#grow(first + rates);
    // The row may have been that of a client that is no longer in the sample.
    if (clients.requests[row]!++ === 0) this.#clear(first, rates);
    for (let pass = 0; pass < this.#tats.length; pass++) {
      const [tats, now] = [this.#tats[pass]!, micros[pass]! * TICKS_PER_MICRO];
      for (let i = 0; i < rates; i++) {
        const interval = this.#intervalTicks[i]!;
        const before = tats[first + i]!;
        const tat = (before > now ? before : now) + cost * interval;
        tats[first + i] = tat;
        const need = Math.ceil((tat - now) / interval);
        if (need > this.#needs[first + i]!) this.#needs[first + i] = Math.min(need, MAX_NEED);
      }
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
    for (const tats of this.#tats) tats.fill(0, first, first + rates);
    this.#needs.fill(0, first, first + rates);
  }

  #grow(needed: number): void {
    const size = Math.max(needed, 2 * this.#needs.length);
    for (const [pass, old] of this.#tats.entries()) {
      const tats = new Float64Array(size);
      tats.set(old);
      this.#tats[pass] = tats;
    }
    const needs = new Uint32Array(size);
    needs.set(this.#needs);
    this.#needs = needs;
  }
}
