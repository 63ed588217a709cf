import type { BlocksText } from '@sluice/core/store';
import { createHash } from 'node:crypto';
import type { ScriptClient } from '../client/script-client.ts';
import { malformedReplyError, type Script } from '../client/script.ts';

// Only commands that decisions need, too, and no hash: users with few permissions can block ids. The revision is also in a value of
// its own, so that a long list is not read while it does not change. Redis may evict either of them alone: what
// a process knows of a text that was evicted stays in effect until the next change.
const source = `-- KEYS[1] is the text, KEYS[2] its revision. ARGV[2] is the revision that the caller knows, or ''. To write: ARGV[3] the new text, and ARGV[4] its life in milliseconds.
-- Returns { 1, now in ticks, 1 if the text has this revision or was written, or else 0 and the text }, or { 0, now }
local time = redis.call('TIME')
local now = (time[1] - 1767225600) * 16000000 + time[2] * 16
if now - ARGV[1] > 0 then
  return { 0, now }
end
local revision = redis.call('GET', KEYS[2])
if revision and revision == ARGV[2] and not ARGV[3] then
  return { 1, now, 1 }
end
local text = redis.call('GET', KEYS[1]) or ''
if text:sub(1, 16) ~= ARGV[2] then
  if ARGV[3] then
    redis.call('DEL', KEYS[2])
  end
  return { 1, now, 0, text }
end
if ARGV[3] == '' then
  redis.call('DEL', KEYS[1], KEYS[2])
elseif ARGV[3] then
  redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4])
  redis.call('SET', KEYS[2], ARGV[3]:sub(1, 16), 'PX', ARGV[4])
end
return { 1, now, 1 }
`;

const blocksScript: Script = { name: 'blocks', source, sha1: createHash('sha1').update(source).digest('hex') };

/**
 * The text with all blocks of a store, which is one value in Redis, with its revision beside it.
 *
 * @param key - With a hash tag.
 */
export function blocksText(client: ScriptClient, key: string, assertOpen: () => void): BlocksText {
  /** @returns Undefined if the text begins with the revision. */
  const run = async (args: readonly (string | number)[], deadlineMs: number): Promise<string | undefined> => {
    assertOpen();
    const [, isSame, text] = await client.run({
      script: blocksScript,
      keys: [key, `${key}:revision`],
      args,
      deadlineMs,
    });
    if (isSame === 1) return undefined;
    if (isSame !== 0 || typeof text !== 'string') throw malformedReplyError(blocksScript, [isSame, typeof text]);
    return text;
  };
  return {
    // No text has no revision, so one that begins with '' is empty.
    read: async (revision, deadlineMs) => (await run([revision], deadlineMs)) ?? (revision === '' ? '' : undefined),
    write: async (revision, text, lifeMs, deadlineMs) =>
      (await run([revision, text, lifeMs], deadlineMs)) === undefined,
  };
}
