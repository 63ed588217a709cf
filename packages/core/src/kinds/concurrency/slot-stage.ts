import type { Awaitable } from '../../async/awaitable.ts';
import { Decided, stateOf } from '../../decision/decided.ts';
import { withOwnAnswers, type OwnAnswer } from '../../decision/own-answers.ts';
import type { DecisionCall, Rest, Stage } from '../../decision/stage.ts';
import { changed, type Transaction, type Batch } from '../../decision/transaction.ts';
import type { EventSink } from '../../events/event.ts';
import type { Store } from '../../store/store.ts';
import { passes } from '../../store/transaction-rule.ts';
import { AbandonedSlots } from './abandoned-slots.ts';
import { Claims, NO_CLAIM, type Claim } from './claims.ts';
import { DecisionSlots, type DecisionSlotsParts } from './decision-slots.ts';
import type { Held, HeldSlots } from './held-slots.ts';
import { newHolder } from './holder.ts';
import type { SlotTerms } from './slot-terms.ts';

/** The parts of a {@link SlotStage}. */
export interface SlotStageParts {
  readonly held: HeldSlots;
  readonly store: Store;
  readonly emit: EventSink;
}

/**
 * Decides batches with concurrency limits. What this process knows itself comes first: the limits with the scope
 * `process`. When they deny, no store is asked and nothing is taken anywhere. When the store denies, what was taken here is
 * free again.
 */
export class SlotStage implements Stage {
  readonly isActive = true;
  readonly concerns: Stage['concerns'] = hasSlots;
  readonly #parts: SlotStageParts;
  readonly #claims: Claims;
  readonly #ofDecisions: DecisionSlotsParts;

  constructor(parts: SlotStageParts) {
    const { held, emit } = parts;
    this.#parts = parts;
    this.#claims = new Claims(held);
    this.#ofDecisions = { held, abandoned: new AbandonedSlots(held, emit), emit };
  }

  /** Leaves the part of a batch for which the store is needed to the stages that follow. */
  decide(call: DecisionCall, batch: Batch, stages: Rest): Awaitable<Decided> {
    const own = this.#ownAnswers(batch);
    if (own.size > 0 && isDenied(own)) return this.#ownDecision(own, stages.owner, -1);
    const takes = call === 'spend';
    const claim = takes ? this.#claims.of(batch, own) : NO_CLAIM;
    const rest: Transaction[] = [];
    for (let i = 0; i < batch.length; i++) if (!own.has(i)) rest.push(withHolding(batch[i]!, claim.get(i)));
    if (rest.length === 0) return this.#finish(this.#ownDecision(own, stages.owner, 0, takes), claim);
    let decided: Awaitable<Decided>;
    try {
      decided = stages.decide(rest);
    } catch (error) {
      this.#claims.giveUp(claim);
      throw error;
    }
    if (decided instanceof Promise) return this.#finishLater(batch, own, decided, claim);
    return this.#finish(own.size === 0 ? decided : withOwn(batch, own, decided), claim);
  }

  // A function of its own: a closure in its caller would allocate a context on each call.
  #finishLater(
    batch: Batch,
    own: ReadonlyMap<number, OwnAnswer>,
    decided: Promise<Decided>,
    claim: Claim,
  ): Promise<Decided> {
    return decided.then(
      (decision) => this.#finish(withOwn(batch, own, decision), claim),
      (cause: unknown) => {
        this.#claims.giveUp(claim);
        throw cause;
      },
    );
  }

  #ownAnswers(batch: Batch): ReadonlyMap<number, OwnAnswer> {
    const own = new Map<number, OwnAnswer>();
    for (let i = 0; i < batch.length; i++) {
      const transaction = batch[i]!;
      if ((transaction.treatment.holding as SlotTerms | undefined)?.scope !== 'process') continue;
      own.set(i, { transaction, level: this.#parts.held.countOf(transaction) });
    }
    return own;
  }

  #ownDecision(own: ReadonlyMap<number, OwnAnswer>, owner: object, passed: 0 | -1, takes = false): Decided {
    const { store } = this.#parts;
    const answers = [...own.values()];
    const batch = answers.map(({ transaction }) => transaction);
    const reading = { passed, nowTicks: 0, levelsTicks: answers.map(({ level }) => level) };
    return new Decided(batch, { owner, takes, store, failure: undefined }, reading);
  }

  #finish(decision: Decided, claim: Claim): Decided {
    if (claim === NO_CLAIM) return decision;
    if (decision.passed !== 0) {
      this.#claims.giveUp(claim);
      return decision;
    }
    const all = this.#claims.keep(claim, decision);
    if (all.length === 0) return decision;
    stateOf(decision).holding = new DecisionSlots(all, this.#ofDecisions);
    this.#ofDecisions.abandoned.watch(decision, all);
    return decision;
  }
}

function hasSlots({ slots }: Transaction): boolean {
  return slots === true;
}

function withHolding(transaction: Transaction, held: Held | undefined): Transaction {
  const terms = transaction.treatment.holding as SlotTerms | undefined;
  if (terms === undefined) return transaction;
  return changed(transaction, { holding: { holder: held?.holder ?? newHolder(), expiryMs: terms.expiryMs } });
}

function isDenied(own: ReadonlyMap<number, OwnAnswer>): boolean {
  const answers = [...own.values()];
  return !passes(
    answers.map(({ transaction }) => transaction),
    answers.map(({ level }) => level),
  );
}

function withOwn(batch: Batch, own: ReadonlyMap<number, OwnAnswer>, decided: Decided): Decided {
  return own.size === 0 || decided.origin.store === undefined ? decided : withOwnAnswers(batch, own, decided);
}
