import { SluiceError } from '@sluice/core';
import {
  findStalePeriod,
  NUMBER_OF_KIND,
  NUMBER_OF_MODE,
  periodTicks,
  REFUND_OF_DECISION,
  withPeriods,
  type ServerEntry,
} from '@sluice/core/kit';
import type { CalendarPeriod, StoreReading } from '@sluice/core/store';
import { createHash } from 'node:crypto';
import { malformedReplyError, type Script } from '../client/script.ts';
import { ScriptRun } from '../client/script-run.ts';
import { errorPrefix } from '../client/server-errors.ts';
import type { BatchRequest, BatchKind, BatchRequestParts } from './batch-request.ts';
import { decideLua } from './decide-lua.ts';

/** The script of this store. It executes batches of all kinds, in order. */
export const decideScript: Script = {
  name: 'decide',
  source: decideLua,
  sha1: createHash('sha1').update(decideLua).digest('hex'),
};

const IN_PERIOD = 10;
const ON_SLOTS = 11;
/** Above every level: the limit has no queue. */
const NO_QUEUE_TICKS = 2 ** 53;
const POSITION = 16;
const BATCHES = 2 ** 20;
const ALTERNATIVE = 2 ** 19;

/** How many of the last numbers are searched for an equal pair. It bounds the time for a batch with many limits. */
const SEARCHED = 16;
/** The same for the seven numbers of a transaction with a period, and the five of one with slots. */
const SEARCHED_FOR_MORE = 8 * 7;

/** Batches that are sent in one call of decide.lua. The header of the script describes the encoding. */
export class ScriptBatch extends ScriptRun {
  readonly keys: string[] = [];
  /** When it was sent, by the process's own clock. */
  sentMicros = 0;
  readonly #requests: BatchRequest[] = [];
  /** The shapes of the batches: a number for the counts of batches and transactions, then a word per transaction. */
  readonly #shapes: number[] = [];
  readonly #numbers: number[] = [];
  readonly #resend: (alone: ScriptBatch) => void;
  #lastShape = 0;
  #hasPeriods = false;
  #hasSlots = false;

  /**
   * @param sinceMicros - When the first batch was added, by the process's own clock.
   * @param resend - Sends a call again that has only one of the batches.
   */
  constructor(deadlineMs: number, sinceMicros: number, resend: (alone: ScriptBatch) => void) {
    super(decideScript, deadlineMs, sinceMicros);
    this.#resend = resend;
  }

  /** The number of transactions in the call. */
  get size(): number {
    return this.keys.length;
  }

  /** Whether a batch can be added: it has the same deadline, and the call has room for it. */
  hasRoomFor({ deadlineMs, keys }: BatchRequest, maxTransactions: number): boolean {
    return deadlineMs === this.deadlineMs && this.size + keys.length <= maxTransactions;
  }

  add(request: BatchRequest): void {
    for (const key of request.keys) this.keys.push(key);
    const { kind, alternatives } = request;
    if (alternatives === undefined) this.#addShape(request, 0);
    // The script only reads those of a `check`, and looks at all.
    else
      for (const [i, one] of alternatives.entries()) this.#addShape(one, i === 0 || kind === 'check' ? 0 : ALTERNATIVE);
    this.#requests.push(request);
  }

  get args(): readonly (string | number)[] {
    const numbers = this.#numbers;
    const args: (string | number)[] = this.#hasSlots ? [...this.#shapes, ...this.#holders()] : [...this.#shapes];
    for (let i = numbers.length - 1; i >= 0; i--) args.push(numbers[i]!);
    return args;
  }

  /** @param reply - `[nowTicks, level …]`. */
  protected answer(reply: readonly unknown[]): void {
    const numbers = reply as readonly number[];
    if (numbers.length !== 1 + this.size || !areWhole(numbers)) {
      return this.fail(malformedReplyError(decideScript, reply));
    }
    let next = 1;
    for (const request of this.#requests) {
      const { length } = request.keys;
      const levelsTicks = length === 1 ? [numbers[next]!] : numbers.slice(next, next + length);
      next += length;
      const reading = { nowTicks: numbers[0]!, levelsTicks };
      if (this.#hasPeriods) answerInPeriods(request, reading, this.sentMicros);
      else request.answer(reading, this.sentMicros);
    }
  }

  // TRYAGAIN: a slot is being moved, and the keys of this call are on both nodes. Nothing was executed. Sent alone, only a
  // batch that itself has keys on both nodes fails.
  protected fail(error: unknown): void {
    const isSplit =
      error instanceof SluiceError && errorPrefix(error.cause) === 'TRYAGAIN' && this.#requests.length > 1;
    for (const request of this.#requests) {
      if (isSplit) this.#sendAlone(request);
      else request.fail(error);
    }
  }

  #sendAlone(request: BatchRequest): void {
    const alone = new ScriptBatch(this.deadlineMs, this.sinceMicros, this.#resend);
    alone.add(request);
    this.#resend(alone);
  }

  #holders(): readonly string[] {
    return this.#requests.flatMap(({ batch }) => batch.map(({ holding, holder }) => holding?.holder ?? holder ?? ''));
  }

  // Batches with the same limits have the same shape. Consecutive batches of one shape share one copy of it.
  #addShape({ kind, batch }: BatchRequestParts, mark: number): void {
    const shapes = this.#shapes;
    const last = this.#lastShape;
    const added = shapes.length;
    const size = mark + batch.length;
    shapes.push(BATCHES + size);
    let isSame = last < added && shapes[last]! % BATCHES === size;
    for (let i = 0; i < batch.length; i++) {
      const word = this.#wordOf(kind, batch[i]!);
      shapes.push(word);
      isSame &&= word === shapes[last + 1 + i];
    }
    if (isSame) {
      shapes.length = added;
      shapes[last]! += BATCHES;
    } else this.#lastShape = added;
  }

  #wordOf(kind: BatchKind, entry: ServerEntry): number {
    const { mode, incrementTicks = 0, fitTicks = 0, capTicks = 0, tatAfterSpendTicks, period } = entry;
    const { lineTicks = NO_QUEUE_TICKS } = entry;
    if (entry.slots === true) return this.#wordOnSlots(kind, entry);
    if (period !== undefined && kind !== 'reset') return this.#wordInPeriod(kind, entry, period);
    if (kind === 'spend') {
      return NUMBER_OF_MODE[mode!] + this.#positionOf(incrementTicks, mode === 'charge' ? capTicks : fitTicks);
    }
    if (tatAfterSpendTicks === undefined || kind !== 'refund') {
      return NUMBER_OF_KIND[kind] + this.#positionOf(incrementTicks, capTicks);
    }
    const position = this.#numbers.push(incrementTicks, capTicks, tatAfterSpendTicks, lineTicks) - 4;
    return REFUND_OF_DECISION + position * POSITION;
  }

  #wordInPeriod(kind: Exclude<BatchKind, 'reset'>, entry: ServerEntry, period: CalendarPeriod): number {
    this.#hasPeriods = true;
    const { mode, incrementTicks = 0, fitTicks = 0, capTicks = 0, tatAfterSpendTicks } = entry;
    const isDecision = kind === 'refund' && tatAfterSpendTicks !== undefined;
    const number = kind === 'spend' ? NUMBER_OF_MODE[mode!] : isDecision ? REFUND_OF_DECISION : NUMBER_OF_KIND[kind];
    const threshold = kind === 'spend' && mode !== 'charge' ? fitTicks : capTicks;
    const numbers = [incrementTicks, threshold, number, tatAfterSpendTicks ?? 0, ...periodTicks(period)];
    return IN_PERIOD + this.#positionOfAll(numbers) * POSITION;
  }

  #wordOnSlots(kind: BatchKind, entry: ServerEntry): number {
    this.#hasSlots = true;
    const { mode, incrementTicks = 0, fitTicks = 0, holding } = entry;
    const { count = incrementTicks, first = fitTicks, expiryMs = holding?.expiryMs ?? 0 } = entry;
    const number = kind === 'spend' ? NUMBER_OF_MODE[mode!] : NUMBER_OF_KIND[kind];
    return ON_SLOTS + this.#positionOfAll([count, first, number, expiryMs]) * POSITION;
  }

  #positionOfAll(given: readonly number[]): number {
    const numbers = this.#numbers;
    const oldest = Math.max(0, numbers.length - SEARCHED_FOR_MORE);
    for (let i = numbers.length - given.length; i >= oldest; i--) {
      if (given.every((number, j) => number === numbers[i + j])) return i;
    }
    return numbers.push(...given) - given.length;
  }

  #positionOf(increment: number, threshold: number): number {
    const numbers = this.#numbers;
    const oldest = Math.max(0, numbers.length - SEARCHED);
    for (let i = numbers.length - 2; i >= oldest; i--) {
      if (numbers[i] === increment && numbers[i + 1] === threshold) return i * POSITION;
    }
    return (numbers.push(increment, threshold) - 2) * POSITION;
  }
}

function areWhole(numbers: readonly number[]): boolean {
  for (let i = 0; i < numbers.length; i++) if (!Number.isSafeInteger(numbers[i])) return false;
  return true;
}

function answerInPeriods(request: BatchRequest, reading: StoreReading, sentMicros: number): void {
  const error = findStalePeriod(request.batch, reading);
  if (error === undefined) request.answer(withPeriods(request.batch, reading), sentMicros);
  else request.fail(error);
}
