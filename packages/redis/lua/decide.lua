-- Executes batches of transactions on GCRA buckets, in order: each batch sees the changes of the batches before it.
--
-- A bucket is one integer: the TAT in ticks of 1/16 µs since 2026-01-01 UTC by this server's clock, followed by three
-- digits for the level that was written, rounded up by at most a sixteenth. The digits 16 × e + f mean
-- 2^e × (1 + f / 16). A TAT in the past is the same as no key. Buckets are written at the end, each at most once, and
-- only if they have changed.
--
-- A level can be above the threshold of a transaction for two reasons:
-- - The bucket was used with other numbers. Its level is kept: if each transaction cut the level to its own threshold,
--   two sets of numbers would undo each other's debt.
-- - This server's clock has stepped back, or a replica with another clock has taken over. The level is then also above
--   the level that was written, because between two writes a level only falls. It is cut to the level that was written,
--   even if the batch is denied.
--
-- The level of a bucket with a calendar period does not fall with time, but to 0 at the end of the period. It counts from
-- that end instead of now. If it is more than half the length of the next period, the bucket was used in that one, and
-- this server's clock has stepped back: nothing fits, and the bucket does not change. If it is more than one and a half
-- lengths, the clock was wrong, and the level is cut to the one that was written.
--
-- KEYS[i]      the bucket of transaction i; a bucket of several batches occurs once for each of them
-- ARGV[1]      the last moment, in ticks, at which this script may write
-- ARGV[2…]     the shapes of the batches, in order. Consecutive batches with equal transactions share one shape. It
--              begins with the number of its batches × 2^20 + the number n of transactions in each; + 2^19 if they are
--              alternatives to the batch before each, which are skipped when that batch passed or was skipped. A word for
--              each of the n transactions follows: kind + 16 × the position of its numbers
-- …ARGV[#]     the numbers, counted from the end: position 0 is the last argument. For each transaction: increment,
--              threshold and, for the refund of a decision, the TAT after that decision and the level above which
--              requests wait in a queue: only the last one in the queue gives tokens back, and none whose bucket was
--              reset before its turn. All in ticks. The threshold of kinds 0 to 2 is the level up to which an increment
--              fits, that of the others the highest level that a charge may leave.
--              For kind 10: increment, threshold, one of the other kinds, the TAT after the decision or 0, and the start
--              of a period, its end and the end of the next one in ticks since 2026. The clock of this server
--              chooses one of the two periods
--
-- kind  in a batch that passes               level in the reply
--    0  takes; denies if it does not fit     before
--    1  denies if it would not fit           before
--    2  takes if it fits                     before
--    3  reads                                before
--    4  takes, at most to the threshold      after
--    5  gives back, at most to a full one    after
--    6  the same, for a decision             after
--    7  deletes the bucket                   0
--    8  cuts the level to the threshold      after
--    9  takes, at most to the threshold      before
--   10  one of the others, in a period
--
-- Reply        { 1, now in ticks, level of each transaction in ticks … }
--              A level of -1 means that the value of the key is not a bucket, -2 that this is so for another key of the
--              batch. Such a batch takes and gives nothing, and its alternatives are skipped. The levels of a skipped
--              batch are -3, and its keys are not read. A level of -4 means that the clock is in neither period; the
--              batch then takes and gives nothing, its alternatives are skipped, and its other levels mean nothing.
--              { 0, now in ticks } if the moment of ARGV[1] has passed; nothing was written

local CHECK_ONLY, SPEND_ONLY, LOOK, CHARGE, REFUND, REFUND_DECISION, RESET, CAP, CHARGE_IN_BATCH = 1, 2, 3, 4, 5, 6, 7, 8, 9
local IN_PERIOD = 10
local KINDS = 16
local FOREIGN, UNDECIDED, SKIPPED, STALE = -1, -2, -3, -4
local EPOCH_SECONDS = 1767225600
local TICKS_PER_SECOND, TICKS_PER_MS, TICKS_PER_MICRO = 16000000, 16000, 16
-- A key expires this long after its TAT. If the clock jumps ahead by less, and back again, no bucket in debt is lost.
local SLACK_MS = 1000
-- The same for buckets with a period, after its end. It is less than what MOST_BEHIND_TICKS allows.
local PERIOD_SLACK_MS = 30000
-- A TAT further in the past is not a bucket, because its key would have expired. A minute allows for clock changes.
local MOST_BEHIND_TICKS = 60 * TICKS_PER_SECOND
-- Sums of ticks are exact up to 2^53.
local MOST_TICKS = 9007199254740992
-- The factor of the number of batches in the first number of a shape.
local BATCHES = 1048576
-- Added to the number of transactions in the batches of a shape if they are alternatives.
local ALTERNATIVE = 524288

local keys, args, call, try = KEYS, ARGV, redis.call, redis.pcall
local find, sub, format = string.find, string.sub, string.format
local ceil, max, min, frexp, ldexp, huge = math.ceil, math.max, math.min, math.frexp, math.ldexp, math.huge
-- Formats of numbers in commands. Redis 7.2.0 to 7.2.4 would convert some numbers to 1e+8, and older versions convert
-- slowly. '%d' is faster than '%.0f', but on 32-bit systems it is too short for ticks.
local WHOLE = format('%d', MOST_TICKS) == '9007199254740992' and '%d' or '%.0f'
local BUCKET = WHOLE .. '%03d'

local time = call('TIME')
local now = (time[1] - EPOCH_SECONDS) * TICKS_PER_SECOND + time[2] * TICKS_PER_MICRO
if now - args[1] > 0 then
  return { 0, now }
end

local reply = { 1, now, 0 }
local tats = {} -- by key: the TAT after the batches so far; false if the value is not a bucket
local afters = {} -- by transaction: the TAT after it, if that differs from the TAT before
local ends = {} -- by key: the end of the current period, if the bucket has one and may be written
local healed = {} -- by key: true if the clock was wrong; the bucket is repaired even if the batch is denied
local word, kind, increment, threshold, tat_after -- of the current transaction; equal words share them
-- The same, for the current transaction: the time from which its level counts (false if its periods are stale), the level
-- above which an error of the clock is looked for, the level above which its bucket is one of the next period, and the
-- level above which requests wait in a queue.
local base, mendable, ahead, queue
local i, shape = 0, 2 -- the index of the current transaction, and the position of the current shape
local done -- whether the alternatives to the last batch are skipped

while i < #keys do
  local size, is_alternative = args[shape] % BATCHES, false
  local batches = (args[shape] - size) / BATCHES
  if size >= ALTERNATIVE then
    size, is_alternative = size - ALTERNATIVE, true
  end
  for _ = 1, batches do
    local first, passes, readable = i + 1, true, true
    local last = shape + size
    if is_alternative and done then
      for j = first, i + size do
        reply[j + 2] = SKIPPED
      end
      i, last = i + size, shape
    end

    for at = shape + 1, last do
      i = i + 1
      if args[at] ~= word then
        word = args[at]
        kind = word % KINDS
        local place = #args - (word - kind) / KINDS
        if kind ~= RESET then
          increment, threshold = args[place] + 0, args[place - 1] + 0
        end
        base, mendable, ahead, queue = now, threshold, huge, huge
        if kind == REFUND_DECISION then
          tat_after, queue = args[place - 2] + 0, args[place - 3] + 0
        elseif kind == IN_PERIOD then
          kind, tat_after = args[place - 2] + 0, args[place - 3] + 0
          local start, finish, next_end = args[place - 4] + 0, args[place - 5] + 0, args[place - 6] + 0
          -- In this form, so that NaN is stale.
          base = now >= start and now < next_end and (now < finish and finish or next_end)
          mendable, ahead = 1.5 * (next_end - finish), (next_end - finish) / 2
        end
      end

      local key, level = keys[i], 0
      if kind == RESET then
        afters[i] = now
      elseif not base then
        level, readable = STALE, false
      else
        local tat = tats[key]
        if tat == nil then
          local value = try('GET', key)
          if not value then
            tat = now
          elseif value.err then
            if not find(value.err, 'WRONGTYPE', 1, true) then
              call('GET', key) -- raises errors that do not concern the type of this key
            end
            tat = false
          else
            tat = find(value, '^-?%d%d%d%d+$') and sub(value, 1, -4) + 0
            if not tat or tat < now - MOST_BEHIND_TICKS or tat > MOST_TICKS then
              tat = false
            elseif tat - base > mendable then
              local code = sub(value, -3) + 0
              local f = code % 16
              local written = ldexp(1 + f / 16, (code - f) / 16)
              if tat - base > written then
                tat = base + written
                healed[key] = true
                ends[key] = base ~= now and base or nil
              end
            end
          end
          tats[key] = tat
        end

        if tat then
          level = tat > base and tat - base or 0
          local after = level
          if kind <= SPEND_ONLY then
            if increment > threshold - level and increment > 0 then
              passes = passes and kind == SPEND_ONLY
            elseif kind ~= CHECK_ONLY then
              after = level + increment
            end
          elseif kind == CHARGE or kind == CHARGE_IN_BATCH then
            after = max(level, min(level + increment, threshold))
          elseif level > ahead then
            after = level
          elseif kind == REFUND then
            after = max(level - increment, 0)
          elseif kind == REFUND_DECISION and (tat == tat_after or max(level, tat_after - base) <= queue) then
            after = max(level - min(increment, max(tat_after - base, 0)), 0)
          elseif kind == CAP then
            after = min(level, threshold)
          end
          if after ~= level then
            afters[i] = base + after
            ends[key] = base ~= now and base or nil
          end
          if kind > LOOK and kind ~= CHARGE_IN_BATCH then
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
        tats[keys[j]] = afters[j]
      end
      if not readable and reply[j + 2] ~= STALE then
        reply[j + 2] = reply[j + 2] and UNDECIDED or FOREIGN
      end
    end
    done = passes or not readable
  end
  shape = shape + 1 + size
end

for i = 1, #keys do
  local key = keys[i]
  local tat = (afters[i] or healed[key]) and tats[key]
  if tat then
    local finish = ends[key]
    local level = tat - (finish or now)
    if level > 0 then
      local fraction, exponent = frexp(level)
      call(
        'SET', key, format(BUCKET, tat, 16 * exponent - 32 + ceil(32 * fraction)),
        'PX', format(WHOLE, ceil((tat - now) / TICKS_PER_MS) + (finish and PERIOD_SLACK_MS or SLACK_MS))
      )
    else
      call('DEL', key)
    end
    tats[key] = false
  end
end
return reply
