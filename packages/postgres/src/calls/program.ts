// The room calls: calls that wait, and several of them as one call of the function.
import { SluiceError } from '@sluice/core';
import {
  ServerClock,
  findStalePeriod,
  NUMBER_OF_KIND,
  NUMBER_OF_MODE,
  REFUND_OF_DECISION,
  withPeriods,
  type ServerEntry,
} from '@sluice/core/kit';
import { decidedReading, type StoreReading, type StoreTransaction } from '@sluice/core/store';
import type { CallKind, StoreCall } from './store-call.ts';

// The words of schema.sql.
const [PLAIN, IN_PERIOD, OF_SLOTS] = [0, 1, 2];
const FOREIGN = -1;
const EXPIRED = -5;

/** Whole numbers up to this are exact. As ticks, it is above every level. */
const MAX_NUMBER = 2 ** 53;
/** The end of a period later than this could not be counted in ticks. */
const LATEST_MS = 2 ** 48;

/**
 * A batch that takes from a bucket without a key: it finds and changes no row. The first call of a function on a connection
 * plans its statements, which takes PostgreSQL ten times as long as to execute them, so it is not to be one with a deadline.
 */
const REHEARSAL = [1, 0, MAX_NUMBER, 1, NUMBER_OF_MODE['check-and-spend'], PLAIN, 1, 1, 0, MAX_NUMBER, 0, 0];

/**
 * Several calls as one call of the function in schema.sql, whose comment describes the encoding. Without calls, it asks for
 * the clock of the server, and lets a new connection plan its statements.
 */
export class Program {
  /** The keys of the buckets, each once. */
  readonly keys: string[] = [];
  readonly holders: string[] = [];
  readonly #calls: readonly StoreCall[];
  readonly #places = new Map<string, number>();
  readonly #numbers: number[] = [];

  /** @param lastTicksOf - Returns the last moment at which a call may be executed, by the server's clock. */
  constructor(calls: readonly StoreCall[], lastTicksOf: (call: StoreCall) => number) {
    this.#calls = calls;
    for (const call of calls) this.#add(call, lastTicksOf(call));
    if (calls.length === 0) this.#push(...REHEARSAL);
  }

  /** The numbers as an array of PostgreSQL. */
  get numbers(): string {
    return `{${this.#numbers.join(',')}}`;
  }

  /**
   * Gives their readings to the calls.
   *
   * @param reply - The text that the function returned.
   * @returns The clock of the server, whether anything was changed, and the calls that were not executed because their last
   * moment had passed: they have no answer yet.
   * @throws {SluiceError} `ERR_STORE_ANSWER` if the reply is malformed.
   */
  answer(reply: unknown): ProgramAnswer {
    const numbers = String(reply).split(',').map(Number);
    const count = this.#calls.length === 0 ? 1 : this.#calls.reduce((sum, { keys }) => sum + keys.length, 0);
    if (numbers[0]! > Number.MAX_SAFE_INTEGER)
      throw new SluiceError('ERR_STORE_ANSWER', `${ServerClock.lateReason(numbers[0]!)}.`);
    if (numbers.length !== 2 + count || !numbers.every(Number.isSafeInteger)) throw malformedError(reply);
    const [nowTicks, changed] = numbers as [number, number];
    let next = 2;
    const expired: StoreCall[] = [];
    for (const call of this.#calls) {
      const levelsTicks = numbers.slice(next, (next += call.keys.length));
      if (levelsTicks[0] === EXPIRED) expired.push(call);
      else answerCall(call, { nowTicks, levelsTicks });
    }
    return { nowTicks, hasChanged: changed === 1, expired };
  }

  #add({ kind, batches, keys }: StoreCall, lastTicks: number): void {
    let next = 0;
    for (const [index, batch] of batches.entries()) {
      // The batches of a `check` are only read, and all of them.
      this.#push(batch.length, index > 0 && kind === 'spend' ? 1 : 0, lastTicks);
      for (const entry of batch) this.#addEntry(kind, entry, this.#placeOf(keys[next++]!));
    }
  }

  #addEntry(kind: CallKind, entry: ServerEntry, place: number): void {
    const { mode, incrementTicks = 0, fitTicks = 0, capTicks = 0, tatAfterSpendTicks, period, slots } = entry;
    const isDecision = kind === 'refund' && tatAfterSpendTicks !== undefined;
    const number = kind === 'spend' ? NUMBER_OF_MODE[mode!] : isDecision ? REFUND_OF_DECISION : NUMBER_OF_KIND[kind];
    const threshold = kind === 'spend' && mode !== 'charge' ? fitTicks : capTicks;
    if (slots === true) {
      const { holding, holder = holding?.holder ?? '', expiryMs = holding?.expiryMs ?? 0, count, first } = entry;
      const increment = count ?? incrementTicks;
      const holderPlace = this.holders.push(holder);
      return this.#push(place, number, OF_SLOTS, increment, first ?? threshold, expiryMs, holderPlace, 0, 0);
    }
    if (period !== undefined && kind !== 'reset') {
      const [start, end, next] = period.map((ms) => Math.min(ms, LATEST_MS)) as [number, number, number];
      return this.#push(place, number, IN_PERIOD, incrementTicks, threshold, tatAfterSpendTicks ?? 0, start, end, next);
    }
    // Without a queue, no level is above its line.
    const { lineTicks = MAX_NUMBER } = entry;
    this.#push(place, number, PLAIN, incrementTicks, threshold, tatAfterSpendTicks ?? 0, lineTicks, 0, 0);
  }

  #push(...numbers: readonly number[]): void {
    for (const number of numbers) this.#numbers.push(clamped(number));
  }

  #placeOf(key: string): number {
    let place = this.#places.get(key);
    if (place === undefined) this.#places.set(key, (place = this.keys.push(key)));
    return place;
  }
}

/** What a program was answered. */
export interface ProgramAnswer {
  readonly nowTicks: number;
  readonly hasChanged: boolean;
  readonly expired: readonly StoreCall[];
}

/** Replaces a number that PostgreSQL would reject, because it would fail all calls of the program. */
function clamped(number: number): number {
  if (Number.isSafeInteger(number)) return number;
  return number < 0 ? -MAX_NUMBER : MAX_NUMBER;
}

function answerCall(call: StoreCall, reading: StoreReading): void {
  const { levelsTicks } = reading;
  const entries = call.batches.flat();
  const stale = findStalePeriod(entries, reading);
  if (stale !== undefined) return call.fail(stale);
  const broken = levelsTicks.indexOf(FOREIGN);
  if (broken >= 0) return call.fail(brokenBucketError(call.keys[broken]!, reading.nowTicks));
  const whole = entries.some(({ period }) => period !== undefined) ? withPeriods(entries, reading) : reading;
  call.answer(decidedReading(call.batches as readonly (readonly StoreTransaction[])[], whole));
}

function brokenBucketError(key: string, nowTicks: number): SluiceError {
  const late = ServerClock.lateReason(nowTicks);
  if (late !== undefined) {
    const message = `The row of the bucket '${key}' does not contain one of this version. ${late}; otherwise shorten the limit.`;
    return new SluiceError('ERR_STORE_BUCKET', message);
  }
  return new SluiceError(
    'ERR_STORE_BUCKET',
    `The row of the bucket '${key}' does not contain one of this version. Reset the bucket or delete the row. If it happens again, ` +
      'something else writes to the table: give the store a `table` of its own.',
  );
}

function malformedError(reply: unknown): SluiceError {
  return new SluiceError('ERR_STORE_ANSWER', `PostgreSQL returned a malformed answer: ${String(reply).slice(0, 100)}`);
}
