import { allOf, andThen, type Awaitable } from '../async/awaitable.ts';
import { complaint } from '../checks/errors.ts';
import { checkOptions, isPlainObject } from '../checks/options.ts';
import { batchOf, checkCostFits, hasBlocked } from '../decision/batch.ts';
import type { Decision } from '../decision/decision.ts';
import type { Transaction } from '../decision/transaction.ts';
import type { StoreGate } from '../failure/store-gate.ts';
import type { LimitSet } from '../limits/limit-set.ts';
import type { Store } from '../store/store.ts';
import { checkedEntries } from './entries.ts';
import type { FirstOf, SpendEntry } from './limiter.ts';
import type { RaisedLimits } from './raised-limits.ts';

const MAX_ALTERNATIVES = 4;
const MAX_ENTRIES = 8;

type Batch = readonly Transaction[];

/**
 * Makes the batches of `firstOf`. Their entries are validated before anything is awaited, so that an error is thrown.
 *
 * @param toTransaction - Validates an entry.
 * @throws {SluiceError} `ERR_OPTION` and `ERR_UNKNOWN_OPTION` for wrong arguments, or when the store can't decide
 * alternatives; the errors of a batch.
 */
export function alternativesOf(
  input: FirstOf,
  store: Store,
  toTransaction: (entry: SpendEntry) => Awaitable<Transaction | null>,
): Awaitable<readonly Batch[]> {
  const alternatives = checkedAlternatives(input);
  checkSpendFirst(store);
  const transactions = allOf(alternatives.map((entries) => allOf(Array.from(entries, toTransaction))));
  return andThen(transactions, (batches) => allOf(batches.map((batch) => andThen(batchOf(batch), withFittingCosts))));
}

/** What decides alternatives. */
export interface AlternativesParts {
  readonly gate: StoreGate;
  readonly raised: RaisedLimits;
  readonly currentSet: () => LimitSet<never>;
  /** Decides a single batch. */
  readonly decide: (batch: Batch) => Awaitable<Decision>;
}

/**
 * Returns the decision of the first alternative that passes. When all are denied, that of the one that can pass soonest.
 * An alternative with a blocked id is denied without the store. Those after one of unlimited ids are never tried.
 */
export function decideFirst(
  call: 'spend' | 'check',
  alternatives: readonly Batch[],
  parts: AlternativesParts,
): Awaitable<Decision> {
  const open = alternatives.filter((batch) => !hasBlocked(batch));
  const unlimited = open.findIndex((batch) => batch.length === 0);
  const tried = unlimited === -1 ? open : open.slice(0, unlimited + 1);
  if (tried.length < 2) return parts.decide(tried[0] ?? alternatives[0]!);
  return andThen(decideTried(call, tried, parts), (decisions) => firstDecision(decisions));
}

function decideTried(
  call: 'spend' | 'check',
  alternatives: readonly Batch[],
  { gate, raised, currentSet }: AlternativesParts,
): Awaitable<readonly Decision[]> {
  const tried = gate.decideFirst(call, alternatives);
  if (!raised.remembersAny()) return tried;
  // Debts from before a raise may have denied any of them.
  return andThen(tried, (decisions) => {
    const cuts = decisions.map((one) => raised.cutDebts(one, currentSet(), (debts) => gate.cap(debts)));
    return andThen(allOf(cuts), (wereCut) => {
      return wereCut.includes(true) && decisions.every(tookNothing) ? gate.decideFirst(call, alternatives) : decisions;
    });
  });
}

/** All but the last are denied. */
function firstDecision(decisions: readonly Decision[]): Decision {
  const last = decisions.at(-1)!;
  if (last.outcome !== 'denied') return last;
  return decisions.reduce((soonest, one) => (one.retryAfterMs < soonest.retryAfterMs ? one : soonest));
}

/** Whether a decision took no tokens. */
export function tookNothing({ results }: Decision): boolean {
  return results.every(({ spent }) => spent === 0);
}

function withFittingCosts(batch: Batch): Batch {
  for (const transaction of batch) checkCostFits(transaction);
  return batch;
}

function checkedAlternatives(input: FirstOf): readonly (readonly SpendEntry[])[] {
  // The error for all that is neither entries nor alternatives.
  if (!isPlainObject(input) || !('firstOf' in input)) checkedEntries(input as never);
  checkOptions('firstOf', input, ['firstOf']);
  const { firstOf } = input;
  checkCount('firstOf', firstOf, MAX_ALTERNATIVES, 'alternatives');
  for (const [i, entries] of firstOf.entries()) checkCount(`firstOf[${i}]`, entries, MAX_ENTRIES, 'entries');
  return firstOf;
}

function checkCount(option: string, value: unknown, max: number, what: string): void {
  if (Array.isArray(value) && value.length > 0 && value.length <= max) return;
  const remedy = "For example firstOf: [[{ limit: 'Own', id: '12345678' }], [{ limit: 'Shared', id: 'all' }]].";
  throw complaint('ERR_OPTION', { option, demand: `an array of 1 to ${max} ${what}`, value, remedy });
}

function checkSpendFirst(store: Store): void {
  if (typeof store.spendFirst === 'function') return;
  const remedy = 'Implement the method, or call spend once for each alternative.';
  const demand = 'a store with the method `spendFirst`, to decide `firstOf` in one call';
  throw complaint('ERR_OPTION', { option: 'store', demand, value: store, remedy });
}
