import { fits, waitFor } from '../rule/gcra.ts';
import { ceilToMs } from '../rule/ticks.ts';
import { canDeny } from '../store/transaction-rule.ts';
import type { Judged } from './batch-answer.ts';
import { isInternal, type Transaction } from './transaction.ts';

type Delayed = Pick<Judged, 'batch' | 'levelsTicks'>;

/** The longest delay of the transactions of a batch that passes. */
export function delayMsOf({ batch, levelsTicks }: Delayed): number {
  let ticks = 0;
  for (let i = 0; i < batch.length; i++) {
    const transaction = batch[i]!;
    if (transaction.lineTicks === undefined || isInternal(transaction)) continue;
    ticks = Math.max(ticks, delayOf(transaction, levelsTicks[i]!));
  }
  return ceilToMs(ticks);
}

/** The name of the limit whose delay a decision has: the longest one. Only for decisions with a delay. */
export function delayingLimit({ batch, levelsTicks }: Delayed): string {
  const delays = batch.map((transaction, i) =>
    transaction.lineTicks === undefined || isInternal(transaction) ? 0 : delayOf(transaction, levelsTicks[i]!),
  );
  return batch[delays.indexOf(Math.max(...delays))]!.limit;
}

/** The time until the tokens that a transaction of a batch that passes takes, or has to find, are there, in ticks. */
function delayOf({ mode, incrementTicks, fitTicks, rate }: Transaction, before: number): number {
  const waits = canDeny(mode) || (mode === 'spend-only' && fits(before, incrementTicks, fitTicks));
  return waits ? waitFor(before, incrementTicks, rate.toleranceTicks) : 0;
}
