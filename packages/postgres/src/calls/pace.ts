import { SluiceError, type Time } from '@sluice/core';
import type { CallQueue } from '@sluice/core/kit';
import { MAX_BUCKETS } from './pieces.ts';
import type { StoreCall } from './store-call.ts';

/** A statement may take so many times as long as the one before. */
const CAUTION = 1.5;

/** As long a statement is thought to take before one was answered, in microseconds. */
const FIRST_MICROS = 1000;

/** How quickly PostgreSQL answers, and whether calls are late because there are more of them than it can answer. */
export class Pace {
  readonly #time: Time;
  /** When the calls that are being executed were sent, in microseconds. */
  #sentMicros: number | undefined;
  #isFull = false;
  /** How long a statement with many calls takes, in microseconds. */
  #lastedMicros = FIRST_MICROS;
  /** When more calls waited than a statement has, the last time, in microseconds. */
  #crowdedMicros = -Infinity;

  constructor(time: Time) {
    this.#time = time;
  }

  /** Whether calls were sent and not answered. */
  get isAwaiting(): boolean {
    return this.#sentMicros !== undefined;
  }

  /** Takes note of a statement that is sent now. */
  sent(calls: readonly StoreCall[]): void {
    const nowMicros = this.#time.nowMicros();
    for (const call of calls) call.sentMicros = nowMicros;
    if (calls.length > 0) this.#sentMicros = nowMicros;
    this.#isFull = calls.length >= MAX_BUCKETS / 2;
  }

  answered(): void {
    if (this.#isFull && this.#sentMicros !== undefined) {
      // It rises slowly: an answer that this process was too busy to read says little about the next one.
      const lastedMicros = this.#time.nowMicros() - this.#sentMicros;
      this.#lastedMicros = Math.min(lastedMicros, this.#lastedMicros * CAUTION);
    }
    this.#sentMicros = undefined;
  }

  failed(): void {
    this.#sentMicros = undefined;
  }

  /**
   * Takes the calls that would be answered too late: those whose deadline has passed while this process was busy, and others
   * while more calls wait than a statement has, so that those who are in time take their place.
   */
  takeLate(queue: CallQueue<StoreCall>): readonly StoreCall[] {
    const nowMicros = this.#time.nowMicros();
    const answerMicros = nowMicros + this.#lastedMicros * CAUTION;
    const late: StoreCall[] = [];
    for (let { first } = queue; first !== undefined; { first } = queue) {
      if (first.dueMicros > (queue.size > MAX_BUCKETS ? answerMicros : nowMicros)) break;
      late.push(queue.take()!);
    }
    if (late.length > 0) this.#crowdedMicros = nowMicros;
    return late;
  }

  /**
   * Takes the calls of the next statement: one, and more while they have no more than {@link MAX_BUCKETS} buckets together.
   * They are the oldest, or the youngest while the oldest have little time left: if a statement takes longer than it seems,
   * each would otherwise have the calls that are about to miss their deadline.
   */
  takeNext(queue: CallQueue<StoreCall>): readonly StoreCall[] {
    const { first } = queue;
    if (first === undefined) return [];
    const leftMicros = first.dueMicros - this.#time.nowMicros();
    const isUrgent = queue.size > MAX_BUCKETS && leftMicros < (first.deadlineMs * 1000) / 4;
    const taken = isUrgent
      ? takeUp(
          () => queue.last,
          () => queue.takeLast(),
        ).toReversed()
      : takeUp(
          () => queue.first,
          () => queue.take(),
        );
    if (queue.first !== undefined) this.#crowdedMicros = this.#time.nowMicros();
    return taken;
  }

  /**
   * Whether a call was late because this process asked too much at once, or was busy, and not because PostgreSQL does not
   * answer. If it does not, its connection is closed soon, and that is a failure for all.
   */
  isOverload({ madeMicros, dueMicros, deadlineMs, sentMicros }: StoreCall): boolean {
    if (this.#crowdedMicros >= madeMicros) return true;
    if (sentMicros !== undefined) return dueMicros - sentMicros < this.#lastedMicros * CAUTION;
    // A call waits for the statement before, or for a connection.
    return this.#sentMicros !== undefined && this.#time.nowMicros() - this.#sentMicros < deadlineMs * 1000;
  }
}

function takeUp(next: () => StoreCall | undefined, take: () => unknown): readonly StoreCall[] {
  const taken: StoreCall[] = [];
  let buckets = 0;
  for (let call = next(); call !== undefined; call = next()) {
    buckets += Math.max(1, call.keys.length);
    if (taken.length > 0 && buckets > MAX_BUCKETS) break;
    take();
    taken.push(call);
  }
  return taken;
}

/**
 * One error for all calls of the same deadline that are late. There may be thousands in a turn, and making an error for each
 * takes several times as long as everything else that is done for a late call.
 */
export class SharedError {
  readonly #make: (deadlineMs: number) => SluiceError;
  #made: { readonly deadlineMs: number; readonly error: SluiceError } | undefined;

  constructor(make: (deadlineMs: number) => SluiceError) {
    this.#make = make;
  }

  of(deadlineMs: number): SluiceError {
    if (this.#made?.deadlineMs !== deadlineMs) this.#made = { deadlineMs, error: this.#make(deadlineMs) };
    return this.#made.error;
  }
}

export function overloadError(deadlineMs: number): SluiceError {
  return new SluiceError(
    'ERR_STORE_OVERLOAD',
    `This process has made more calls at once than PostgreSQL answers within their deadline of ${deadlineMs} ms, or was busy for ` +
      'so long. Make fewer at a time, raise the deadline, or use a faster store.',
  );
}

export function missedError(deadlineMs: number): SluiceError {
  return new SluiceError('ERR_STORE_DEADLINE', `PostgreSQL did not answer within ${deadlineMs} ms.`);
}
