import { randomNumbers } from '../../../scripts/random-numbers.mjs';
import { LIMITS, type Bucket, type LimitName, type Step, type Taking } from './steps.ts';

const MODES = ['check-and-spend', 'check-and-spend', 'check-and-spend', 'check-only', 'spend-only', 'charge'] as const;
const KINDS = [
  'spend',
  'spend',
  'spend',
  'spend',
  'check',
  'charge',
  'refund',
  'refund',
  'cap',
  'renew',
  'release',
  'reset',
] as const;
/** Up to how many tokens or slots: several, as before and after a limit was changed. */
const MOST = [10, 10, 10, 6, 14] as const;

/** What was taken last of a rate, for the refund of a decision. */
export interface Decision {
  readonly count: number;
  readonly tatAfterSpendTicks: number;
}

/** Makes random steps. Equal seeds make equal steps. */
export class RandomSteps {
  readonly #random: () => number;
  #holders = 0;

  constructor(seed: number) {
    this.#random = randomNumbers(seed);
  }

  /** @param last - The last decision by the rate of this id, if there was one. */
  step(id: string, last: Decision | undefined): Step {
    const kind = this.#one(KINDS);
    if (kind === 'spend' || kind === 'check') {
      const alternatives = Array.from({ length: this.#upTo(3) }, () => this.#batch(id));
      return { kind, alternatives };
    }
    if (kind === 'renew' || kind === 'release') {
      const holder = `h${Math.max(0, this.#holders - this.#upTo(40))}`;
      return { kind, limit: 'Slots', id, holder, first: this.#upTo(3), count: this.#upTo(3) };
    }
    if (kind === 'reset') return { kind, limit: this.#one(LIMITS), id };
    if (kind === 'refund' && last !== undefined && this.#upTo(2) === 1) return { kind, limit: 'Rate', id, ...last };
    const bucket: Bucket = { limit: this.#one(['Rate', 'Quota']), id };
    return { kind, ...bucket, count: this.#upTo(4), most: this.#one(MOST) };
  }

  /** The same in another order. */
  shuffled<T>(list: readonly T[]): readonly T[] {
    return list
      .map((each) => [this.#random(), each] as const)
      .toSorted(([a], [b]) => a - b)
      .map(([, each]) => each);
  }

  #batch(id: string): readonly Taking[] {
    const limits = this.shuffled(LIMITS).slice(0, this.#upTo(LIMITS.length));
    return limits.map((limit) => this.#taking(limit, id));
  }

  #taking(limit: LimitName, id: string): Taking {
    const mode = this.#one(MODES);
    const holder = `h${this.#holders++}`;
    return {
      limit,
      id,
      count: this.#upTo(4) - 1,
      most: this.#one(MOST),
      mode: limit === 'Slots' && mode === 'charge' ? 'spend-only' : mode,
      holder,
    };
  }

  #one<T>(list: readonly T[]): T {
    return list[Math.floor(this.#random() * list.length)]!;
  }

  /** A whole number from 1. */
  #upTo(most: number): number {
    return 1 + Math.floor(this.#random() * most);
  }
}
