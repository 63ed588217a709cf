import type { Mode } from '@sluice/core';
import type { Ask, AskEntry, AskKind } from './ask.ts';
import { decideScript } from './decide-script.ts';
import type { ScriptCall } from './line/line.ts';
import { nonsense } from './line/script-reply.ts';

/** The kinds of transactions, as decide.lua numbers them. */
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

/** How far back equal numbers are looked for: the limits of a service are few, and those of a reset may be many. */
const LOOK_BACK = 16;

/** Batches that travel as one call of decide.lua, whose header says how they are written. */
export class DecideCall {
  readonly #asks: Ask[] = [];
  readonly #keys: string[] = [];
  /** Shapes of batches, one after the other: how many batches and how many transactions, and a word for each of these. */
  readonly #shapes: number[] = [];
  readonly #numbers: number[] = [];
  /** The words of the batch that is being added. */
  readonly #words: number[] = [];
  readonly #deadlineMs: number;
  readonly #sinceMicros: number;
  #lastShape = 0;

  /** @param sinceMicros - When its first ask came, by the process's own clock. */
  constructor(deadlineMs: number, sinceMicros: number) {
    this.#deadlineMs = deadlineMs;
    this.#sinceMicros = sinceMicros;
  }

  /** How many transactions are in it. */
  get size(): number {
    return this.#keys.length;
  }

  get hasSeveralAsks(): boolean {
    return this.#asks.length > 1;
  }

  /** Whether one more may travel with it: it waits as long, and there is room. */
  takes({ deadlineMs, keys }: Ask, mostTransactions: number): boolean {
    return deadlineMs === this.#deadlineMs && this.size + keys.length <= mostTransactions;
  }

  add(ask: Ask): void {
    for (const key of ask.keys) this.#keys.push(key);
    this.#addShape(ask);
    this.#asks.push(ask);
  }

  /** What is sent at this moment of the process's own clock. */
  toScriptCall(nowMicros: number): Required<ScriptCall> {
    return {
      script: decideScript,
      keys: this.#keys,
      args: [...this.#shapes, ...this.#numbers.toReversed()],
      deadlineMs: this.#deadlineMs,
      waitedMs: (nowMicros - this.#sinceMicros) / 1000,
    };
  }

  /** One call for each ask, in order, which have waited as long as this one. */
  parted(): DecideCall[] {
    return this.#asks.map((ask) => {
      const call = new DecideCall(this.#deadlineMs, this.#sinceMicros);
      call.add(ask);
      return call;
    });
  }

  /**
   * @param reply - `[nowTicks, level …]`.
   * @param sentMicros - When it was sent, by the process's own clock.
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

  // Requests that meet the same limits are of one shape: it is sent once for all that follow each other.
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
