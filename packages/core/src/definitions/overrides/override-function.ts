import { toNativePromise, type Awaitable } from '../../async/awaitable.ts';
import { reasonOf } from '../../checks/errors.ts';
import type { EventSink } from '../../events/event.ts';
import type { AnswerWaits } from '../../time/answer-waits.ts';
import { checkAtMost } from '../../kinds/rate/rate.ts';
import type { Limit, OverrideRate, RateLookup } from '../../limits/limit.ts';
import type { LimitKind } from '../../limits/limit-kind.ts';
import type { Numbers } from '../../rule/rate.ts';
import { kindOfLimit, type AnyKind } from '../../kinds/kind.ts';
import { overrideRate, type Override } from './override.ts';
import { PlanOptions, PlanRates, type PlanNumbers } from './plan-numbers.ts';

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
  readonly #waits: AnswerWaits;
  readonly #emit: EventSink;
  readonly #rates = new ConvertedOverrides();

  constructor(ask: OverrideFunction<never>, waits: AnswerWaits, emit: EventSink) {
    this.#ask = ask;
    this.#waits = waits;
    this.#emit = emit;
  }

  /** Never throws or rejects. */
  readonly rateFor: RateLookup = (limit, id, request) => {
    try {
      const answer = toNativePromise(this.#ask(limit.name, id, request as never));
      if (!(answer instanceof Promise)) return this.#rateOf(limit, answer);
      const late = (): Error => new Error('the overrides function did not answer within overridesDeadlineMs');
      return this.#waits
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

type Change = Exclude<Override, string>;

interface Converted {
  /** What its object had when it was converted; undefined for an object that can't change. */
  readonly numbers: PlanNumbers | undefined;
  readonly rate: OverrideRate;
}

/** Validates the answers of an overrides function, by the kind of the limit. */
class ConvertedOverrides {
  readonly #byKind = new Map<LimitKind, ConvertedPlans>();

  /**
   * Returns the numbers of an answer, or the limit's own for `undefined`.
   *
   * @throws {SluiceError} when the answer is not a valid override.
   */
  rateOf(limit: Limit<never>, override: Override | undefined): OverrideRate {
    if (override === undefined) return limit.rate;
    const kind = kindOfLimit(limit);
    if (typeof override !== 'object' || override === null) return overrideRate(whereOf(limit), override, kind);
    let plans = this.#byKind.get(kind);
    if (plans === undefined) this.#byKind.set(kind, (plans = new ConvertedPlans(kind)));
    const rate = plans.rateOf(limit, override);
    if (typeof rate !== 'string') kind.override?.check?.(limit.name, rate, limit);
    return rate;
  }
}

/** Converts the overrides of one kind to ticks: each plan once, not once per request. */
class ConvertedPlans {
  readonly #kind: AnyKind;
  readonly #options: PlanOptions;
  readonly #byObject = new WeakMap<object, Converted>();
  readonly #plans: PlanRates;

  constructor(kind: AnyKind) {
    this.#kind = kind;
    this.#options = new PlanOptions(kind.override?.options ?? {});
    this.#plans = new PlanRates(kind);
  }

  rateOf(limit: Limit<never>, override: Change): OverrideRate {
    const known = this.#byObject.get(override);
    const hasChanged = known?.numbers !== undefined && !this.#options.hasNumbers(override, known.numbers);
    if (known !== undefined && !hasChanged) return known.rate;
    const numbers = canChange(override) ? this.#options.numbersOf(override) : undefined;
    const rate = this.#convert(limit, override);
    this.#byObject.set(override, { numbers, rate });
    return rate;
  }

  #convert(limit: Limit<never>, override: Change): OverrideRate {
    return this.#plans.rateOf(override, () => overrideRate(whereOf(limit), override, this.#kind));
  }
}

function whereOf({ name }: Limit<never>): string {
  return `overrides(${name})`;
}

/** Whether an override may have other numbers later: by a getter, or in the object of its `borrow`, even if it is frozen. */
function canChange(override: Change): boolean {
  const properties = Object.values(Object.getOwnPropertyDescriptors(override));
  return !Object.isFrozen(override) || properties.some(({ value }) => value === undefined || typeof value === 'object');
}
