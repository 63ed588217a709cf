import { passes } from '../store/transaction-rule.ts';
import { Decided } from './decided.ts';
import { changed, withoutDelay, type Transaction } from './transaction.ts';

/** A transaction that may wait in its queue for less time than its limit allows. */
interface Shortened extends Transaction {
  /** The time by which its wait is shorter. */
  readonly cutTicks?: number;
}

/** Returns a batch that waits in queues for at most so long, so that a store denies at once what could begin only later. */
export function withShorterWaits(batch: readonly Transaction[], leftTicks: number): readonly Transaction[] {
  return batch.map((transaction) => {
    const { lineTicks = Infinity, fitTicks } = transaction;
    const cutTicks = fitTicks - (lineTicks + leftTicks);
    return cutTicks > 0 ? changed(transaction, { fitTicks: fitTicks - cutTicks, cutTicks }) : transaction;
  });
}

/**
 * Returns the denial of a batch of {@link withShorterWaits} with the figures of its limits. If they would let it wait, its
 * reason is `deadline`, and its wait the time until the tokens are there, as that of a request for which the queue has no
 * place.
 */
export function deniedInTime(denial: Decided): Decided {
  const { batch, origin, state, durationMs } = denial;
  if (origin.store === undefined || !batch.some(isShortened)) return denial;
  const whole = batch.map(withWholeWait);
  const couldWait = passes(whole, denial.levelsTicks);
  const said = couldWait
    ? new Decided(whole.map(withoutDelay), { ...origin, reason: 'deadline' }, denial)
    : new Decided(whole, origin, denial);
  return Object.assign(said, { state, durationMs });
}

function isShortened({ cutTicks }: Shortened): boolean {
  return cutTicks !== undefined;
}

function withWholeWait(transaction: Shortened): Transaction {
  const { fitTicks, cutTicks = 0 } = transaction;
  return cutTicks === 0 ? transaction : changed(transaction, { fitTicks: fitTicks + cutTicks });
}
