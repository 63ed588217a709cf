import { adopted, type Awaitable } from '../../async/awaitable.ts';
import { reasonOf } from '../../checks/errors.ts';
import type { Notify } from '../../events/event.ts';
import type { Deadlines } from '../../time/deadlines.ts';
import type { Limit } from '../limit.ts';
import type { Rate } from '../../rule/rate.ts';
import { overrideRate, type Override, type OverrideRate, type RateLookup } from './override.ts';

/**
 * Overrides that are known elsewhere: by the request (a plan in a verified token), or by a database (see
 * {@link cachedOverrides}). Called for every request and limit. `undefined` means the limit's own numbers. When it
 * throws, gives nonsense or takes longer than `overridesDeadlineMs`, the limit's own numbers apply and there is an
 * `override-failed` event.
 *
 * @param id - The canonical id.
 * @param request - The framework's own request, also for what `settle` and a handler charge afterwards; `undefined` when
 * the limiter is called without HTTP, as in `limiter.spend([…])`.
 */
export type OverrideFunction<Request = unknown> = (
  limit: string,
  id: string,
  request: Request | undefined,
) => Awaitable<Override | undefined>;

/** Asks the user's function, and stands in with the limit's own numbers when it fails. */
export class AskedOverrides {
  readonly #ask: OverrideFunction<never>;
  readonly #deadlines: Deadlines;
  readonly #notify: Notify;
  // Plans are few: their numbers are put on the grid once. A function that makes up new ones each time can't fill it.
  readonly #rates = new Map<string, OverrideRate>();

  constructor(ask: OverrideFunction<never>, deadlines: Deadlines, notify: Notify) {
    this.#ask = ask;
    this.#deadlines = deadlines;
    this.#notify = notify;
  }

  /** Never throws and never rejects. */
  readonly rateFor: RateLookup = (limit, id, request) => {
    try {
      const answer = adopted(this.#ask(limit.name, id, request as never));
      if (!(answer instanceof Promise)) return this.#rateOf(limit, answer);
      const late = (): Error => new Error('the overrides function did not answer within overridesDeadlineMs');
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
      message: `The overrides function failed for limit "${limit.name}" (${reasonOf(cause)}). The limit's own numbers were used.`,
    });
    return limit.rate;
  }
}
