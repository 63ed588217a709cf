import type { Awaitable } from '../../async/awaitable.ts';
import type { Answered } from '../../decision/batch-answer.ts';
import { Decision } from '../../decision/decision.ts';
import type { OwnAnswer } from '../../decision/own-answers.ts';
import type { Transaction } from '../../decision/transaction.ts';
import type { SlotTerms } from '../../limits/treatment.ts';
import { levelAfter, slotsTaken } from '../../store/transaction-rule.ts';
import type { Time } from '../../time/time.ts';
import type { Held, HeldSlots } from './held-slots.ts';
import { newHolder } from './holder.ts';
import type { IdleSlots } from './idle-slots.ts';

/** What a pending decision is about to hold. */
export interface Claim {
  /** Slots of this process, or about which the store is asked, by the index of their transaction. */
  readonly reserved: ReadonlyMap<number, Held>;
  /** Idle slots that are used again. */
  readonly reused: readonly Held[];
}

/** What this process has answered itself. */
export interface SlotAnswer extends OwnAnswer {
  /** The idle slots by which it has. Undefined for a limit of this process. */
  readonly idle: readonly Held[] | undefined;
}

/** The claim of a decision that takes nothing. */
export const NO_CLAIM: Claim = { reserved: new Map(), reused: [] };

interface ClaimsParts {
  readonly held: HeldSlots;
  readonly idle: IdleSlots;
  readonly time: Time;
}

/** Claims slots before a store is asked, so that no other decision takes the same, and keeps those that were taken. */
export class Claims {
  readonly #parts: ClaimsParts;

  constructor(parts: ClaimsParts) {
    this.#parts = parts;
  }

  /**
   * Claims what a batch is about to take.
   *
   * @param own - What this process has answered itself, by the index in the batch.
   */
  of(batch: readonly Transaction[], own: ReadonlyMap<number, SlotAnswer>): Claim {
    const { held, idle, time } = this.#parts;
    const reserved = new Map<number, Held>();
    const reused: Held[] = [];
    for (const [i, transaction] of batch.entries()) {
      const { treatment, cost, mode } = transaction;
      const { slots: terms } = treatment;
      const answer = own.get(i);
      const isTaken = answer === undefined || levelAfter(transaction, answer.level) > answer.level;
      if (terms === undefined || cost === 0 || mode === 'check-only' || !isTaken) continue;
      if (answer?.idle !== undefined) {
        idle.take(transaction, answer.idle);
        reused.push(...answer.idle);
        continue;
      }
      const slots = slotsOf(transaction, terms, time);
      held.reserve(slots);
      reserved.set(i, slots);
    }
    return { reserved, reused };
  }

  /** Keeps the slots that an allowed decision has taken of those that were claimed. Returns those that it uses. */
  keep({ reserved, reused }: Claim, decision: Decision): readonly Held[] {
    const answer = Decision.answerOf(decision) as Answered;
    return [...reused, ...Array.from(reserved.values(), (slots) => this.#kept(slots, answer)).flat()];
  }

  /** Ends the claim of a decision that is not allowed. */
  giveUp({ reserved, reused }: Claim): void {
    for (const slots of reserved.values()) this.#parts.held.cancel(slots);
    void this.letGo(reused);
  }

  /** Ends the use of slots. Some of those of a limit with a reserve become idle. */
  letGo(all: readonly Held[]): Awaitable<void> {
    const { held, idle } = this.#parts;
    return held.release(idle.add(all));
  }

  #kept(reserved: Held, answer: Answered): readonly Held[] {
    const { held } = this.#parts;
    const taken = takenOf(reserved, answer);
    if (taken === undefined) {
      held.cancel(reserved);
      return [];
    }
    const isInStore = answer.failure === undefined;
    // After an outage, a renewal brings them into the store.
    if (!isInStore) reserved.reusableUntilMicros = 0;
    if (isInStore && reserved.terms.reserve > 1) return this.#keptOfReserve(reserved, taken);
    held.keep(reserved);
    return [reserved];
  }

  #keptOfReserve(reserved: Held, taken: TakenSlots): readonly Held[] {
    const { held, idle } = this.#parts;
    held.cancel(reserved);
    const single = singleSlots(reserved, taken);
    for (const slot of single) {
      held.reserve(slot);
      held.keep(slot);
    }
    void held.release(idle.add(single.slice(reserved.count), taken.level));
    return single.slice(0, reserved.count);
  }
}

function slotsOf({ limit, id, cost: count }: Transaction, terms: SlotTerms, time: Time): Held {
  const { expiryMs } = terms;
  // Nobody gives back what another request has left, where its timers have ended with it.
  const reusableUntilMicros = time.timersEndWithRequest === true ? 0 : time.nowMicros() + expiryMs * 1000;
  return { limit, id, slots: true, holder: newHolder(), expiryMs, first: 1, count, terms, reusableUntilMicros };
}

/** Each slot of a reserve on its own, because each is used again on its own. */
function singleSlots(all: Held, { count, level }: TakenSlots): readonly Held[] {
  return Array.from({ length: count }, (_, i) => ({ ...all, first: 1 + i, count: 1, level: level + 1 + i }));
}

interface TakenSlots {
  readonly count: number;
  /** The level before. */
  readonly level: number;
}

/** Returns what a decision has taken of a bucket; `undefined` if it has taken nothing. */
function takenOf({ limit, id }: Held, { batch, reading }: Answered): TakenSlots | undefined {
  const index = batch.findIndex((transaction) => transaction.limit === limit && transaction.id === id);
  if (index === -1) return undefined;
  const level = reading.levelsTicks[index]!;
  const count = slotsTaken(batch[index]!, level);
  return count === 0 ? undefined : { count, level };
}
