import {
  createLimiter,
  type Awaitable,
  type Decision,
  type Limiter,
  type LimitHandle,
  type Override,
  type Store,
} from '@sluice/core';
import { eventSink, systemTime, type EventSink } from '@sluice/core/kit';
import { bucketNumbers, type WindowNumbers } from './bucket-numbers.ts';
import type { DropInOptions } from './drop-in-options.ts';
import { ANY_TEXT, idOf, NO_KEY } from './ids.ts';

type Settings = Pick<DropInOptions, 'store' | 'failure' | 'onEvent' | 'log' | 'time'>;

/** They define a limit whose numbers come with each use. */
const ANY_NUMBERS = { count: 1, period: '1s' };

/** The buckets of one store of a library. The numbers come with each use, as those of overrides do. */
export class PeerBuckets {
  readonly #limiter: Limiter;
  readonly #limit: LimitHandle;
  readonly #answersAtOnce: boolean;
  /** Whether its numbers come with each use. */
  readonly #isOverridden: boolean;
  readonly #emit: EventSink;
  readonly #wallNow: () => number;
  #hasWarned = false;
  /** The numbers of the call that is being made: a limiter asks for overrides before its call returns. */
  #numbers: Override = 'unlimited';
  /** What they were made of. */
  #converted: WindowNumbers | undefined;

  /**
   * @param name - The name of the limit.
   * @param fixed - Its numbers, where all uses have the same: two stores of one name on one store must agree in them.
   * @throws {SluiceError} `ERR_LIMIT_IN_USE`, and for options that are wrong.
   */
  constructor(name: string, { store, failure, onEvent, log, time = systemTime }: Settings, fixed?: WindowNumbers) {
    const settings = { store, failure, onEvent, log, time };
    const numbers = fixed === undefined ? 'blocked' : bucketNumbers(fixed);
    const isOverridden = typeof numbers === 'string';
    this.#isOverridden = isOverridden;
    this.#limiter = createLimiter({
      ...settings,
      limits: { [name]: { key: ANY_TEXT, ...(isOverridden ? ANY_NUMBERS : numbers) } },
      ...(isOverridden && { overrides: () => this.#numbers }),
    });
    this.#limit = this.#limiter.limit(name);
    this.#answersAtOnce = this.store.traits?.answersAtOnce === true;
    this.#emit = eventSink(settings);
    this.#wallNow = () => time.wallNow();
  }

  /** Where the buckets are. */
  get store(): Store {
    return this.#limiter.store;
  }

  /** Decides a request, and takes its token if it is there. Throws or rejects with the errors of a limiter. */
  spend(id: string, given: WindowNumbers): Awaitable<Decision> {
    if (this.#isOverridden) this.#convert(given);
    return this.#answersAtOnce ? this.#limit.spendSync(id) : this.#limit.spend(id);
  }

  /** Decides a request, and takes nothing. */
  async check(id: string, given: WindowNumbers): Promise<Decision> {
    if (this.#isOverridden) this.#convert(given);
    return this.#limit.check(id);
  }

  /** Gives back what is left of what a decision took: once, and nothing for one that was denied. */
  async refund(decision: Decision): Promise<void> {
    await this.#limiter.refund(decision);
  }

  async reset(id: string): Promise<void> {
    await this.#limiter.reset([{ limit: this.#limit.name, id }]);
  }

  /** Closes a memory store of its own; a store that was passed stays open for others. */
  async close(): Promise<void> {
    await this.#limiter.close();
  }

  /** @throws {SluiceError} `ERR_KEY`. */
  idOf(key: unknown): string {
    const id = idOf(key);
    if (id === NO_KEY && !this.#hasWarned) {
      this.#hasWarned = true;
      this.warn(
        'A request had no key: it was empty or undefined. All such requests count together. Is keyGenerator right?',
      );
    }
    return id;
  }

  warn(message: string): void {
    this.#emit({ type: 'warning', message, once: true });
  }

  /** The time at which a wait that begins now is over. */
  dateAfter(ms: number): Date {
    return new Date(Math.ceil(this.#wallNow() + ms));
  }

  #convert(given: WindowNumbers): void {
    const last = this.#converted;
    if (last?.limit === given.limit && last.windowMs === given.windowMs) return;
    this.#converted = given;
    this.#numbers = bucketNumbers(given);
  }
}
