import { TICKS_PER_MICRO } from '@sluice/core/store';
import { type ClientId, type ClientTable, grown } from '../keys/client-table.ts';
import { intervalTicks, type SuggestedRate } from './rates.ts';

/** The largest burst that is counted exactly. No rate has a larger one. */
const MAX_NEED = 2 ** 32 - 1;

/**
 * For each client, the smallest burst that never denies it, at each of several rates. In a log of whole seconds, whenever in its
 * second each request arrived: the tokens of a second are taken as if all came at its start, and the bucket is as empty
 * afterwards as if all came at its end.
 */
export class RateNeeds {
  readonly #clients: ClientTable;
  readonly #intervalTicks: readonly number[];
  /** How much later than its time a request may have arrived. */
  readonly #spanTicks: number;
  /** The latest TAT after the current time and its span. */
  #tats: Float64Array;
  /** How much later that is than a request at the current time finds it. Empty without a span. */
  #gaps: Float64Array;
  /** For each client, the time of its last request. */
  #times: Float64Array;
  #needs: Uint32Array;

  /** @param spanMicros - How exact the times are: a second, or 0. */
  constructor(clients: ClientTable, rates: readonly SuggestedRate[], spanMicros: number) {
    this.#clients = clients;
    this.#intervalTicks = rates.map(intervalTicks);
    this.#spanTicks = spanMicros * TICKS_PER_MICRO;
    this.#tats = new Float64Array(1024 * rates.length);
    this.#gaps = new Float64Array(spanMicros === 0 ? 0 : 1024 * rates.length);
    this.#times = new Float64Array(1024);
    this.#needs = new Uint32Array(1024 * rates.length);
  }

  /** @param micros - When the request arrived at the earliest, since the start of the log. */
  add(client: ClientId, micros: number, cost: number): void {
    const clients = this.#clients;
    const row = clients.rowOf(client);
    if (row === -1) return;
    const rates = this.#intervalTicks.length;
    const first = row * rates;
    if (first + rates > this.#needs.length) this.#grow(first + rates);
    const now = micros * TICKS_PER_MICRO;
    // The row may have been that of a client that is no longer in the sample.
    if (clients.requests[row]!++ === 0) this.#begin(row, first, rates);
    if (this.#times[row] !== now) this.#moveTo(now, row, first, rates);
    for (let i = 0; i < rates; i++) {
      const interval = this.#intervalTicks[i]!;
      const tat = this.#tats[first + i]! + cost * interval;
      this.#tats[first + i] = tat;
      const need = Math.ceil((tat - (this.#gaps[first + i] ?? 0) - now) / interval);
      if (need > this.#needs[first + i]!) this.#needs[first + i] = Math.min(need, MAX_NEED);
    }
  }

  #moveTo(now: number, row: number, first: number, rates: number): void {
    this.#times[row] = now;
    for (let i = first; i < first + rates; i++) {
      const before = this.#tats[i]!;
      this.#tats[i] = Math.max(before, now + this.#spanTicks);
      if (this.#spanTicks > 0) this.#gaps[i] = this.#tats[i]! - Math.max(before, now);
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

  #begin(row: number, first: number, rates: number): void {
    this.#times[row] = -1;
    this.#tats.fill(0, first, first + rates);
    this.#needs.fill(0, first, first + rates);
  }

  #grow(needed: number): void {
    const size = Math.max(needed, 2 * this.#needs.length);
    this.#tats = grown(this.#tats, size, Float64Array);
    if (this.#spanTicks > 0) this.#gaps = grown(this.#gaps, size, Float64Array);
    this.#times = grown(this.#times, size / this.#intervalTicks.length, Float64Array);
    this.#needs = grown(this.#needs, size, Uint32Array);
  }
}
