import { createHash } from 'node:crypto';
import type { Script } from '../../../src/client/script.ts';

const GUARD = `
local time = redis.call('TIME')
local now = ((time[1] - 1767225600) * 1000000 + time[2]) * 16
if now > tonumber(ARGV[1]) then return {0, now} end
`;

/** A script that begins as the script of a client does: it gives its time, and does nothing after its expiry. */
export function guarded(name: string, body: string): Script {
  const source = `${GUARD}${body}`;
  return { name, source, sha1: createHash('sha1').update(source).digest('hex') };
}

/** What the test script does: the argument after the expiry. */
export type Operation = 'echo' | 'add' | 'record';

/** Answers with its arguments, as text. */
export const echo: Operation = 'echo';
/** Adds one to a key. */
export const add: Operation = 'add';
/** Appends its argument, an id, and the moment at which it wrote. */
export const record: Operation = 'record';

/** The script of a client in tests. */
export const testScript: Script = guarded(
  'test',
  `if ARGV[2] == 'echo' then return {1, now, unpack(ARGV, 3)} end
if ARGV[2] == 'add' then return {1, now, redis.call('INCR', KEYS[1])} end
redis.call('RPUSH', KEYS[1], ARGV[3] .. ' ' .. string.format('%.0f', now))
return {1, now}`,
);
