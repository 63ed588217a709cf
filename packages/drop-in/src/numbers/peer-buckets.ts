import { createLimiter, type Decision, type Limiter, type LimitHandle, type Override, type Store } from '@sluice/core';
import { eventSink, systemTime, type EventSink } from '@sluice/core/kit';
import { bucketNumbers, type WindowNumbers } from './bucket-numbers.ts';
import { countsOf, readOf, type Counts } from './counts.ts';
import type { DropInOptions } from './drop-in-options.ts';
import { ANY_TEXT, idOf, NO_KEY } from './ids.ts';

type Settings = Pick<DropInOptions, 'store' | 'failure' | 'onEvent' | 'log' | 'time'>;

/** They define a limit whose numbers come with each use. */
const ANY_NUMBERS = { count: 1, period: '1s' };

/** How a decision by a key came about. */
export interface PeerDecision {
  readonly decision: Decision;
  readonly counts: Counts;
}

/** The buckets of one store of a library. The numbers come with each use, as those of overrides do. */
export class PeerBuckets {
  readonly #limiter: Limiter;
  readonly #limit: LimitHandle;
  readonly #emit: EventSink;
  readonly #wallNow: () => number;
  #hasWarned = false;
  /** The numbers of the call that is being made: a limiter asks for overrides before its call returns. */
  #numbers: Override = 'unlimited';
  #last: { readonly given: WindowNumbers; readonly numbers: Override } | undefined;

  /**
   * @param name - The name of the limit.
   * @param fixed - Its numbers, where all uses have the same: two stores of one name on one store must agree in them.
   * @throws {SluiceError} `ERR_LIMIT_IN_USE`, and for options that are wrong.
   */
  constructor(name: string, { store, failure, onEvent, log, time = systemTime }: Settings, fixed?: WindowNumbers) {
    const settings = { store, failure, onEvent, log, time };
    const numbers = fixed === undefined ? 'blocked' : bucketNumbers(fixed);
    const isOverridden = typeof numbers === 'string';
    this.#limiter = createLimiter({
      ...settings,
      limits: { [name]: { key: ANY_TEXT, ...(isOverridden ? ANY_NUMBERS : numbers) } },
      ...(isOverridden && { overrides: () => this.#numbers }),
    });
    this.#limit = this.#limiter.limit(name);
    this.#emit = eventSink(settings);
    this.#wallNow = () => time.wallNow();
  }

  /** Where the buckets are. */
  get store(): Store {
    return this.#limiter.store;
  }

  /** Decides a request, and takes its token if it is there. */
  async spend(id: string, given: WindowNumbers): Promise<PeerDecision> {
    this.#numbers = this.#converted(given);
    const decision = await this.#limit.spend(id);
    return { decision, counts: countsOf(decision, given) };
  }

  /** What {@link spend} would have shown for the requests before it. Takes nothing. */
  async read(id: string, given: WindowNumbers): Promise<Counts> {
    this.#numbers = this.#converted(given);
    const decision = await this.#limit.check(id, { cost: 0 });
    return readOf(decision, given);
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

  #converted(given: WindowNumbers): Override {
    const last = this.#last;
    if (last !== undefined && last.given.limit === given.limit && last.given.windowMs === given.windowMs)
      return last.numbers;
    const numbers = bucketNumbers(given);
    this.#last = { given, numbers };
    return numbers;
  }
}
