import type { Decided } from '../../decision/decided.ts';
import type { OwnAnswer } from '../../decision/own-answers.ts';
import type { Transaction } from '../../decision/transaction.ts';
import { mapKeyOf } from '../../store/bucket-key.ts';
import { levelAfter } from '../../store/transaction-rule.ts';
import type { Held, HeldSlots } from './held-slots.ts';
import { newHolder } from './holder.ts';
import type { SlotTerms } from './slot-terms.ts';

/** The slots that a pending decision is about to hold, by the index of their transaction. */
export type Claim = ReadonlyMap<number, Held>;

/** The claim of a decision that takes nothing. */
export const NO_CLAIM: Claim = new Map();

/** Claims slots before a store is asked, so that no other decision takes the same, and keeps those that were taken. */
export class Claims {
  readonly #held: HeldSlots;

  constructor(held: HeldSlots) {
    this.#held = held;
  }

  /**
   * Claims what a batch is about to take.
   *
   * @param own - What this process has answered itself, by the index in the batch.
   */
  of(batch: readonly Transaction[], own: ReadonlyMap<number, OwnAnswer>): Claim {
    const claim = new Map<number, Held>();
    for (const [i, transaction] of batch.entries()) {
      const { treatment, cost, mode } = transaction;
      const terms = treatment.holding as SlotTerms | undefined;
      const answer = own.get(i);
      if (terms === undefined || cost === 0 || mode === 'check-only') continue;
      if (answer !== undefined && !takes(transaction, answer.level)) continue;
      const slots = slotsOf(transaction, terms);
      this.#held.claim(slots);
      claim.set(i, slots);
    }
    return claim;
  }

  /** Keeps the slots that an allowed decision has taken of those that were claimed, and returns them. */
  keep(claim: Claim, decision: Decided): readonly Held[] {
    const kept: Held[] = [];
    for (const slots of claim.values()) {
      if (wereTaken(slots, decision)) {
        this.#held.keep(slots);
        kept.push(slots);
      } else this.#held.cancel(slots);
    }
    return kept;
  }

  /** Ends the claim of a decision that is not allowed. */
  giveUp(claim: Claim): void {
    for (const slots of claim.values()) this.#held.cancel(slots);
  }
}

function slotsOf(transaction: Transaction, terms: SlotTerms): Held {
  const { limit, id, cost: count } = transaction;
  const { expiryMs } = terms;
  return { limit, id, slots: true, holder: newHolder(), expiryMs, first: 1, count, terms, key: mapKeyOf(transaction) };
}

/** Whether a decision has taken slots that were claimed. */
function wereTaken({ limit, id }: Held, { batch, levelsTicks }: Decided): boolean {
  for (let i = 0; i < batch.length; i++)
    if (batch[i]!.limit === limit && batch[i]!.id === id) return takes(batch[i]!, levelsTicks[i]!);
  return false;
}

/** Whether a transaction of a batch that passes takes slots at a level. */
function takes(transaction: Transaction, level: number): boolean {
  return levelAfter(transaction, level) > level;
}
