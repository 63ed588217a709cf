import type { RedisServer } from '../../../../test/redis/servers/redis-server.ts';

/** Where the clock of {@link runSteered} counts from: 2026-01-01 UTC, as ticks do. */
export const STEERED_ORIGIN_MICROS: number = Date.UTC(2026, 0, 1) * 1000;

/** Put before a script: a clock that a test sets, also for the expiry of keys. */
const STEERING = `local real = redis
local clock = real.call('GET', 'clock') + 0
local redis = {}
local function expire(name, key)
  if string.sub(name, 1, 1) ~= 'Z' then return end
  local expiry = real.call('GET', key .. ' expiry')
  if expiry and clock >= expiry + 0 then real.call('DEL', key, key .. ' expiry') end
end
local function get(value, key)
  if type(value) ~= 'string' then return value end
  local space = string.find(value, ' ', 1, true)
  if clock < string.sub(value, space + 1) + 0 then return string.sub(value, 1, space - 1) end
  real.call('DEL', key)
  return false
end
function redis.call(name, key, value, ...)
  expire(name, key)
  if name == 'TIME' then
    return { string.format('%.0f', math.floor(clock / 1000000)), string.format('%.0f', clock % 1000000) }
  elseif name == 'GET' then
    return get(real.call(name, key), key)
  elseif name == 'SET' then
    local _, px = ...
    return real.call('SET', key, value .. ' ' .. string.format('%.0f', clock + px * 1000))
  elseif name == 'PEXPIRE' then
    return real.call('SET', key .. ' expiry', string.format('%.0f', clock + value * 1000))
  end
  if value then return real.call(name, key, value, ...) end
  return real.call(name, key)
end
function redis.pcall(name, key)
  expire(name, key)
  return get(real.pcall(name, key), key)
end
`;

export interface SteeredCall {
  readonly keys: readonly string[];
  /** Without the expiry, ARGV[1]. */
  readonly args: readonly (string | number)[];
  /** ARGV[1]. By default, a call never expires. */
  readonly expiryTicks?: number;
}

/**
 * Runs a script of the store on a real server, at a time that a test gives. The value of a key is then followed by a space
 * and the time when it expires.
 *
 * @param clockMicros - Since 2026.
 */
export async function runSteered(
  server: RedisServer,
  source: string,
  clockMicros: number,
  { keys, args, expiryTicks = Number.MAX_SAFE_INTEGER }: SteeredCall,
): Promise<unknown[]> {
  const sha1 = await loaded(server, source);
  const [, reply] = await Promise.all([
    server.call('SET', 'clock', String(STEERED_ORIGIN_MICROS + clockMicros)),
    server.call<unknown[]>('EVALSHA', sha1, keys.length, ...keys, expiryTicks, ...args),
  ]);
  return reply;
}

const scripts = new WeakMap<RedisServer, Map<string, Promise<string>>>();

/** Loads a script at its first use. */
function loaded(server: RedisServer, source: string): Promise<string> {
  const known = scripts.get(server) ?? new Map<string, Promise<string>>();
  scripts.set(server, known);
  const loading = known.get(source) ?? server.call<string>('SCRIPT', 'LOAD', STEERING + source);
  known.set(source, loading);
  return loading;
}
