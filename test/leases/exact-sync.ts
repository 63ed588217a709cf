// What one sync does to one bucket, as it is defined, on whole numbers of any size: without a line of the code under test.
import type { SyncEntry } from '../../packages/redis/src/leases/rules/sync-call.ts';

/** The value of a key: a TAT, and the code of the level that was written. */
export interface ExactBucket {
  readonly tat: bigint;
  readonly code: bigint;
}

export interface ExactState {
  readonly now: bigint;
  readonly fresh: boolean;
  readonly lost: boolean;
  readonly inTime: boolean;
}

export interface ExactAnswer {
  readonly level: bigint;
  readonly keptFloor: boolean;
  readonly granted: bigint;
  /** Whether the stored TAT was an error of the clock. */
  readonly isRepaired: boolean;
  /** The bucket afterwards; undefined if there is none, or none that another sync could still need. */
  readonly after: ExactBucket | undefined;
}

const SLACK_TICKS = 16_000_000n;

export function exactSync(stored: ExactBucket | undefined, entry: SyncEntry, state: ExactState): ExactAnswer {
  const { now, fresh, lost, inTime } = state;
  const empty = now + BigInt(entry.fitTicks);
  const most = now + BigInt(entry.capTicks);
  const floor = entry.floorTicks === 0 ? undefined : BigInt(entry.floorTicks);
  const before = stored === undefined ? now - 2n ** 52n : repaired(stored, now, most);
  let tat = before;
  if ((lost || entry.lost) && floor !== undefined) tat = greater(tat, lesser(floor, most));
  const keptFloor = floor === undefined || tat >= floor || floor <= now;
  let granted = 0n;
  if (fresh) {
    const charged = tat + BigInt(entry.chargeTicks);
    const own = entry.ownLevelTicks === undefined ? charged : now + BigInt(entry.ownLevelTicks);
    tat = greater(tat, lesser(greater(charged, own), most));
    if (inTime && keptFloor && tat > now) tat = greater(now, tat - BigInt(entry.returnTicks));
    const start = greater(tat, now);
    const interval = BigInt(entry.intervalTicks);
    if (inTime && start < empty) granted = lesser((empty - start) / interval, BigInt(entry.wantedTokens));
    if (granted > 0n) tat = start + granted * interval;
  }
  const isRepaired = stored !== undefined && before !== stored.tat;
  const isWritten = (isRepaired || tat !== before) && tat > now - SLACK_TICKS;
  const after = isWritten ? { tat, code: codeOf(greater(1n, tat - now)) } : stored;
  return { level: tat - now, keptFloor, granted, isRepaired, after };
}

/** The TAT, unless it is ahead further than the limit and what was written allow. */
function repaired({ tat, code }: ExactBucket, now: bigint, most: bigint): bigint {
  const written = ((16n + (code % 16n)) << (code / 16n)) / 16n;
  return tat > most && tat > now + written ? now + written : tat;
}

/** The code of the least number 2^e × (16 + f) / 16 that is not below the level: 16 × e + f. */
function codeOf(level: bigint): bigint {
  let code = 16n * BigInt(Math.max(0, level.toString(2).length - 2));
  while ((16n + (code % 16n)) << (code / 16n) < 16n * level) code += 1n;
  return code;
}

const lesser = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const greater = (a: bigint, b: bigint): bigint => (a > b ? a : b);
