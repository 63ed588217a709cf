import { readFileSync } from 'node:fs';
import { ofClone } from '../harness/clone.mjs';

/**
 * Charges buckets for a process with leases, by one script call for all of them.
 *
 * @typedef {import('ioredis').Redis} Redis
 * @typedef {(keys: readonly string[]) => Promise<unknown>} Sync
 */

const EPOCH_SECONDS = Date.UTC(2026, 0, 1) / 1000;
/** A minute. A bucket of a million such tokens never empties here, and is always in debt. */
const INTERVAL_TICKS = 60 * 16_000_000;
const FIT_TICKS = 1_000_000 * INTERVAL_TICKS;
const NONE = -(2 ** 53);

/** The smallest right script: it merges a charge into each TAT, and returns the levels. */
const SMALLEST = `
local time = redis.call('TIME')
local now = (time[1] - ${EPOCH_SECONDS}) * 16000000 + time[2] * 16
local reply = { now }
for i, key in ipairs(KEYS) do
  local tat = (redis.call('GET', key) or 0) + 0
  tat = math.max(tat + ARGV[2 * i - 1], now + ARGV[2 * i])
  redis.call('SET', key, string.format('%d', tat), 'PX', string.format('%d', math.ceil((tat - now) / 16000) + 1000))
  reply[i + 1] = tat - now
end
return reply`;

/** @param {Redis} client */
const smallest = async (client) => {
  const sha1 = String(await client.script('LOAD', SMALLEST));
  return (/** @type {readonly string[]} */ keys) => {
    const args = keys.flatMap(() => [INTERVAL_TICKS, INTERVAL_TICKS - 16_000]);
    return client.evalsha(sha1, keys.length, ...keys.map((key) => `smallest:${key}`), ...args);
  };
};

/**
 * @param {Redis} client
 * @param {number} wanted Tokens that each bucket is asked for.
 */
const ours = async (client, wanted) => {
  const source = readFileSync(ofClone('packages/redis/lua/sync.lua'), 'utf8');
  const sha1 = String(await client.script('LOAD', source));
  const never = Number.MAX_SAFE_INTEGER;
  let sequence = 0;
  return (/** @type {readonly string[]} */ keys) => {
    // As the header of sync.lua describes them.
    const sync = [never, ++sequence, sequence - 1, 600_000, never];
    const group = [keys.length, INTERVAL_TICKS, FIT_TICKS, FIT_TICKS];
    const one = INTERVAL_TICKS - 16_000;
    const buckets = keys.flatMap(() => (wanted === 0 ? [one] : [`+${INTERVAL_TICKS}`, one, 0, 2 * wanted, NONE]));
    return client.evalsha(
      sha1,
      keys.length + 1,
      'ours',
      ...keys.map((key) => `ours:${key}`),
      ...sync,
      ...group,
      ...buckets,
    );
  };
};

/** @type {Readonly<Record<string, (client: Redis) => Promise<Sync>>>} */
export const syncs = {
  'the smallest right script': smallest,
  Sluice: (client) => ours(client, 0),
  'Sluice, with leases': (client) => ours(client, 2),
};
