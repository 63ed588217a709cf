-- Decides batches of transactions on GCRA buckets, one batch after the other: each sees what the former ones wrote.
--
-- A bucket is one integer: its TAT, ticks of 1/16 µs since 2026-01-01 UTC by this server's clock, and behind it three
-- digits that encode the level that was written, rounded up by at most a sixteenth: 16 × e + f is 2^e × (1 + f / 16).
-- A TAT that has passed is the same as no key. Nothing is written but the buckets that change, each once, when all is
-- decided.
--
-- A level above a transaction's tolerance has one of two reasons. Other numbers were used on the bucket: then it stays
-- as it is, since cutting it at each look would let two sets of numbers undo each other's debt. Or this server's clock
-- has stepped back, or a replica with another clock took over: then it is also above the level that was written, for
-- between two writes a level only falls. It is cut to that one, whatever the batch comes to.
--
-- KEYS[i]      the bucket of transaction i; one that several batches name is there several times
-- ARGV[1]      the last moment, in ticks, at which this script may write
-- ARGV[2…]     the batches, in order. Those that follow each other and are of one shape are written once: how many they
--              are × 2^20 + n, and for each of their n transactions kind + 16 × the place of its numbers
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
--    8  cut to at most its tolerance     after
--
-- Reply        { 1, now in ticks, level of each transaction in ticks … }
--              a level of -1: the key holds no TAT; of -2: another key of the batch does not. Such a batch takes and
--              gives nothing.
--              { 0, now in ticks } when the time was over: nothing was written

local CHECK_ONLY, SPEND_ONLY, LOOK, CHARGE, REFUND, REFUND_DECISION, RESET = 1, 2, 3, 4, 5, 6, 7
local KINDS = 16
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
local find, sub, format = string.find, string.sub, string.format
local ceil, max, min, frexp, ldexp = math.ceil, math.max, math.min, math.frexp, math.ldexp
-- How numbers are written for commands. Left to Redis, 7.2.0 to 7.2.4 write some as 1e+8, and older ones are slow at it.
-- '%d' is the faster of the two, but on 32 bits too short for our numbers.
local WHOLE = format('%d', MOST_TICKS) == '9007199254740992' and '%d' or '%.0f'
local BUCKET = WHOLE .. '%03d'

local time = call('TIME')
local now = (time[1] - EPOCH_SECONDS) * TICKS_PER_SECOND + time[2] * TICKS_PER_MICRO
if now - args[1] > 0 then
  return { 0, now }
end

local reply = { 1, now, 0 }
local tats = {} -- by key, as the batches so far leave them; false where the key holds none
local afters = {} -- by transaction: the level that it leaves, where that is another than before
local healed = {} -- by key: true where the clock was wrong, which is mended although the batch is denied
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
        kind = word % KINDS
        local place = #args - (word - kind) / KINDS
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
            tat = find(value, '^-?%d%d%d%d+$') and sub(value, 1, -4) + 0
            if not tat or tat < now - MOST_BEHIND_TICKS or tat > MOST_TICKS then
              tat = false
            elseif tat - now > tolerance then
              local code = sub(value, -3) + 0
              local f = code % 16
              local written = ldexp(1 + f / 16, (code - f) / 16)
              if tat - now > written then
                tat = now + written
                healed[key] = true
              end
            end
          end
          tats[key] = tat
        end

        if tat then
          level = tat > now and tat - now or 0
          local after = level
          if kind <= SPEND_ONLY then
            if increment > tolerance - level and increment > 0 then
              passes = passes and kind == SPEND_ONLY
            elseif kind ~= CHECK_ONLY then
              after = level + increment
            end
          elseif kind == CHARGE then
            after = max(level, min(level + increment, tolerance))
          elseif kind == REFUND then
            after = max(level - increment, 0)
          elseif kind == REFUND_DECISION then
            after = max(level - min(increment, max(tat_after - now, 0)), 0)
          elseif kind > RESET then
            after = min(level, tolerance)
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
        afters[j] = nil
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
  local tat = (afters[i] or healed[key]) and tats[key]
  if tat then
    local level = tat - now
    if level > 0 then
      local fraction, exponent = frexp(level)
      call(
        'SET', key, format(BUCKET, tat, 16 * exponent - 32 + ceil(32 * fraction)),
        'PX', format(WHOLE, ceil(level / TICKS_PER_MS) + SLACK_MS)
      )
    else
      call('DEL', key)
    end
    tats[key] = false
  end
end
return reply
