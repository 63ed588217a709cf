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
-- So nothing of ours lies further behind than that; a minute leaves room for whatever a server does to its clock.
local MOST_BEHIND_TICKS = 60 * TICKS_PER_SECOND
-- Sums of ticks are exact to here.
local MOST_TICKS = 9007199254740992

local keys, args, tonumber, find, get = KEYS, ARGV, tonumber, string.find, redis.pcall

local time = redis.call('TIME')
local now = (time[1] - EPOCH_SECONDS) * TICKS_PER_SECOND + time[2] * TICKS_PER_MICRO
if now > tonumber(args[1]) then
  return { 0, now }
end

local oldest = math.max(now - MOST_BEHIND_TICKS, -MOST_TICKS)
local tats = {} -- by key, as this call leaves them so far; false where the key holds none
local changed = {} -- the keys whose TAT is to be written; those of several batches are there several times
local changes = 0
local reply = { 1, now, 0 }
local first_word = 2 + args[2]

-- Transactions of one limit have the same word, so each word is taken apart only when it is another than before.
local word, kind, is_last, increment, tolerance, tat_after
local function take_apart()
  local number = tonumber(word)
  local low = number % 16
  local place = 3 + (number - low) / 16
  kind, is_last = low % 8, low >= 8
  if kind ~= RESET then
    increment, tolerance = tonumber(args[place]), tonumber(args[place + 1])
  end
  if kind == REFUND_DECISION then
    tat_after = tonumber(args[place + 2])
  end
end

local first, passes, readable = 1, true, true
for i = 1, #keys do
  if args[first_word + i] ~= word then
    word = args[first_word + i]
    take_apart()
  end

  local key, level = keys[i], 0
  if kind == RESET then
    tats[key] = now
    changes = changes + 1
    changed[changes] = key
  else
    local tat = tats[key]
    if tat == nil then
      local value = get('GET', key)
      tat = tonumber(value)
      if not value then
        tat = now
      elseif not tat or tat < oldest or tat > MOST_TICKS or not find(value, '^-?%d+$') then
        if type(value) == 'table' and not find(value.err, 'WRONGTYPE', 1, true) then
          redis.call('GET', key) -- What is no matter of this key is raised.
        end
        tat = false
      end
      tats[key] = tat
    end
    if not tat then
      level, readable = false, false
    else
      level = tat - now
      if level > tolerance then
        -- Too far ahead: whoever meets it first replaces it.
        level = tolerance
        tats[key] = now + tolerance
        changes = changes + 1
        changed[changes] = key
      elseif level < 0 then
        level = 0
      end
      if kind <= CHECK_ONLY and increment > tolerance - level then
        passes = false
      end
    end
  end
  reply[i + 2] = level

  if is_last then
    for j = first, i do
      if args[first_word + j] ~= word then
        word = args[first_word + j]
        take_apart()
      end
      local before = reply[j + 2]
      if not readable then
        reply[j + 2] = before and UNDECIDED or FOREIGN
      elseif passes then
        local after = before
        if kind <= SPEND_ONLY then
          if kind ~= CHECK_ONLY and increment <= tolerance - before then
            after = before + increment
          end
        elseif kind == CHARGE then
          after = math.min(before + increment, tolerance)
        elseif kind == REFUND then
          after = math.max(before - increment, 0)
        elseif kind == REFUND_DECISION then
          after = math.max(before - math.min(increment, math.max(tat_after - now, 0)), 0)
        end
        if after ~= before then
          tats[keys[j]] = now + after
          changes = changes + 1
          changed[changes] = keys[j]
        end
        if kind > LOOK then
          reply[j + 2] = after
        end
      end
    end
    first, passes, readable = i + 1, true, true
  end
end

for i = 1, changes do
  local key = changed[i]
  local tat = tats[key]
  if tat then
    if tat > now then
      redis.call('SET', key, tat, 'PX', math.ceil((tat - now) / TICKS_PER_MS) + SLACK_MS)
    else
      redis.call('DEL', key)
    end
    tats[key] = false
  end
end
return reply
