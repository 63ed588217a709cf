import { createHash } from 'node:crypto';
import type { ScriptClient } from '../client/script-client.ts';
import { malformedReplyError, type Script, type ScriptCall } from '../client/script.ts';
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
  const args: (string | number)[] = [sequence, answeredSequence, streamLifeMs, latestTicks];
  let group: SyncEntry | undefined;
  let size = 0;
  for (const entry of entries) {
    if (group === undefined || !haveSameNumbers(group, entry)) {
      group = entry;
      size = args.push(1, entry.intervalTicks, entry.fitTicks, entry.capTicks) - 4;
    } else {
      args[size] = (args[size] as number) + 1;
    }
    keys.push(entry.key);
    if (isOneToken(entry)) args.push(entry.ownLevelTicks!);
    else {
      args.push(
        `+${entry.chargeTicks}`,
        entry.ownLevelTicks ?? NONE,
        entry.returnTicks,
        2 * entry.wantedTokens + (entry.lost ? 1 : 0),
        entry.floorTicks === 0 ? NONE : entry.floorTicks,
      );
    }
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
  const end = 2 + entries.length;
  const isWhole = reply.every((each, i) => Number.isSafeInteger(each) || (each === null && i > 1 && i < end));
  if (!isWhole || reply.length < end || (reply.length - end) % 2 !== 0 || !FLAGS.includes(flags)) {
    throw malformedReplyError(syncScript, reply);
  }
  const buckets = entries.map((entry, i) => syncedBucket(entry, reply[2 + i] as number | null));
  for (let i = end; i < reply.length; i += 2) {
    const [place, granted] = [reply[i] as number, reply[i + 1] as number];
    const synced = buckets[place - 1];
    if (synced === undefined) throw malformedReplyError(syncScript, reply);
    const keptFloor = granted >= 0;
    buckets[place - 1] = { ...synced, keptFloor, grantedTokens: keptFloor ? granted : -1 - granted };
  }
  return {
    nowTicks: nowTicks as number,
    fresh: ((flags as number) & 1) !== 0,
    lost: ((flags as number) & 2) !== 0,
    buckets,
  };
}

function syncedBucket({ capTicks }: SyncEntry, levelTicks: number | null): SyncedBucket {
  if (levelTicks === null) return { levelTicks: capTicks, keptFloor: false, grantedTokens: 0, isBroken: true };
  return { levelTicks, keptFloor: true, grantedTokens: 0 };
}

/** Whether an entry only charges one token, as most buckets do that are asked for once. */
function isOneToken(entry: SyncEntry): boolean {
  return (
    entry.chargeTicks === entry.intervalTicks &&
    entry.ownLevelTicks !== undefined &&
    entry.returnTicks === 0 &&
    entry.wantedTokens === 0 &&
    entry.floorTicks === 0 &&
    !entry.lost
  );
}

function haveSameNumbers(one: SyncEntry, other: SyncEntry): boolean {
  return (
    one.intervalTicks === other.intervalTicks && one.fitTicks === other.fitTicks && one.capTicks === other.capTicks
  );
}
