import { borrowTermsOf } from '@sluice/core/kinds';
import type { Limit } from '@sluice/core/kit';
import { TICKS_PER_MICRO } from '@sluice/core/store';
import type { ClientId, ClientTable } from '../keys/client-table.ts';
import { DeniedRoutes } from './denied-routes.ts';
import { MostDenied } from './most-denied.ts';
import type { SecondBounds } from './second-bounds.ts';
import { SlotsNeeded } from './slots-needed.ts';

/** What one pass counts of one limit, in requests. */
export interface PassCounts {
  denied: number;
  /** How many of these got a response of 200 to 299: work that clients would have missed. */
  deniedSuccesses: number;
  /** Allowed requests that would have waited. */
  delayed: number;
}

/** What is counted of a denied request, beside its client. */
export interface DeniedRequest {
  /** Whether it got a response of 200 to 299. */
  readonly isSuccess: boolean;
  /** The number of its route. */
  readonly route: number;
}

/**
 * The factor of the number of a period, beside the tokens that were taken in it: more than a quota can have. 2^53
 * is room for 48 days of seconds, and for more of all other units.
 */
function periodFactor({ periods }: Limit): number {
  return periods === undefined ? 1 : 2 ** Math.max(31, Math.ceil(Math.log2(2 * periods.mostTokens)));
}

/** Counts what a limit does to the requests of a log. */
export class LimitTally {
  readonly name: string;
  readonly clients: ClientTable;
  readonly bounds: SecondBounds | undefined;
  /** Requests that the limit applies to. */
  asked = 0;
  readonly passes: PassCounts[];
  readonly mostDenied: MostDenied;
  /** For each pass. */
  readonly deniedRoutes: readonly DeniedRoutes[];
  /** Requests of ids with an override, among them those of unlimited and of blocked ids. */
  overridden = 0;
  readonly #limit: Limit;
  readonly #startMicros: number;
  readonly #periodFactor: number;
  /** The end of the current period in each pass, and the number of the period; only quotas have them. */
  readonly #periods: { endMs: number; number: number }[];
  /** One for each pass; only concurrency limits have them. */
  readonly #slots: readonly SlotsNeeded[];

  /**
   * @param startMicros - The start of the log, in microseconds since 1970.
   * @param bounds - Of a log of whole seconds, what the limit denies at least and at most.
   */
  constructor(limit: Limit, clients: ClientTable, passes: number, startMicros: number, bounds?: SecondBounds) {
    this.name = limit.name;
    this.clients = clients;
    this.bounds = bounds;
    this.passes = Array.from({ length: passes }, () => ({ denied: 0, deniedSuccesses: 0, delayed: 0 }));
    this.mostDenied = new MostDenied(passes);
    this.deniedRoutes = this.passes.map((_, i) => new DeniedRoutes(clients, i));
    this.#limit = limit;
    this.#startMicros = startMicros;
    this.#periodFactor = periodFactor(limit);
    this.#periods = this.passes.map(() => ({ endMs: -Infinity, number: 0 }));
    this.#slots = limit.kind.level !== 'held' ? [] : this.passes.map((_, i) => new SlotsNeeded(clients, i));
  }

  /** Whether the smallest burst that denies nobody can be found: of a limit that does not borrow. */
  get hasCurve(): boolean {
    return borrowTermsOf(this.#limit) === undefined && this.#slots.every(({ isExact }) => isExact);
  }

  /** Counts a request of a client, once for all passes. */
  count(client: ClientId, micros: number, cost: number): void {
    this.asked++;
    const row = this.clients.rowOf(client);
    if (row !== -1) this.clients.requests[row]!++;
    this.bounds?.add(client, micros, cost);
  }

  /** Notes that the numbers of a client are not those of the limit. */
  noteOverridden(client: ClientId): void {
    this.overridden++;
    const row = this.clients.rowOf(client);
    if (row !== -1) this.clients.overridden[row] = 1;
  }

  /** @param second - Seconds since 1970. */
  deny(client: ClientId, pass: number, second: number, { isSuccess, route }: DeniedRequest): void {
    const counts = this.passes[pass]!;
    counts.denied++;
    if (isSuccess) counts.deniedSuccesses++;
    const row = this.clients.rowOf(client);
    if (row !== -1) this.clients.denied[pass]![row]!++;
    this.mostDenied.add(client, pass, second);
    this.deniedRoutes[pass]!.add(client, route);
  }

  /**
   * Follows the level that the bucket of a client would have if nothing was ever denied.
   *
   * @param durationMicros - For how long the request holds slots.
   */
  raise(client: ClientId, pass: number, micros: number, cost: number, durationMicros: number): void {
    const row = this.clients.rowOf(client);
    if (row === -1) return;
    const slots = this.#slots[pass];
    const needed =
      slots !== undefined
        ? slots.add(client, cost, micros, durationMicros)
        : this.#limit.periods === undefined
          ? this.#levelOf(row, pass, micros, cost)
          : this.#usedOf(client, pass, micros, cost);
    const need = this.clients.need[pass]!;
    if (needed > need[row]!) need[row] = needed;
  }

  #levelOf(row: number, pass: number, micros: number, cost: number): number {
    const { emissionIntervalTicks } = this.#limit.rate;
    const now = (micros - this.#startMicros) * TICKS_PER_MICRO;
    const tats = this.clients.level[pass]!;
    const tat = Math.max(tats[row]!, now) + cost * emissionIntervalTicks;
    tats[row] = tat;
    return Math.ceil((tat - now) / emissionIntervalTicks);
  }

  #usedOf({ row, text }: ClientId, pass: number, micros: number, cost: number): number {
    const period = this.#periods[pass]!;
    const periods = this.#limit.periods!;
    if (micros / 1000 >= period.endMs) {
      const [, endMs] = periods.running(periods.of(text));
      if (endMs > period.endMs) Object.assign(period, { endMs, number: period.number + 1 });
    }
    const levels = this.clients.level[pass]!;
    const level = levels[row]!;
    const factor = this.#periodFactor;
    const used = Math.floor(level / factor) === period.number ? level % factor : 0;
    const after = Math.min(used + cost, factor - 1);
    levels[row] = period.number * factor + after;
    return after;
  }
}
