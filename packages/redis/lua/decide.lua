-- Decides batches of transactions on GCRA buckets, one batch after the other: each sees what the former ones wrote.
--
-- A bucket is its TAT, ticks of 1/16 µs since 2026-01-01 UTC by this server's clock, as an integer string; one that
-- has passed is the same as no key. Nothing is written but the TATs that change, each once, when all is decided.
--
-- KEYS[i]      the bucket of transaction i; one that several batches name is there several times
-- ARGV[1]      the last moment, in ticks, at which this script may write
-- ARGV[2…]     the batches, in order. Those that follow each other and are of one shape are written once: how many they
--              are × 2^20 + n, and for each of their n transactions kind + 8 × the place of its numbers
-- …ARGV[#]     the numbers, from the end on, where place 0 is: increment, tolerance and, for the refund of a decision,
--              the TAT that the decision left, all in ticks
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
-- A shape begins with how many batches it has, times this, and how many transactions each of them has.
local BATCHES = 1048576

local keys, args, call, try = KEYS, ARGV, redis.call, redis.pcall
local find, format, ceil, max, min = string.find, string.format, math.ceil, math.max, math.min
-- How numbers are written for commands. Left to Redis, 7.2.0 to 7.2.4 write some as 1e+8, and older ones are slow at it.
-- '%d' is the faster of the two, but on 32 bits too short for our numbers.
local WHOLE = format('%d', MOST_TICKS) == '9007199254740992' and '%d' or '%.0f'

local time = call('TIME')
local now = (time[1] - EPOCH_SECONDS) * TICKS_PER_SECOND + time[2] * TICKS_PER_MICRO
if now - args[1] > 0 then
  return { 0, now }
end

local reply = { 1, now, 0 }
local tats = {} -- by key, as the batches so far leave them; false where the key holds none
local afters = {} -- by transaction: the level that it leaves, where that is another than before
local too_far = {} -- by transaction: true where the TAT was too far ahead, which is mended although the batch is denied
local word, kind, increment, tolerance, tat_after -- the present transaction; those of one limit share them
local i, shape = 0, 2 -- the last transaction that was looked at, and where the present shape stands

while i < #keys do
  local size = args[shape] % BATCHES
  for _ = 1, (args[shape] - size) / BATCHES do
    local first, passes, readable = i + 1, true, true

    for at = shape + 1, shape + size do
      i = i + 1
      if args[at] ~= word then
        word = args[at]
        kind = word % 8
        local place = #args - (word - kind) / 8
        if kind ~= RESET then
          increment, tolerance = args[place] + 0, args[place - 1] + 0
        end
        if kind == REFUND_DECISION then
          tat_after = args[place - 2] + 0
        end
      end

      local key, level = keys[i], 0
      if kind == RESET then
        afters[i] = 0
      else
        local tat = tats[key]
        if tat == nil then
          local value = try('GET', key)
          if not value then
            tat = now
          elseif value.err then
            if not find(value.err, 'WRONGTYPE', 1, true) then
              call('GET', key) -- What is no matter of this key is raised.
            end
            tat = false
          else
            tat = find(value, '^-?%d+$') and value + 0
            if not tat or tat < now - MOST_BEHIND_TICKS or tat > MOST_TICKS then
              tat = false
            end
          end
          tats[key] = tat
        end

        if tat then
          level = tat > now and tat - now or 0
          if level > tolerance then
            -- Whoever meets it first replaces it.
            level = tolerance
            tats[key] = now + tolerance
            too_far[i], afters[i] = true, level
          end
          local after = level
          if kind <= SPEND_ONLY then
            if increment > tolerance - level then
              passes = passes and kind == SPEND_ONLY
            elseif kind ~= CHECK_ONLY then
              after = level + increment
            end
          elseif kind == CHARGE then
            after = min(level + increment, tolerance)
          elseif kind == REFUND then
            after = max(level - increment, 0)
          elseif kind == REFUND_DECISION then
            after = max(level - min(increment, max(tat_after - now, 0)), 0)
          end
          if after ~= level then
            afters[i] = after
          end
          if kind > LOOK then
            level = after
          end
        else
          level, readable = false, false
        end
      end
      reply[i + 2] = level
    end

    for j = first, i do
      if not (passes and readable) then
        afters[j] = too_far[j]
      elseif afters[j] then
        tats[keys[j]] = now + afters[j]
      end
      if not readable then
        reply[j + 2] = reply[j + 2] and UNDECIDED or FOREIGN
      end
    end
  end
  shape = shape + 1 + size
end

for i = 1, #keys do
  local key = keys[i]
  local tat = afters[i] and tats[key]
  if tat then
    if tat > now then
      call('SET', key, format(WHOLE, tat), 'PX', format(WHOLE, ceil((tat - now) / TICKS_PER_MS) + SLACK_MS))
    else
      call('DEL', key)
    end
    tats[key] = false
  end
end
return reply
