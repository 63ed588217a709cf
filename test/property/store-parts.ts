// Transactions as a store receives them, and the same as the exact rule does.
import type { StoreTransaction } from '@sluice/core/store';
import fc from 'fast-check';
import { roundedRule, type Asked, type Numbers, type Rule } from './oracle.ts';

/** The longest time that a bucket may take to fill. */
const TEN_YEARS_TICKS = 10 * 365 * 86_400 * 16_000_000;
const IDS = ['7', '8', '{9}:'] as const;
const MODES = ['check-and-spend', 'check-only', 'spend-only', 'charge'] as const;

/** One transaction, whatever the numbers of its limit are. */
export interface Part {
  readonly id: (typeof IDS)[number];
  /** Tokens, as a share of the burst, or as they are when it is negative. */
  readonly share: number;
  readonly mode: (typeof MODES)[number];
  /** Which of two sets of numbers: as before and after a limit was changed. */
  readonly numbers: 0 | 1;
  /** The shares of an empty bucket's level up to which it fits, and up to which a charge goes. */
  readonly room: number;
  readonly cap: number;
}

const part: fc.Arbitrary<Part> = fc.record({
  id: fc.constantFrom(...IDS),
  share: fc.oneof(fc.constantFrom(0, -1, -1, -2, 1), fc.double({ min: 0, max: 1, noNaN: true })),
  mode: fc.constantFrom('check-and-spend', ...MODES),
  numbers: fc.constantFrom(0, 0, 0, 1),
  room: fc.oneof(fc.constantFrom(1, 1, 1, 0.5, 0.8, 1.5), fc.double({ min: 0, max: 1, noNaN: true })),
  cap: fc.constantFrom(1, 1, 1.5, 2),
});

/** The transactions of one batch: up to three, of different buckets. */
export function distinctParts({ minLength }: { minLength: number }): fc.Arbitrary<Part[]> {
  return fc.uniqueArray(part, { minLength, maxLength: IDS.length, selector: ({ id }) => id });
}

/** Makes the transactions of parts by two sets of numbers. */
export class PartNumbers {
  readonly #numbers: readonly [Numbers, Numbers];
  readonly #idPrefix: string;

  constructor(numbers: readonly [Numbers, Numbers], idPrefix = '') {
    this.#numbers = numbers;
    this.#idPrefix = idPrefix;
  }

  transaction(each: Part): StoreTransaction {
    const { interval, tolerance } = this.#rule(each);
    return {
      limit: 'Only',
      id: this.#idPrefix + each.id,
      incrementTicks: this.#cost(each) * Number(interval),
      fitTicks: Math.min(Math.floor(Number(tolerance) * each.room), TEN_YEARS_TICKS),
      capTicks: Math.min(Math.floor(Number(tolerance) * each.cap), TEN_YEARS_TICKS),
      mode: each.mode,
    };
  }

  asked(each: Part): Asked {
    const { id, fitTicks, capTicks, mode } = this.transaction(each);
    const [fit, cap] = [BigInt(fitTicks), BigInt(capTicks)];
    return { bucket: id, rule: this.#rule(each), cost: this.#cost(each), mode, fit, cap };
  }

  #rule({ numbers }: Part): Rule {
    return roundedRule(this.#numbers[numbers]);
  }

  #cost({ share, numbers }: Part): number {
    const { burst } = this.#numbers[numbers];
    return share < 0 ? Math.min(-share, burst) : Math.floor(share * burst);
  }
}
