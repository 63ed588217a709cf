import type { LimitNumbers } from '../../rule/rate.ts';
import type { Limit } from '../limit.ts';
import { overrideRate, type Override, type OverrideRate } from './override.ts';

/** Plans are few. The bound is for a function that returns ever new numbers. */
const MAX_PLANS = 1000;

interface Converted {
  readonly numbers: LimitNumbers;
  readonly rate: OverrideRate;
}

/** Validates the answers of an overrides function and converts them to ticks: each plan once, not once per request. */
export class ConvertedOverrides {
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
    const known = this.#byObject.get(override);
    if (known !== undefined && hasNumbers(override, known.numbers)) return known.rate;
    const rate = this.#convert(limit, override);
    const { burst, count, period } = override;
    this.#byObject.set(override, { numbers: { burst, count, period }, rate });
    return rate;
  }

  #convert(limit: Limit<never>, override: LimitNumbers): OverrideRate {
    const text = JSON.stringify(override);
    const known = this.#byText.get(text);
    if (known !== undefined) return known;
    const rate = overrideRate(`overrides(${limit.name})`, override);
    if (this.#byText.size >= MAX_PLANS) this.#byText.clear();
    this.#byText.set(text, rate);
    return rate;
  }
}

// A function may change the numbers of one object and return it again.
function hasNumbers(override: LimitNumbers, { burst, count, period }: LimitNumbers): boolean {
  return override.burst === burst && override.count === count && override.period === period;
}
