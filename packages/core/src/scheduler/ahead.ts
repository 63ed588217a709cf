import { complaint } from '../checks/errors.ts';
import { changed, isBlocked, type Transaction } from '../decision/transaction.ts';
import { isExact } from '../limits/treatment.ts';
import { TICKS_PER_MICRO } from '../rule/ticks.ts';

/** How long before its turn a call may take its tokens. */
export interface Ahead {
  readonly micros: number;
  /** Whether it was given, and is not the default. */
  readonly isGiven: boolean;
}

/**
 * Gives transactions the room of a call that begins within `ahead`: its tokens are taken then, and its delay is the time
 * until they are there. Other limits than rates, and shares of them, have no such room.
 *
 * @param leftMicros - How long the call may wait: what it takes later would be in vain.
 * @throws {SluiceError} `ERR_OPTION` when `ahead` was given, and is longer than the `maxWait` of a limit.
 */
export function withAheads(
  batch: readonly Transaction[],
  { micros, isGiven }: Ahead,
  leftMicros: number,
): readonly Transaction[] {
  const ahead = { micros: Math.max(0, Math.min(micros, leftMicros)), isGiven };
  return batch.map((each) => (hasAhead(each) ? withAhead(each, ahead) : each));
}

function withAhead(transaction: Transaction, { micros, isGiven }: Ahead): Transaction {
  const { rate, fitTicks, capTicks, lineTicks, limit } = transaction;
  const roomTicks = rate.toleranceTicks + micros * TICKS_PER_MICRO;
  if (lineTicks !== undefined && fitTicks < roomTicks) {
    if (isGiven) throw aboveWait(limit, micros, fitTicks - lineTicks);
    return transaction;
  }
  const room = { fitTicks: roomTicks, capTicks: Math.max(capTicks, roomTicks), lineTicks: rate.toleranceTicks };
  return changed(transaction, room);
}

function hasAhead(transaction: Transaction): boolean {
  const { rate, fitTicks, treatment } = transaction;
  if (rate.kind.level !== 'falls' || !treatment.isPlain || isBlocked(transaction)) return false;
  return isExact(treatment) && fitTicks >= rate.toleranceTicks;
}

function aboveWait(limit: string, micros: number, waitTicks: number): Error {
  return complaint('ERR_OPTION', {
    option: 'createScheduler.ahead',
    limit,
    demand: `at most its maxWait, ${waitTicks / TICKS_PER_MICRO / 1000} ms`,
    value: `${micros / 1000}ms`,
    remedy: 'Leave `maxWait` out: a scheduler needs none.',
  });
}
