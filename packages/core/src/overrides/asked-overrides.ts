import { adopted, type Awaitable } from '../awaitable.ts';
import { shown } from '../errors.ts';
import type { Notify } from '../events.ts';
import type { Deadlines } from '../failure/deadlines.ts';
import type { Limit } from '../limits.ts';
import type { Rate } from '../rate.ts';
import { overrideRate, type Override, type OverrideRate, type RateLookup } from './override.ts';

/**
 * Overrides that live elsewhere, such as plans in a database. Asked for every request, with the canonical id, so keep
 * what you have read for a while. `undefined` means the limit's own numbers. When it throws, gives nonsense or takes
 * longer than `overridesDeadlineMs`, the limit's own numbers hold and there is an `override-failed` event.
 */
export type OverrideFunction = (limit: string, id: string) => Awaitable<Override | undefined>;

/** Asks the user's function, and stands in with the limit's own numbers when it fails. */
export class AskedOverrides {
  readonly #ask: OverrideFunction;
  readonly #deadlines: Deadlines;
  readonly #notify: Notify;
  // Plans are few: their numbers are put on the grid once. A function that makes up new ones each time can't fill it.
  readonly #rates = new Map<string, OverrideRate>();

  constructor(ask: OverrideFunction, deadlines: Deadlines, notify: Notify) {
    this.#ask = ask;
    this.#deadlines = deadlines;
    this.#notify = notify;
  }

  /** Never throws and never rejects. */
  readonly rateFor: RateLookup = (limit, id) => {
    try {
      const answer = adopted(this.#ask(limit.name, id));
      if (!(answer instanceof Promise)) return this.#rateOf(limit, answer);
      const late = (): Error => new Error('the overrides function did not answer within its deadline');
      return this.#deadlines
        .race(answer, late)
        .then((override) => this.#rateOf(limit, override))
        .catch((cause: unknown) => this.#failed(limit, id, cause));
    } catch (cause) {
      return this.#failed(limit, id, cause);
    }
  };

  #rateOf(limit: Limit<never>, override: Override | undefined): OverrideRate {
    if (override === undefined) return limit.rate;
    const name = JSON.stringify(override);
    let rate = this.#rates.get(name);
    if (rate === undefined) {
      rate = overrideRate(`overrides(${limit.name})`, override);
      if (this.#rates.size >= 1000) this.#rates.clear();
      this.#rates.set(name, rate);
    }
    return rate;
  }

  #failed(limit: Limit<never>, id: string, cause: unknown): Rate {
    this.#notify({
      type: 'override-failed',
      limit: limit.name,
      id,
      cause,
      message: `Sluice: no override for ${limit.name}: ${(cause as Error)?.message ?? shown(cause)}; its own numbers hold.`,
    });
    return limit.rate;
  }
}
