import { createHash } from 'node:crypto';
import type { ScriptClient } from '../client/script-client.ts';
import { malformedReplyError, type Script } from '../client/script.ts';
import { MAX_TRANSACTIONS } from './coalescer.ts';

// What a bucket of slots is, and the score of its members: lua/decide.lua.
const source = `-- Returns { 1, now in ticks, the members of each bucket of slots that have not expired … }, or { 0, now }
local time = redis.call('TIME')
local now = (time[1] - 1767225600) * 16000000 + time[2] * 16
if now - ARGV[1] > 0 then
  return { 0, now }
end
local ended = string.format('%.0f', (math.floor(now / 16000) + 1) * 4096)
local reply = { 1, now }
for i, key in ipairs(KEYS) do
  reply[i + 2] = redis.call('ZRANGE', key, ended, '+inf', 'BYSCORE')
end
return reply
`;

const holdersScript: Script = { name: 'holders', source, sha1: createHash('sha1').update(source).digest('hex') };

/**
 * Returns who holds slots of the buckets with these keys.
 *
 * @throws {SluiceError} Rejects as {@link ScriptClient.run} does.
 */
export async function holdersOf(
  client: ScriptClient,
  keys: readonly string[],
  deadlineMs: number,
): Promise<readonly (readonly string[])[]> {
  const size = client.isCluster ? 1 : MAX_TRANSACTIONS;
  const calls: Promise<readonly (readonly string[])[]>[] = [];
  for (let at = 0; at < keys.length; at += size) calls.push(read(client, keys.slice(at, at + size), deadlineMs));
  return (await Promise.all(calls)).flat();
}

async function read(
  client: ScriptClient,
  keys: readonly string[],
  deadlineMs: number,
): Promise<readonly (readonly string[])[]> {
  const [, ...members] = await client.run({ script: holdersScript, keys, args: [], deadlineMs });
  if (members.length !== keys.length) throw malformedReplyError(holdersScript, members);
  return members.map((each) => {
    if (!Array.isArray(each)) throw malformedReplyError(holdersScript, members);
    // The member without a colon has the time of the last write.
    const slots = each.map(String).filter((member) => member.includes(':'));
    return [...new Set(slots.map((member) => member.slice(0, member.lastIndexOf(':'))))];
  });
}
