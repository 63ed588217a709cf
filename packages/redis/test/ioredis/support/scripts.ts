import { createHash } from 'node:crypto';
import type { Script } from '../../../src/client/script-client.ts';

const NOW = `
local time = redis.call('TIME')
local now = ((time[1] - 1767225600) * 1000000 + time[2]) * 16
`;
const GUARD = `${NOW}
if now > tonumber(ARGV[1]) then return {0, now} end
`;

/** A script that begins as all scripts of a line do: it gives its time, and does nothing after its expiry. */
export function guarded(name: string, body: string): Script {
  return script(name, `${GUARD}${body}`);
}

function script(name: string, source: string): Script {
  return { name, source, sha1: createHash('sha1').update(source).digest('hex') };
}

/** Answers with its arguments, as text. */
export const echo: Script = guarded('echo', 'return {1, now, unpack(ARGV, 2)}');

/** Adds one to a key. */
export const add: Script = guarded('add', "return {1, now, redis.call('INCR', KEYS[1])}");

/** Appends its arguments, an id and a deadline by the wall clock, and the moment at which it wrote. */
export const record: Script = guarded(
  'record',
  `redis.call('RPUSH', KEYS[1], ARGV[2] .. ' ' .. ARGV[3] .. ' ' .. string.format('%.0f', now))
return {1, now}`,
);
