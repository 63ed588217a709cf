import type { Mode } from '@sluice/core';
import type { Ask, AskEntry, AskKind } from './ask.ts';
import { decideScript } from './decide-script.ts';
import type { ScriptCall } from './line/line.ts';

/** The kinds of transactions, as decide.lua numbers them. */
const KIND_OF_MODE: Readonly<Record<Mode, number>> = { 'check-and-spend': 0, 'check-only': 1, 'spend-only': 2 };
const KIND_OF_ASK: Readonly<Record<Exclude<AskKind, 'spend'>, number>> = { check: 3, charge: 4, refund: 5, reset: 7 };
const REFUND_OF_DECISION = 6;
const LAST_OF_BATCH = 8;
const PLACE = 16;

/** How far back equal numbers are looked for: the limits of a service are few, and those of a reset may be many. */
const LOOK_BACK = 16;

/** Batches that travel as one call of decide.lua, whose header says how they are written. */
export class DecideCall {
  readonly #asks: Ask[] = [];
  readonly #keys: string[] = [];
  readonly #numbers: number[] = [];
  readonly #words: number[] = [];
  #deadlineMs = Infinity;

  /** How many transactions are in it. */
  get size(): number {
    return this.#keys.length;
  }

  add(ask: Ask): void {
    const { kind, batch, keys } = ask;
    const last = batch.length - 1;
    for (let i = 0; i <= last; i++) {
      this.#keys.push(keys[i]!);
      this.#words.push(this.#wordOf(kind, batch[i]!) + (i === last ? LAST_OF_BATCH : 0));
    }
    this.#asks.push(ask);
    if (ask.deadlineMs < this.#deadlineMs) this.#deadlineMs = ask.deadlineMs;
  }

  /** @param waitedMs - How long its first batch has waited for the others. */
  toScriptCall(waitedMs: number): ScriptCall {
    const args = [this.#numbers.length, ...this.#numbers, ...this.#words];
    return { script: decideScript, keys: this.#keys, args, deadlineMs: this.#deadlineMs - waitedMs };
  }

  /** @param reply - `[nowTicks, level …]`. */
  answer(reply: readonly unknown[]): void {
    const nowTicks = Number(reply[0]);
    let next = 1;
    for (const ask of this.#asks) {
      const levelsTicks = reply.slice(next, (next += ask.keys.length)).map(Number);
      ask.answer(nowTicks, levelsTicks);
    }
  }

  fail(error: unknown): void {
    for (const ask of this.#asks) ask.fail(error);
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
