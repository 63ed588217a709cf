import type { Mode } from '@sluice/core';
import type { Ask, AskEntry, AskKind } from './batch-request.ts';
import { decideScript } from './decide-script.ts';
import type { ScriptCall } from '../client/script-client.ts';
import { nonsense } from '../client/script-reply.ts';

/** The numbers of the kinds of transactions in decide.lua. */
const KIND_OF_MODE: Readonly<Record<Mode, number>> = { 'check-and-spend': 0, 'check-only': 1, 'spend-only': 2 };
const KIND_OF_ASK: Readonly<Record<Exclude<AskKind, 'spend'>, number>> = {
  check: 3,
  charge: 4,
  refund: 5,
  reset: 7,
  cap: 8,
};
const REFUND_OF_DECISION = 6;
const PLACE = 16;
const BATCHES = 2 ** 20;

/** How many of the last numbers are searched for an equal pair. It bounds the time for a batch with many limits. */
const LOOK_BACK = 16;

/** Batches that are sent in one call of decide.lua. The header of the script describes the encoding. */
export class DecideCall {
  readonly #asks: Ask[] = [];
  readonly #keys: string[] = [];
  /** The shapes of the batches: a number for the counts of batches and transactions, then a word per transaction. */
  readonly #shapes: number[] = [];
  readonly #numbers: number[] = [];
  /** The words of the batch that is being added. */
  readonly #words: number[] = [];
  readonly #deadlineMs: number;
  readonly #sinceMicros: number;
  #lastShape = 0;

  /** @param sinceMicros - When the first batch was added, by the process's own clock. */
  constructor(deadlineMs: number, sinceMicros: number) {
    this.#deadlineMs = deadlineMs;
    this.#sinceMicros = sinceMicros;
  }

  /** The number of transactions in the call. */
  get size(): number {
    return this.#keys.length;
  }

  get hasSeveralAsks(): boolean {
    return this.#asks.length > 1;
  }

  /** Whether a batch can be added: it has the same deadline, and the call has room for it. */
  takes({ deadlineMs, keys }: Ask, mostTransactions: number): boolean {
    return deadlineMs === this.#deadlineMs && this.size + keys.length <= mostTransactions;
  }

  add(ask: Ask): void {
    for (const key of ask.keys) this.#keys.push(key);
    this.#addShape(ask);
    this.#asks.push(ask);
  }

  /** Returns the script call to send at this time of the process's own clock. */
  toScriptCall(nowMicros: number): Required<ScriptCall> {
    return {
      script: decideScript,
      keys: this.#keys,
      args: [...this.#shapes, ...this.#numbers.toReversed()],
      deadlineMs: this.#deadlineMs,
      waitedMs: (nowMicros - this.#sinceMicros) / 1000,
    };
  }

  /** Splits the call into one call for each batch, in order, with the same deadline and the same start. */
  parted(): DecideCall[] {
    return this.#asks.map((ask) => {
      const call = new DecideCall(this.#deadlineMs, this.#sinceMicros);
      call.add(ask);
      return call;
    });
  }

  /**
   * @param reply - `[nowTicks, level …]`.
   * @param sentMicros - When the call was sent, by the process's own clock.
   */
  answer(reply: readonly unknown[], sentMicros: number): void {
    const numbers = reply as readonly number[];
    if (numbers.length !== 1 + this.size || !numbers.every(Number.isSafeInteger)) {
      return this.fail(nonsense(decideScript, reply));
    }
    let next = 1;
    for (const ask of this.#asks) {
      const levelsTicks = numbers.slice(next, (next += ask.keys.length));
      ask.answer({ nowTicks: numbers[0]!, levelsTicks }, sentMicros);
    }
  }

  fail(error: unknown): void {
    for (const ask of this.#asks) ask.fail(error);
  }

  // Batches with the same limits have the same shape. Consecutive batches of one shape share one copy of it.
  #addShape({ kind, batch }: Ask): void {
    const shapes = this.#shapes;
    const last = this.#lastShape;
    let isSame = shapes.length - last === 1 + batch.length;
    for (let i = 0; i < batch.length; i++) {
      const word = this.#wordOf(kind, batch[i]!);
      this.#words[i] = word;
      isSame &&= word === shapes[last + 1 + i];
    }
    if (isSame) {
      shapes[last]! += BATCHES;
      return;
    }
    this.#lastShape = shapes.push(BATCHES + batch.length) - 1;
    for (let i = 0; i < batch.length; i++) shapes.push(this.#words[i]!);
  }

  #wordOf(kind: AskKind, { mode, incrementTicks = 0, toleranceTicks = 0, tatAfterSpendTicks }: AskEntry): number {
    if (kind === 'spend') return KIND_OF_MODE[mode!] + this.#placeOf(incrementTicks, toleranceTicks);
    if (tatAfterSpendTicks === undefined || kind !== 'refund') {
      return KIND_OF_ASK[kind] + this.#placeOf(incrementTicks, toleranceTicks);
    }
    const place = this.#numbers.push(incrementTicks, toleranceTicks, tatAfterSpendTicks) - 3;
    return REFUND_OF_DECISION + place * PLACE;
  }

  #placeOf(increment: number, tolerance: number): number {
    const numbers = this.#numbers;
    const oldest = Math.max(0, numbers.length - LOOK_BACK);
    for (let i = numbers.length - 2; i >= oldest; i--) {
      if (numbers[i] === increment && numbers[i + 1] === tolerance) return i * PLACE;
    }
    return (numbers.push(increment, tolerance) - 2) * PLACE;
  }
}
