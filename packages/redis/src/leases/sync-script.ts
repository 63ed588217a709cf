import { createHash } from 'node:crypto';
import { malformedReplyError, type Script, type ScriptCall, type ScriptClient } from '../client/script-client.ts';
import type { SyncCall, SyncEntry, SyncReply, SyncedBucket } from './rules/sync-call.ts';
import { syncLua } from './sync-lua.ts';

/** The script of leased limits. It applies one sync of a process. */
export const syncScript: Script = {
  name: 'sync',
  source: syncLua,
  sha1: createHash('sha1').update(syncLua).digest('hex'),
};

/** 1 if the sync is new + 2 if data was lost. */
const FLAGS: readonly unknown[] = [0, 1, 2, 3];

/** Below every level and every TAT: there is none. */
const NONE = -(2 ** 53);

/**
 * Sends one sync. The server does not apply it after `deadlineMs`.
 *
 * @throws {SluiceError} Rejects as {@link ScriptClient.run} does. The server may have applied the sync nevertheless, so
 * the same sync must be sent again.
 */
export async function sendSync(client: ScriptClient, call: SyncCall, deadlineMs: number): Promise<SyncReply> {
  return decodeSync(call, await client.run({ script: syncScript, ...encodeSync(call), deadlineMs }));
}

/** Returns the keys and arguments of a sync, as the header of the script describes them, without the expiry. */
export function encodeSync(call: SyncCall): Pick<ScriptCall, 'keys' | 'args'> {
  const { stream, sequence, answeredSequence, streamLifeMs, latestTicks, entries } = call;
  const keys = [stream];
  const args = [sequence, answeredSequence, streamLifeMs, latestTicks];
  let group: SyncEntry | undefined;
  let size = 0;
  for (const entry of entries) {
    if (group === undefined || !haveSameNumbers(group, entry)) {
      group = entry;
      size = args.push(1, entry.intervalTicks, entry.fitTicks, entry.capTicks) - 4;
    } else {
      args[size]!++;
    }
    keys.push(entry.key);
    args.push(
      entry.chargeTicks,
      entry.ownLevelTicks ?? NONE,
      entry.returnTicks,
      2 * entry.wantedTokens + (entry.lost ? 1 : 0),
      entry.floorTicks === 0 ? NONE : entry.floorTicks,
    );
  }
  return { keys, args };
}

/**
 * Reads the reply of the script without its first element.
 *
 * @throws {SluiceError} `ERR_STORE_ANSWER` for a reply of another shape.
 */
export function decodeSync({ entries }: SyncCall, reply: readonly unknown[]): SyncReply {
  const [nowTicks, flags] = reply;
  const isWhole = reply.every((each, i) => Number.isSafeInteger(each) || (each === null && i > 1 && i % 2 === 0));
  if (!isWhole || reply.length !== 2 + 2 * entries.length || !FLAGS.includes(flags)) {
    throw malformedReplyError(syncScript, reply);
  }
  return {
    nowTicks: nowTicks as number,
    fresh: ((flags as number) & 1) !== 0,
    lost: ((flags as number) & 2) !== 0,
    buckets: entries.map((entry, i) =>
      syncedBucket(entry, reply[2 + 2 * i] as number | null, reply[3 + 2 * i] as number),
    ),
  };
}

function syncedBucket({ capTicks }: SyncEntry, levelTicks: number | null, granted: number): SyncedBucket {
  if (levelTicks === null) return { levelTicks: capTicks, keptFloor: false, grantedTokens: 0, isBroken: true };
  const keptFloor = granted >= 0;
  return { levelTicks, keptFloor, grantedTokens: keptFloor ? granted : -1 - granted };
}

function haveSameNumbers(one: SyncEntry, other: SyncEntry): boolean {
  return (
    one.intervalTicks === other.intervalTicks && one.fitTicks === other.fitTicks && one.capTicks === other.capTicks
  );
}
