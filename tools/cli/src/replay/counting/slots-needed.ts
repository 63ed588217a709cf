import { EndQueue } from '../deciding/end-queue.ts';
import type { ClientId, ClientTable } from '../keys/client-table.ts';

/** The most requests in progress that are counted, so that the memory does not depend on the log. */
const MAX_HELD = 100_000;

interface Held {
  readonly client: ClientId;
  readonly cost: number;
}

/** Follows how many slots each client would hold if nothing was ever denied, in one pass. */
export class SlotsNeeded {
  /** Whether there were never too many requests in progress to count all of them. */
  isExact = true;
  readonly #clients: ClientTable;
  readonly #pass: number;
  readonly #held = new EndQueue<Held>();

  constructor(clients: ClientTable, pass: number) {
    this.#clients = clients;
    this.#pass = pass;
  }

  /** Returns how many slots a client holds from the arrival of a request on. The client is in the table. */
  add(client: ClientId, cost: number, micros: number, durationMicros: number): number {
    while (this.#held.firstEnd <= micros) this.#endFirst();
    this.#held.add(micros + durationMicros, { client, cost });
    const level = (this.#clients.level[this.#pass]![client.row]! += cost);
    if (this.#held.size > MAX_HELD) {
      this.isExact = false;
      this.#endFirst();
    }
    return level;
  }

  #endFirst(): void {
    const { client, cost } = this.#held.take();
    // It may have left the table, and its row may be that of another client.
    const row = this.#clients.rowOf(client);
    if (row !== -1) this.#clients.level[this.#pass]![row]! -= cost;
  }
}
