import { toNativePromise, type Awaitable } from '../../async/awaitable.ts';
import { reasonOf } from '../../checks/errors.ts';
import type { EventSink } from '../../events/event.ts';
import type { Deadlines } from '../../time/deadlines.ts';
import { checkAtMost } from '../../kinds/rate/rate.ts';
import type { Limit, OverrideRate, RateLookup } from '../../limits/limit.ts';
import type { Numbers } from '../../rule/rate.ts';
import { checkKind, overrideRate, type Override } from './override.ts';
import { checkBorrowingOf } from '../../kinds/borrow/override-totals.ts';
import { hasNumbers, numbersOf, textOf, type PlanNumbers } from './plan-numbers.ts';

/**
 * A function that returns overrides from elsewhere: from the request (a plan in a verified token), or from a database,
 * through a cache. It is called for each request and each limit that is not disabled. `undefined` means the limit's own
 * numbers. If it throws, returns an invalid override or takes longer than `overridesDeadlineMs`, the
 * limit's own numbers are used, and the limiter emits an event `override-failed`.
 *
 * @param id - The canonical id.
 * @param request - The framework's request, also for charges by `settle` and by handlers; `undefined` when the limiter
 * is called without HTTP, as in `limiter.spend([…])`.
 */
export type OverrideFunction<Request = unknown> = (
  limit: string,
  id: string,
  request: Request | undefined,
) => Awaitable<Override | undefined>;

/** Calls the user's function, and uses the limit's own numbers when it fails. */
export class AskedOverrides {
  readonly #ask: OverrideFunction<never>;
  readonly #deadlines: Deadlines;
  readonly #emit: EventSink;
  readonly #rates = new ConvertedOverrides();

  constructor(ask: OverrideFunction<never>, deadlines: Deadlines, emit: EventSink) {
    this.#ask = ask;
    this.#deadlines = deadlines;
    this.#emit = emit;
  }

  /** Never throws or rejects. */
  readonly rateFor: RateLookup = (limit, id, request) => {
    try {
      const answer = toNativePromise(this.#ask(limit.name, id, request as never));
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
    const rate = this.#rates.rateOf(limit, override);
    if (limit.bounds.length > 0 && typeof rate !== 'string') checkAtMost(`overrides(${limit.name})`, rate, limit);
    return rate;
  }

  #failed(limit: Limit<never>, id: string, cause: unknown): Numbers {
    this.#emit({
      type: 'override-failed',
      limit: limit.name,
      id,
      cause,
      message: `The overrides function failed for limit "${limit.name}" (${reasonOf(cause)}). The limit's own numbers were used.`,
    });
    return limit.rate;
  }
}

/** Plans are few. The bound is for a function that returns ever new numbers. */
const MAX_PLANS = 1000;

type Change = Exclude<Override, string>;

interface Converted {
  /** What its object had when it was converted; undefined for an object that can't change. */
  readonly numbers: PlanNumbers | undefined;
  readonly rate: OverrideRate;
}

/** Validates the answers of an overrides function and converts them to ticks: each plan once, not once per request. */
class ConvertedOverrides {
  readonly #byObject = new WeakMap<object, Converted>();
  readonly #byText = new Map<string, OverrideRate>();

  /**
   * Returns the numbers of an answer, or the limit's own for `undefined`.
   *
   * @throws {SluiceError} when the answer is not a valid override.
   */
  rateOf(limit: Limit<never>, override: Override | undefined): OverrideRate {
    if (override === undefined) return limit.rate;
    if (typeof override !== 'object' || override === null) return overrideRate(`overrides(${limit.name})`, override);
    const rate = this.#known(limit, override);
    // One object may be used for several limits.
    checkKind(limit.name, rate, limit);
    checkBorrowingOf(limit, rate);
    return rate;
  }

  #known(limit: Limit<never>, override: Change): OverrideRate {
    const known = this.#byObject.get(override);
    if (known !== undefined && (known.numbers === undefined || hasNumbers(override, known.numbers))) return known.rate;
    const numbers = canChange(override) ? numbersOf(override) : undefined;
    const rate = this.#convert(limit, override);
    this.#byObject.set(override, { numbers, rate });
    return rate;
  }

  #convert(limit: Limit<never>, override: Change): OverrideRate {
    const text = textOf(override);
    const known = text === undefined ? undefined : this.#byText.get(text);
    if (known !== undefined) return known;
    const rate = overrideRate(`overrides(${limit.name})`, override);
    if (this.#byText.size >= MAX_PLANS) this.#byText.clear();
    // One without a text is not valid, which has thrown.
    this.#byText.set(text!, rate);
    return rate;
  }
}

/** Whether an override may have other numbers later: by a getter, or in the object of its `borrow`, even if it is frozen. */
function canChange(override: Change): boolean {
  const properties = Object.values(Object.getOwnPropertyDescriptors(override));
  return !Object.isFrozen(override) || properties.some(({ value }) => value === undefined || typeof value === 'object');
}
