import type { OverrideList } from '@sluice/core';
import { borrowTermsOf } from '@sluice/core/kinds';
import type { Limit, Numbers } from '@sluice/core/kit';
import { TICKS_PER_MICRO } from '@sluice/core/store';
import type { ClientId, ClientTable } from '../keys/client-table.ts';
import type { Band } from './band.ts';

const SECOND_TICKS = 1_000_000 * TICKS_PER_MICRO;
const [FEWEST, MOST] = [0, 1];

/**
 * The fewest and the most requests that a rate denies in a log of whole seconds. Such a log has the earliest time of each request,
 * which may have arrived up to a second later: `$time_local`, or `$time_local − $request_time` with fractions. Not known when the
 * costs of requests differ.
 *
 * Fewest: as with all requests at their earliest times, and a tolerance that is a second longer. Whatever arrivals pass under the
 * limit, they also pass there, because every request comes at most a second earlier.
 *
 * Most: of the requests with one earliest time, so many pass as when all come then, when the least has refilled; for later ones
 * the bucket is as empty as if they had come a second later. What passes so would fit whenever the requests arrived, and a limiter
 * lets as many pass or more: no other choice of requests that fit has more than its own.
 */
export class SecondBounds {
  readonly #limit: Limit;
  readonly #overrides: OverrideList | undefined;
  readonly #clients: ClientTable;
  readonly #startMicros: number;
  #cost: number | undefined;
  #isKnown = true;

  /**
   * @param clients - A table with bounds.
   * @param startMicros - The start of the log, in microseconds since 1970.
   */
  constructor(limit: Limit, overrides: OverrideList | undefined, clients: ClientTable, startMicros: number) {
    this.#limit = limit;
    this.#overrides = overrides;
    this.#clients = clients;
    this.#startMicros = startMicros;
  }

  /** Whether a limit can have bounds: a rate that does not borrow. */
  static has(limit: Limit): boolean {
    return limit.kind.level === 'falls' && borrowTermsOf(limit) === undefined;
  }

  /** Whether the bounds are known: not of a sample of the clients, or of different costs. */
  get isKnown(): boolean {
    return this.#isKnown && this.#clients.sampling === 1;
  }

  /** Denied requests. */
  get denied(): Band {
    return this.#band((denied) => denied);
  }

  /** Clients that are denied at least once. */
  get deniedIds(): Band {
    return this.#band((denied) => Math.min(denied, 1));
  }

  /**
   * Counts a request of a client. Requests come in the order of their times.
   *
   * @param micros - When it arrived at the earliest.
   */
  add({ row, text }: ClientId, micros: number, cost: number): void {
    this.#isKnown &&= cost === (this.#cost ??= cost);
    const rate = this.#overrides?.rateOf(this.#limit.name, text) ?? this.#limit.rate;
    if (!this.isKnown || rate === 'unlimited') return;
    const { denied } = this.#clients.bounds!;
    if (rate === 'blocked') {
      denied[FEWEST]![row]!++;
      denied[MOST]![row]!++;
    } else if (cost <= rate.burst) {
      const now = (micros - this.#startMicros) * TICKS_PER_MICRO;
      if (!this.#passesAtBest(row, now, cost, rate)) denied[FEWEST]![row]!++;
      if (!this.#passesAtWorst(row, now, cost, rate)) denied[MOST]![row]!++;
    }
  }

  #passesAtBest(row: number, now: number, cost: number, rate: Numbers): boolean {
    const { best } = this.#clients.bounds!;
    const tat = Math.max(best[row]!, now) + cost * rate.emissionIntervalTicks;
    if (tat > now + SECOND_TICKS + this.#toleranceOf(rate)) return false;
    best[row] = tat;
    return true;
  }

  #passesAtWorst(row: number, now: number, cost: number, rate: Numbers): boolean {
    const { worst, gap, end } = this.#clients.bounds!;
    if (end[row] !== now + SECOND_TICKS) {
      end[row] = now + SECOND_TICKS;
      const before = worst[row]!;
      worst[row] = Math.max(before, now + SECOND_TICKS);
      gap[row] = worst[row] - Math.max(before, now);
    }
    const tat = worst[row]! + cost * rate.emissionIntervalTicks;
    if (tat - gap[row]! > now + this.#toleranceOf(rate)) return false;
    worst[row] = tat;
    return true;
  }

  #toleranceOf({ toleranceTicks, waitTicks }: Numbers): number {
    return toleranceTicks + (waitTicks ?? this.#limit.rate.waitTicks ?? 0);
  }

  #band(counted: (denied: number) => number): Band {
    const [low = 0, high = 0] = this.#clients.bounds!.denied.map((column) => {
      let sum = 0;
      for (const row of this.#clients.used()) sum += counted(column[row]!);
      return sum;
    });
    return { low, high };
  }
}

/** The bounds of what a limit denies beside others. */
interface LimitBounds {
  readonly denied: Band;
  readonly deniedIds: Band;
}

/** The bounds of limits that are decided together. */
export interface DenialBounds {
  /** Requests that any limit denies. */
  readonly total: Band;
  /** In the order of the limits. */
  readonly limits: readonly LimitBounds[];
}

/**
 * Returns the bounds of limits that are decided together, from those of each alone. A request that another limit denies takes no
 * token of a limit, so that the limit denies at most one request less for it.
 *
 * @param requests - How many requests there were.
 * @returns `undefined` if the bounds of one are not known.
 */
export function boundsOf(alone: readonly (SecondBounds | undefined)[], requests: number): DenialBounds | undefined {
  const all = alone.filter((each) => each !== undefined);
  if (all.length < alone.length || all.some(({ isKnown }) => !isKnown)) return undefined;
  const most = all.reduce((sum, { denied }) => sum + denied.high, 0);
  const limits = all.map(({ denied, deniedIds }): LimitBounds => {
    const saved = most - denied.high;
    const beside = ({ low, high }: Band): Band => ({ low: Math.max(0, low - saved), high });
    return { denied: beside(denied), deniedIds: beside(deniedIds) };
  });
  const fewest = Math.max(...all.map(({ denied }) => denied.low));
  return { total: { low: fewest, high: Math.min(requests, most) }, limits };
}
