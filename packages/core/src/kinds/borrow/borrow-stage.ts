import { andThen, type Awaitable } from '../../async/awaitable.ts';
import { firstDecision, type Decided } from '../../decision/decided.ts';
import type { Part, PartContext } from '../../decision/part.ts';
import type { DecisionCall, Rest, Stage } from '../../decision/stage.ts';
import type { Batch } from '../../decision/transaction.ts';
import { checkAlternatives, Lender } from './lender.ts';
import { borrows, withChargedLoans } from './loan.ts';

/** What the limits that borrow need of a limiter. */
export class BorrowPart implements Part {
  readonly place = 2;
  readonly stage: BorrowStage;
  readonly stored: NonNullable<Part['stored']> = withChargedLoans;

  constructor({ time, emit, answersAtOnce }: PartContext) {
    this.stage = new BorrowStage(new Lender(time, emit), answersAtOnce);
  }
}

/** Decides batches in which a limit borrows: by its own tokens, or else by borrowed ones. */
class BorrowStage implements Stage {
  readonly isActive = true;
  readonly concerns: Stage['concerns'] = borrows;
  readonly #lender: Lender;
  /** Whether the store answers at once. */
  readonly #isOpen: boolean;

  constructor(lender: Lender, isOpen: boolean) {
    this.#lender = lender;
    this.#isOpen = isOpen;
  }

  decide(call: DecisionCall, batch: Batch, rest: Rest): Awaitable<Decided> {
    return call === 'spend' && this.#isOpen
      ? this.#decideAtOnce(batch, rest)
      : andThen(this.decideFirst(call, [batch], rest), firstDecision);
  }

  decideFirst(call: DecisionCall, batches: readonly Batch[], rest: Rest): Awaitable<readonly Decided[]> {
    const groups = batches.map((batch) => this.#lender.alternativesOf(batch));
    const all = groups.flat();
    checkAlternatives(all.length);
    return andThen(rest.decideFirst(all), (tried) => {
      const decisions = soonestOfEach(groups, tried);
      if (call === 'spend') this.#lender.noteLent(decisions.at(-1)!, batches.flat());
      return decisions;
    });
  }

  /**
   * Decides a batch in two calls of a store that answers at once. In most cases the first one, for own tokens, is enough,
   * and what would be lent need not be computed. When it is denied, it has taken nothing.
   */
  #decideAtOnce(batch: Batch, rest: Rest): Decided {
    const assured = rest.decide(this.#lender.assuredOf(batch)) as Decided;
    const alternatives = assured.outcome === 'denied' ? this.#lender.lentOf(batch) : [];
    if (alternatives.length === 0) return assured;
    const lent = rest.decideFirst(alternatives) as readonly Decided[];
    const last = lent.at(-1)!;
    if (last.outcome === 'denied') return lent.reduce(soonerByAll, assured);
    this.#lender.noteLent(last, batch);
    return last;
  }
}

/**
 * Leaves out of the denials of one batch all but that with the shortest wait of each limit that borrows. The waits of
 * different limits do not depend on each other, so the sum of the waits is the shortest too.
 */
function soonestOfEach(groups: readonly (readonly Batch[])[], decisions: readonly Decided[]): readonly Decided[] {
  if (decisions.at(-1)!.outcome !== 'denied') return decisions;
  let first = 0;
  return groups.map(({ length }) => decisions.slice(first, (first += length)).reduce(soonerByAll));
}

function soonerByAll(one: Decided, other: Decided): Decided {
  return sumOfWaits(other) < sumOfWaits(one) ? other : one;
}

function sumOfWaits({ results }: Decided): number {
  return results.reduce((sum, { retryAfterMs }) => sum + retryAfterMs, 0);
}
