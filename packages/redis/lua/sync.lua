-- Applies one sync of a process that decides by leases: charges what the process let through, takes back what it did not
-- use, and leases tokens. Buckets are as in decide.lua: a TAT in ticks, followed by three digits for the level that was
-- written. Processes with and without leases share them.
--
-- The level of a bucket is TAT − now. Here it may be below 0: a key outlives its TAT by a second, so that decisions that
-- were made before the TAT passed are charged exactly, even if their sync comes later. A level above the cap of its limit
-- that is also above the level that was written is an error of this server's clock, and is cut to that level.
--
-- A stream is the key of one process, with the number of its last sync. It has two uses:
-- - A sync that comes twice changes nothing the second time, except that data that was lost is restored.
-- - If its number is lower than the last one that was answered, this server has lost data: it was flushed, or a replica
--   without the latest writes has taken over. Then the TATs of the last replies, the floors, count again.
--   The number is stored as a negative one then, so that a sync that comes twice reports the loss twice: the first reply may
--   have been lost.
-- A TAT below its floor without such a loss was lowered by a reset or a refund, and stays.
--
-- KEYS[1]      the stream
-- KEYS[2…]     the buckets, each once
-- ARGV[1]      the last moment, in ticks, at which this script may write
-- ARGV[2]      the number of this sync
-- ARGV[3]      the last one that was answered, or 0
-- ARGV[4]      the life of the stream, in milliseconds
-- ARGV[5]      the last moment, in ticks, at which tokens may be leased or taken back
-- ARGV[6…]     the buckets, in groups with the same numbers. A group begins with the number of its buckets, followed by
--              T, the level up to which tokens are leased, and the level up to which a charge goes. Each bucket is the
--              level that its charged decisions alone would have left, or −2^53. That is all if one token is charged, and
--              nothing else is asked for. Otherwise it is `+` and the charge, before that level; and after it what is
--              given back; the tokens that are wanted × 2, + 1 if the floor counts; and the floor, or −2^53. All but
--              tokens are in ticks
--
-- Reply        { 1, now in ticks, 1 if this sync is new + 2 if it found that data was lost, the level of each bucket in
--              ticks, −2^52 without a bucket, and two numbers for each bucket whose tokens were leased or whose TAT was
--              below the floor: its place, from 1, and the number g of tokens that were leased, or −1 − g if the TAT was
--              below the floor }. A level is nil if the value of the key is not a bucket; nothing was charged to it or
--              leased. { 0, now in ticks } if the moment of ARGV[1] has passed; nothing was written

local EPOCH_SECONDS = 1767225600
local TICKS_PER_SECOND, TICKS_PER_MS, TICKS_PER_MICRO = 16000000, 16000, 16
-- As in decide.lua.
local SLACK_MS = 1000
local MOST_BEHIND_TICKS = 60 * TICKS_PER_SECOND
local MOST_TICKS = 9007199254740992
-- The level of a bucket that does not exist.
local ABSENT = -4503599627370496
local PLUS = 43

local keys, args, call, try = KEYS, ARGV, redis.call, redis.pcall
local byte, find, sub, format = string.byte, string.find, string.sub, string.format
local abs, ceil, floor, max, min = math.abs, math.ceil, math.floor, math.max, math.min
local frexp, ldexp = math.frexp, math.ldexp
-- As in decide.lua.
local WHOLE = format('%d', MOST_TICKS) == '9007199254740992' and '%d' or '%.0f'
local BUCKET = WHOLE .. '%03d'

local time = call('TIME')
local now = (time[1] - EPOCH_SECONDS) * TICKS_PER_SECOND + time[2] * TICKS_PER_MICRO
if now - args[1] > 0 then
  return { 0, now }
end

local sequence = args[2] + 0
local value = (call('GET', keys[1]) or 0) + 0
local stored = abs(value)
local is_new, is_lost = sequence > stored, stored < args[3] + 0
local in_time = now <= args[5] + 0
local reply = { 1, now, (is_new and 1 or 0) + ((is_lost or value == -sequence) and 2 or 0) }
local grants, size = {}, 0
local at, last = 6, 1 -- the position of the next argument, and the last key of the group

while last < #keys do
  local first = last + 1
  last = last + args[at]
  local interval, fit, cap = args[at + 1] + 0, args[at + 2] + 0, args[at + 3] + 0
  at = at + 4
  for i = first, last do
    local key, text = keys[i], args[at]
    local charge, own, returned, want, floor_level = interval, text + 0, 0, 0, -MOST_TICKS
    if byte(text) == PLUS then
      charge, own, returned, want = text + 0, args[at + 1] + 0, args[at + 2] + 0, args[at + 3] + 0
      floor_level = args[at + 4] - now
      at = at + 4
    end
    at = at + 1
    local value, level, changed = try('GET', key), ABSENT, false
    if value then
      -- An error is one of the type of this key. The GET of the stream would have raised any other.
      local tat = not value.err and find(value, '^-?%d%d%d%d+$') and sub(value, 1, -4) + 0
      if not tat or tat < now - MOST_BEHIND_TICKS or tat > MOST_TICKS then
        level = false
      else
        level = tat - now
        if level > cap then
          local code = sub(value, -3) + 0
          local f = code % 16
          local written = ldexp(1 + f / 16, (code - f) / 16)
          if level > written then
            level, changed = written, true
          end
        end
      end
    end

    local granted = 0
    if level then
      local before = level
      if is_lost or want % 2 == 1 then
        level = max(level, min(floor_level, cap))
      end
      local kept = level >= floor_level or floor_level <= 0
      if is_new then
        level = max(level, min(max(level + charge, own), cap))
        if in_time and kept and level > 0 then
          level = max(level - returned, 0)
        end
        if in_time and want > 1 then
          local base = max(level, 0)
          granted = max(min(floor((fit - base) / interval), floor(want / 2)), 0)
          level = base + granted * interval
        end
      end
      if not kept then
        granted = -1 - granted
      end
      if changed or level ~= before then
        local life_ms = ceil(level / TICKS_PER_MS) + SLACK_MS
        if life_ms > 0 then
          local fraction, exponent = frexp(max(level, 1))
          local bucket = format(BUCKET, now + level, 16 * exponent - 32 + ceil(32 * fraction))
          call('SET', key, bucket, 'PX', format(WHOLE, life_ms))
        end
      end
    end
    reply[i + 2] = level
    if granted ~= 0 then
      grants[size + 1], grants[size + 2] = i - 1, granted
      size = size + 2
    end
  end
end
for i = 1, size do
  reply[#keys + 2 + i] = grants[i]
end

-- At the end: if an error ends this script, the sync is repeated. Then a bucket may be charged twice, but never not at all.
if is_new then
  call('SET', keys[1], format(WHOLE, is_lost and -sequence or sequence), 'PX', args[4])
end
return reply
