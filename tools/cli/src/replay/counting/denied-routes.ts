import { MAX_ROUTES } from '../entries/routes.ts';
import { grown, type ClientId, type ClientTable } from '../keys/client-table.ts';

/** The words of a row: one bit for each route. */
const WORDS = Math.ceil(MAX_ROUTES / 32);

/** On which routes a limit has denied each client, in one pass: a bit for each route. */
export class DeniedRoutes {
  /** Denied requests of each route. */
  readonly requests: number[] = Array.from({ length: MAX_ROUTES }, () => 0);
  readonly #clients: ClientTable;
  readonly #pass: number;
  /** One for each row of the table of clients, as far as there were denials. */
  #bits = new Uint32Array(0);
  /** The hash of the client that each row of bits is about: the table may give a row to another one. */
  #owners = new Int32Array(0);

  constructor(clients: ClientTable, pass: number) {
    this.#clients = clients;
    this.#pass = pass;
  }

  /** Counts a denied request. */
  add(client: ClientId, route: number): void {
    this.requests[route]!++;
    const row = this.#clients.rowOf(client);
    if (row === -1) return;
    if (row >= this.#owners.length) this.#grow(row + 1);
    if (this.#owners[row] !== client.hash) {
      this.#owners[row] = client.hash;
      this.#bits.fill(0, row * WORDS, (row + 1) * WORDS);
    }
    this.#bits[row * WORDS + (route >> 5)]! |= 1 << (route & 31);
  }

  /** Returns how many clients of the table were denied on each route. */
  clients(): number[] {
    const counts = this.requests.map(() => 0);
    const denied = this.#clients.denied[this.#pass]!;
    for (const row of this.#clients.used()) {
      // A row without denials may have the bits of the client that had it before.
      if (denied[row] === 0) continue;
      for (let route = 0; route < MAX_ROUTES; route++) {
        if ((this.#bits[row * WORDS + (route >> 5)]! & (1 << (route & 31))) !== 0) counts[route]!++;
      }
    }
    return counts;
  }

  #grow(needed: number): void {
    const rows = Math.max(1024, 2 ** Math.ceil(Math.log2(needed)));
    this.#bits = grown(this.#bits, rows * WORDS, Uint32Array);
    this.#owners = grown(this.#owners, rows, Int32Array);
  }
}
