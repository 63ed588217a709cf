import { andThen, attempt, Rejected, type Awaitable } from '../async/awaitable.ts';
import type { Answered } from '../decision/batch-answer.ts';
import { decisionOf } from '../decision/decide.ts';
import { Decision } from '../decision/decision.ts';
import { withOwnAnswers, type OwnAnswer } from '../decision/own-answers.ts';
import type { Transaction } from '../decision/transaction.ts';
import type { Store } from '../store/store.ts';
import { levelAfter, passes, slotsTaken } from '../store/transaction-rule.ts';
import type { Time } from '../time/time.ts';
import { AbandonedSlots } from './abandoned-slots.ts';
import type { Held, HeldSlots } from './held-slots.ts';
import { newHolder } from './holder.ts';
import { IdleSlots } from './idle-slots.ts';
import type { EventSink } from '../events/event.ts';

type Call = 'spend' | 'check';
type Batch = readonly Transaction[];

/** The parts of a {@link SlotStage}. */
export interface SlotStageParts {
  readonly held: HeldSlots;
  readonly store: Store;
  /** The gate of the limiter, to which the decisions belong. */
  readonly owner: object;
  readonly time: Time;
  readonly emit: EventSink;
}

/** What one decision holds, or is about to. */
interface Claim {
  /** Slots of this process, or about which the store is asked, by the index of their transaction. */
  readonly reserved: Map<number, Held>;
  /** Idle slots that are used again. */
  readonly reused: readonly Held[];
}

const NOTHING: Claim = { reserved: new Map(), reused: [] };

/**
 * Decides batches with concurrency limits. What this process knows itself comes first: the limits with the scope
 * `process`, and those of which it has idle slots. When they deny, no store is asked and nothing is taken anywhere. When
 * the store denies, what was taken here is free again.
 */
export class SlotStage {
  readonly #parts: SlotStageParts;
  readonly #idle: IdleSlots;
  readonly #abandoned: AbandonedSlots;
  readonly #ofDecisions = new WeakMap<Decision, readonly Held[]>();
  /** Whether any decision has ever had slots. */
  #isUsed = false;

  constructor(parts: SlotStageParts) {
    this.#parts = parts;
    this.#idle = new IdleSlots(parts.held, parts.time);
    this.#abandoned = new AbandonedSlots(parts.held, parts.emit);
  }

  /**
   * @param ask - Decides the part of the batch for which the store is needed.
   */
  decide(call: Call, batch: Batch, ask: (rest: Batch) => Awaitable<Decision>): Awaitable<Decision> {
    const own = this.#ownAnswers(batch);
    if (isDenied(own)) return this.#ownDecision(own, false);
    const claim = call === 'spend' ? this.#claim(batch, own) : NOTHING;
    const rest = batch.flatMap((transaction, i) => (own.has(i) ? [] : [withLease(transaction, claim.reserved.get(i))]));
    if (rest.length === 0) return this.#finish(this.#ownDecision(own, call === 'spend'), claim);
    return andThen(
      attempt(() => ask(rest)),
      (decided) => {
        if (decided instanceof Rejected) {
          this.#giveUp(claim);
          throw decided.cause;
        }
        return this.#finish(withOwn(batch, own, decided, call === 'spend'), claim);
      },
    );
  }

  /** Releases the slots of a decision. Does nothing for one that has none, or whose slots are released already. */
  release(decision: Decision): Awaitable<void> {
    return this.#letGo(this.#endedBy(decision));
  }

  /** Stops to renew the slots of a decision: the store frees them when their leases end. */
  abandon(decision: Decision): void {
    this.#parts.held.abandon(this.#endedBy(decision));
  }

  /** Whether a decision has slots that are not released yet. */
  holds(decision: Decision): boolean {
    return this.#isUsed && this.#ofDecisions.has(decision);
  }

  /** Releases all slots. */
  close(): void {
    this.#idle.close();
    this.#parts.held.close();
  }

  /** Returns the slots of a decision, which then has none any more. */
  #endedBy(decision: Decision): readonly Held[] {
    const all = this.#ofDecisions.get(decision) ?? [];
    this.#ofDecisions.delete(decision);
    if (all.length > 0) this.#abandoned.unwatch(all);
    return all;
  }

  #ownAnswers(batch: Batch): Map<number, OwnAnswer> {
    const own = new Map<number, OwnAnswer>();
    for (const [i, transaction] of batch.entries()) {
      const level = this.#ownLevel(transaction);
      if (level !== undefined) own.set(i, { transaction, level });
    }
    return own;
  }

  #ownLevel(transaction: Transaction): number | undefined {
    const { slots } = transaction.treatment;
    if (slots === undefined) return undefined;
    if (slots.scope === 'process') return this.#parts.held.countOf(transaction);
    return this.#idle.levelFor(transaction, transaction.cost, transaction.fitTicks);
  }

  #claim(batch: Batch, own: ReadonlyMap<number, OwnAnswer>): Claim {
    const reserved = new Map<number, Held>();
    const reused: Held[] = [];
    for (const [i, transaction] of batch.entries()) {
      const { treatment, cost, fitTicks, mode } = transaction;
      const { slots: terms } = treatment;
      const answer = own.get(i);
      const isTaken = answer === undefined || levelAfter(transaction, answer.level) > answer.level;
      if (terms === undefined || cost === 0 || mode === 'check-only' || !isTaken) continue;
      if (answer !== undefined && terms.scope === 'store') {
        reused.push(...this.#idle.take(transaction, cost, fitTicks));
        continue;
      }
      const held = heldBy(transaction, { terms, fitTicks, count: cost });
      this.#parts.held.reserve(held);
      reserved.set(i, held);
    }
    return { reserved, reused };
  }

  #ownDecision(own: ReadonlyMap<number, OwnAnswer>, takes: boolean): Decision {
    const { store, owner } = this.#parts;
    const answers = [...own.values()];
    const batch = answers.map(({ transaction }) => transaction);
    const reading = { nowTicks: 0, levelsTicks: answers.map(({ level }) => level) };
    return decisionOf({ available: true, batch, reading, store, failure: undefined, owner }, takes);
  }

  #finish(decision: Decision, claim: Claim): Decision {
    if (claim === NOTHING) return decision;
    if (!decision.allowed) {
      this.#giveUp(claim);
      return decision;
    }
    const all = [...claim.reused];
    for (const held of claim.reserved.values()) all.push(...this.#keep(held, decision));
    if (all.length === 0) return decision;
    this.#isUsed = true;
    this.#ofDecisions.set(decision, all);
    this.#abandoned.watch(decision, all);
    return decision;
  }

  /** Keeps the slots that a decision has taken of those that were reserved. Returns those that it uses. */
  #keep(reserved: Held, decision: Decision): readonly Held[] {
    const { held } = this.#parts;
    const taken = takenSlots(reserved, Decision.answerOf(decision) as Answered);
    if (taken === undefined) {
      held.cancel(reserved);
      return [];
    }
    if (reserved.terms.block === 1) {
      held.keep(reserved);
      return [reserved];
    }
    // Single slots, because each is reused on its own.
    held.cancel(reserved);
    const single = Array.from({ length: taken.count }, (_, i): Held => ({ ...reserved, first: 1 + i, count: 1 }));
    for (const each of single) {
      held.reserve(each);
      held.keep(each);
    }
    this.#idle.add(single.slice(reserved.count), taken.level);
    return single.slice(0, reserved.count);
  }

  #giveUp({ reserved, reused }: Claim): void {
    for (const held of reserved.values()) this.#parts.held.cancel(held);
    void this.#letGo(reused);
  }

  /** Ends the use of slots. Those of a limit with a block become idle. */
  #letGo(all: readonly Held[]): Awaitable<void> {
    for (const held of all) if (held.terms.block > 1) this.#idle.add([held]);
    return this.#parts.held.release(all.filter(({ terms }) => terms.block === 1));
  }
}

function isDenied(own: ReadonlyMap<number, OwnAnswer>): boolean {
  const answers = [...own.values()];
  return !passes(
    answers.map(({ transaction }) => transaction),
    answers.map(({ level }) => level),
  );
}

function heldBy(
  { limit, id }: Transaction,
  { terms, fitTicks, count }: Pick<Held, 'terms' | 'fitTicks' | 'count'>,
): Held {
  const { leaseMs } = terms;
  return { limit, id, slots: true, holder: newHolder(), leaseMs, first: 1, count, terms, fitTicks };
}

function withLease(transaction: Transaction, held: Held | undefined): Transaction {
  const { slots: terms } = transaction.treatment;
  if (terms === undefined) return transaction;
  const { leaseMs, block } = terms;
  const upTo = block > 1 ? Math.max(block, transaction.cost) : undefined;
  return { ...transaction, lease: { holder: held?.holder ?? newHolder(), leaseMs, upTo } };
}

function withOwn(batch: Batch, own: ReadonlyMap<number, OwnAnswer>, decided: Decision, takes: boolean): Decision {
  const answer = Decision.answerOf(decided);
  if (own.size === 0 || !answer.available) return decided;
  return decisionOf(withOwnAnswers(batch, own, answer), takes);
}

/** Returns the number of slots that a decision has taken, and the level before; `undefined` if it has taken none. */
function takenSlots(
  { limit, id }: Held,
  { batch, reading }: Answered,
): { readonly count: number; readonly level: number } | undefined {
  const index = batch.findIndex((transaction) => transaction.limit === limit && transaction.id === id);
  if (index === -1) return undefined;
  const level = reading.levelsTicks[index]!;
  const count = slotsTaken(batch[index]!, level);
  return count === 0 ? undefined : { count, level };
}
