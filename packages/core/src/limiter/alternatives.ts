import { allOf, andThen, type Awaitable } from '../async/awaitable.ts';
import { complaint } from '../checks/errors.ts';
import { checkOptions, isPlainObject } from '../checks/options.ts';
import { batchOf, checkCostFits } from '../decision/batch.ts';
import type { Batch, Transaction } from '../decision/transaction.ts';
import { checkedEntries } from './entries.ts';
import type { FirstOf, SpendEntry } from './entry.ts';

const MAX_ALTERNATIVES = 4;
const MAX_ENTRIES = 8;

/**
 * Makes the batches of `firstOf`. Their entries are validated before anything is awaited, so that an error is thrown.
 *
 * @param toTransaction - Validates an entry.
 * @throws {SluiceError} `ERR_OPTION` and `ERR_UNKNOWN_OPTION` for wrong arguments; the errors of a batch.
 */
export function alternativesOf(
  input: FirstOf,
  toTransaction: (entry: SpendEntry) => Awaitable<Transaction | null>,
): Awaitable<readonly Batch[]> {
  const alternatives = checkedAlternatives(input);
  const transactions = allOf(alternatives.map((entries) => allOf(Array.from(entries, toTransaction))));
  return andThen(transactions, (batches) => allOf(batches.map((batch) => andThen(batchOf(batch), withFittingCosts))));
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
