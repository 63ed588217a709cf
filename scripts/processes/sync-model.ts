import { TICKS_PER_MS } from '../../packages/core/src/store.ts';
import type { LeaseNumbers } from '../../packages/redis/src/leases/rules/lease-numbers.ts';
import type { SyncCall, SyncedBucket, SyncEntry, SyncReply } from '../../packages/redis/src/leases/rules/sync-call.ts';
import type { RedisData } from './redis-data.ts';

interface SyncState {
  readonly fresh: boolean;
  readonly lost: boolean;
  readonly inTime: boolean;
  readonly nowTicks: number;
}

/** Does what sync.lua does in time. The tests compare it with the script on a real server, to the tick. */
export function applySync(data: RedisData, call: SyncCall): SyncReply {
  const { nowTicks } = data;
  const stream = data.stream(call.stream);
  const stored = stream?.sequence ?? 0;
  const fresh = call.sequence > stored;
  const lost = stored < call.answeredSequence;
  const buckets = call.entries.map((entry) => {
    return syncBucket(data, entry, { fresh, lost, inTime: nowTicks <= call.latestTicks, nowTicks });
  });
  if (fresh) {
    const expiryTicks = nowTicks + call.streamLifeMs * TICKS_PER_MS;
    data.streams.set(call.stream, { sequence: call.sequence, foundLoss: lost, expiryTicks });
  }
  const hadFound = stream?.foundLoss === true && call.sequence === stored;
  return { nowTicks, fresh, lost: lost || hadFound, buckets };
}

/** Does what decide.lua does with a request for tokens of one bucket. Returns whether it passes. */
export function spendExactly(
  data: RedisData,
  key: string,
  { tokens, intervalTicks, fitTicks }: Pick<LeaseNumbers, 'intervalTicks' | 'fitTicks'> & { readonly tokens: number },
): boolean {
  const level = Math.max(0, data.read(key, fitTicks).levelTicks) + tokens * intervalTicks;
  if (level > fitTicks) return false;
  data.write(key, level);
  return true;
}

function syncBucket(data: RedisData, entry: SyncEntry, { fresh, lost, inTime, nowTicks }: SyncState): SyncedBucket {
  const { key, chargeTicks, ownLevelTicks = -Infinity, returnTicks, intervalTicks, fitTicks, capTicks } = entry;
  const reading = data.read(key, capTicks);
  const floorLevel = entry.floorTicks === 0 ? -Infinity : entry.floorTicks - nowTicks;
  let level = reading.levelTicks;
  if (lost || entry.lost) level = Math.max(level, Math.min(floorLevel, capTicks));
  const keptFloor = level >= floorLevel || floorLevel <= 0;
  let grantedTokens = 0;
  if (fresh) {
    level = Math.max(level, Math.min(Math.max(level + chargeTicks, ownLevelTicks), capTicks));
    if (inTime && keptFloor) level = Math.min(level, Math.max(level - returnTicks, 0));
    const base = Math.max(level, 0);
    const fitting = Math.floor((fitTicks - base) / intervalTicks);
    if (inTime) grantedTokens = Math.max(Math.min(fitting, entry.wantedTokens), 0);
    if (grantedTokens > 0) level = base + grantedTokens * intervalTicks;
  }
  if (level !== reading.levelTicks || reading.isRepaired) data.write(key, level);
  return { levelTicks: level, keptFloor, grantedTokens };
}
