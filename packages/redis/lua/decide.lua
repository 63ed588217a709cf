-- Decides batches of transactions on GCRA buckets, one batch after the other: each sees what the former ones wrote.
--
-- A bucket is its TAT, ticks of 1/16 µs since 2026-01-01 UTC by this server's clock, as an integer string; one that
-- has passed is the same as no key. Nothing is written but the TATs that change, each once, when all is decided.
--
-- KEYS[i]      the bucket of transaction i; one that several batches name is there several times
-- ARGV[1]      the last moment, in ticks, at which this script may write
-- ARGV[2]      n, how many numbers follow
-- ARGV[3…2+n]  numbers that transactions point to: increment, tolerance and, for the refund of a decision,
--              the TAT that the decision left, all in ticks
-- ARGV[2+n+i]  transaction i: kind + 8 when it is the last of its batch + 16 × the place of its numbers, from 0
--
-- kind  in a batch that passes           level in the reply
--    0  taken; denies when it can't be   before
--    1  denies when it would not fit     before
--    2  taken when it fits               before
--    3  looked at                        as it is
--    4  taken, at most to empty          after
--    5  given back, at most to full      after
--    6  the same, of a decision          after
--    7  forgotten                        0
--
-- Reply        { 1, now in ticks, level of each transaction in ticks … }
--              a level of -1: the key holds no TAT; of -2: another key of the batch does not. Such a batch takes and
--              gives nothing.
--              { 0, now in ticks } when the time was over: nothing was written

local CHECK_ONLY, SPEND_ONLY, LOOK, CHARGE, REFUND, REFUND_DECISION, RESET = 1, 2, 3, 4, 5, 6, 7
local FOREIGN, UNDECIDED = -1, -2
local EPOCH_SECONDS = 1767225600
local TICKS_PER_SECOND, TICKS_PER_MS, TICKS_PER_MICRO = 16000000, 16000, 16
-- A key outlives its TAT by this much: a clock that jumps ahead for less than that, and back again, frees nobody.
local SLACK_MS = 1000
-- Sums of ticks are exact to here.
local MOST_TICKS = 9007199254740992

local time = redis.call('TIME')
local now = (time[1] - EPOCH_SECONDS) * TICKS_PER_SECOND + time[2] * TICKS_PER_MICRO
if now > tonumber(ARGV[1]) then
  return { 0, now }
end

local first_word = 2 + ARGV[2]
local numbers = {}
for i = 3, first_word do
  numbers[i - 3] = tonumber(ARGV[i])
end

local tats = {} -- by key, as this call leaves them so far; false where the key holds none
local changed = {} -- the keys whose TAT is to be written

local function read(key)
  local value = redis.pcall('GET', key)
  if not value then
    return now
  elseif type(value) == 'table' then
    -- Whatever else it is, is no matter of this key: it is raised as it came.
    return not string.find(value.err, 'WRONGTYPE', 1, true) and redis.call('GET', key)
  end
  local tat = #value <= 17 and string.find(value, '^-?%d+$') and tonumber(value)
  return tat and tat <= MOST_TICKS and tat >= -MOST_TICKS and tat
end

local function write(key, tat)
  tats[key] = tat
  changed[key] = true
end

-- The debt of a bucket, false when its key holds no TAT. A TAT too far ahead is replaced by whoever meets it first.
local function level_of(key, tolerance)
  local tat = tats[key]
  if tat == nil then
    tat = read(key)
    tats[key] = tat
  end
  if not tat then
    return false
  end
  local level = tat - now
  if level > tolerance then
    write(key, now + tolerance)
    return tolerance
  end
  return level > 0 and level or 0
end

local reply, kinds, places = { 1, now }, {}, {}

local function change(i, level)
  local kind, place = kinds[i], places[i]
  local increment, tolerance = numbers[place], numbers[place + 1]
  local after = level
  if kind <= SPEND_ONLY then
    if kind ~= CHECK_ONLY and increment <= tolerance - level then
      after = level + increment
    end
  elseif kind == CHARGE then
    after = math.min(level + increment, tolerance)
  elseif kind == REFUND then
    after = math.max(level - increment, 0)
  elseif kind == REFUND_DECISION then
    after = math.max(level - math.min(increment, math.max(numbers[place + 2] - now, 0)), 0)
  end
  if after ~= level then
    write(KEYS[i], now + after)
  end
  return kind > LOOK and after or level
end

local function decide(first, last)
  local passes, readable = true, true
  for i = first, last do
    local kind, place = kinds[i], places[i]
    local level = 0
    if kind == RESET then
      write(KEYS[i], now)
    else
      level = level_of(KEYS[i], numbers[place + 1])
      if not level then
        readable = false
      elseif kind <= CHECK_ONLY and numbers[place] > numbers[place + 1] - level then
        passes = false
      end
    end
    reply[i + 2] = level
  end
  for i = first, last do
    if not readable then
      reply[i + 2] = reply[i + 2] and UNDECIDED or FOREIGN
    elseif passes and kinds[i] ~= RESET then
      reply[i + 2] = change(i, reply[i + 2])
    end
  end
end

local first = 1
for i = 1, #KEYS do
  local word = tonumber(ARGV[first_word + i])
  local low = word % 16
  kinds[i] = low % 8
  places[i] = (word - low) / 16
  if low >= 8 then
    decide(first, i)
    first = i + 1
  end
end

for key in pairs(changed) do
  local tat = tats[key]
  if tat > now then
    redis.call('SET', key, tat, 'PX', math.ceil((tat - now) / TICKS_PER_MS) + SLACK_MS)
  else
    redis.call('DEL', key)
  end
end
return reply
