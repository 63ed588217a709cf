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
-- that end instead of now. If it is more than three quarters of the length of the next period, the bucket was used in that
-- one, and this server's clock has stepped back: nothing fits, and the bucket does not change. If it is more than one and
-- three quarters, the clock was wrong, and the level is cut to the one that was written.
--
-- A bucket of slots is a sorted set. The member `<holder>:<k>` is slot k of a holder, and its score is when it expires,
-- in milliseconds since 2026 × 4096 + its expiry in seconds, rounded up. The level is the number of members
-- that have not expired. Expired members are removed when slots are taken. The member `clock` has the time of the last
-- write and the longest expiry since the bucket was empty, in the same form. If that time is ahead, this server's clock has
-- stepped back: slots that would be held longer than their expiry from now are cut to it, even if the batch is denied. Slots are
-- written as soon as their batch passes, so each look reads the changes of the batches before it.
--
-- KEYS[i]      the bucket of transaction i; a bucket of several batches occurs once for each of them
-- ARGV[1]      the last moment, in ticks, at which this script may write
-- ARGV[2…]     the shapes of the batches, in order. Consecutive batches with equal transactions share one shape. It
--              begins with the number of its batches × 2^20 + the number n of transactions in each; + 2^19 if they are
--              alternatives to the batch before each, which are skipped when that batch passed or was skipped. A word for
--              each of the n transactions follows: kind + 16 × the position of its numbers
-- …            if a transaction of the call has slots: the holder of each transaction, or empty text
-- …ARGV[#]     the numbers, counted from the end: position 0 is the last argument. For each transaction: increment,
--              threshold and, for the refund of a decision, the TAT after that decision and the level above which
--              requests wait in a queue: only the last one in the queue gives tokens back, and none whose bucket was
--              reset before its turn. All in ticks. The threshold of kinds 0 to 2 is the level up to which an increment
--              fits, that of the others the highest level that a charge may leave.
--              For kind 10: increment, threshold, one of the other kinds, the TAT after the decision or 0, and the start
--              of a period, its end and the end of the next one in ticks since 2026. The clock of this server
--              chooses one of the two periods
--              For kind 11: increment, threshold, one of the kinds 0 to 3, 7, 12 and 13, the number of slots up to which
--              those that fit are taken, and the expiry in milliseconds. For kinds 12 and 13, the increment is the number
--              of slots, and the threshold is the first of them
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
--   11  one of the others, of slots
--   12  holds slots from now on             0
--   13  releases slots                      0
--
-- Reply        { 1, now in ticks, level of each transaction in ticks … }
--              A level of -1 means that the value of the key is not a bucket, -2 that this is so for another key of the
--              batch. Such a batch takes and gives nothing, except that kinds 12 and 13 change the other buckets, and its
--              alternatives are skipped. The levels of a skipped batch are -3, and its keys are not read. A level of -4
--              means that the clock is in neither period; the batch then takes and gives nothing, its alternatives are
--              skipped, and its other levels mean nothing.
--              { 0, now in ticks } if the moment of ARGV[1] has passed; nothing was written

local keys, args, call, try = KEYS, ARGV, redis.call, redis.pcall
local find, sub, format = string.find, string.sub, string.format
local ceil, frexp = math.ceil, math.frexp

local EPOCH_SECONDS = 1767225600
local TICKS_PER_SECOND, TICKS_PER_MS, TICKS_PER_MICRO = 16000000, 16000, 16
-- A key expires this long after its TAT. If the clock jumps ahead by less, and back again, no bucket in debt is lost.
local SLACK_MS = 1000
-- A TAT further in the past is not a bucket, because its key would have expired. A minute allows for clock changes.
local MOST_BEHIND_TICKS = 60 * TICKS_PER_SECOND
-- Sums of ticks are exact up to 2^53.
local MOST_TICKS = 9007199254740992
-- Formats of numbers in commands. Redis 7.2.0 to 7.2.4 would convert some numbers to 1e+8, and older versions convert
-- slowly. '%d' is faster than '%.0f', but on 32-bit systems it is too short for ticks.
local WHOLE, BUCKET = '%d', '%d%03d'
if format(WHOLE, 4294967296) ~= '4294967296' then
  WHOLE, BUCKET = '%.0f', '%.0f%03d'
end

local time = call('TIME')
local now = (time[1] - EPOCH_SECONDS) * TICKS_PER_SECOND + time[2] * TICKS_PER_MICRO
if now - args[1] > 0 then
  return { 0, now }
end

-- Most calls have one transaction of kind 0. It is decided here like below, without what others need: that takes a sixth
-- off the time of the call. A value that is not a bucket, and a level that may be wrong, are left to the code below.
if #keys == 1 and #args == 5 and args[3] == '0' then
  local key, threshold, increment = keys[1], args[4] + 0, args[5] + 0
  local value, tat = try('GET', key), now
  if value then
    tat = not value.err and find(value, '^-?%d%d%d%d+$') and sub(value, 1, -4) + 0
  end
  if tat and tat >= now - MOST_BEHIND_TICKS and tat <= MOST_TICKS and tat - now <= threshold then
    local level = tat > now and tat - now or 0
    if increment > 0 and increment <= threshold - level then
      tat = now + (level + increment)
      local after = tat - now
      local fraction, exponent = frexp(after)
      call(
        'SET', key, format(BUCKET, tat, 16 * exponent - 32 + ceil(32 * fraction)),
        'PX', format(WHOLE, ceil(after / TICKS_PER_MS) + SLACK_MS)
      )
    end
    return { 1, now, level }
  end
end

local CHECK_ONLY, SPEND_ONLY, LOOK, CHARGE, REFUND, REFUND_DECISION, RESET, CAP, CHARGE_IN_BATCH = 1, 2, 3, 4, 5, 6, 7, 8, 9
local IN_PERIOD, ON_SLOTS, RENEW, RELEASE = 10, 11, 12, 13
local KINDS = 16
local FOREIGN, UNDECIDED, SKIPPED, STALE = -1, -2, -3, -4
-- SLACK_MS of buckets with a period, after its end. It is less than what MOST_BEHIND_TICKS allows.
local PERIOD_SLACK_MS = 30000
-- The factor of the number of batches in the first number of a shape.
local BATCHES = 1048576
-- Added to the number of transactions in the batches of a shape if they are alternatives.
local ALTERNATIVE = 524288

-- The factor of the time in a score of slots, above the longest expiry in seconds.
local EXPIRIES = 4096
-- The member of slots that is not a slot.
local CLOCK = 'clock'
-- The longest list of arguments of one command. Lua can pass at most 8000.
local MOST_ARGUMENTS = 1000
-- How many expired slots are removed at once, apart from as many as are taken.
local MOST_REMOVED = 1000

local floor, max, min, ldexp, huge = math.floor, math.max, math.min, math.ldexp, math.huge

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
-- The rest is set only if a transaction of the call has slots.
local expiry -- of the current transaction; nil if it has no slots
local holders -- the position before the first holder
local now_ms, ended -- the time in milliseconds, and the lowest score of a slot that has not expired
local held -- by key: the number of slots, if it is known; false if the value is not a bucket
local unused -- by key: the number of members that are not held slots, at the last look
local longest -- by key: the longest expiry in seconds of the slots; set by the first look
local clocks -- by key: the longest expiry that this call has written with the clock
local changes -- by transaction: the number of slots that it changes, the first one, and the expiry

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
          mendable, ahead = 1.75 * (next_end - finish), 0.75 * (next_end - finish)
          expiry = nil
        elseif kind == ON_SLOTS then
          kind, expiry = args[place - 2] + 0, args[place - 3] + 0
          base = false
          if not holders then
            local position, count = 2, 0
            while count < #keys do
              local each = args[position] % BATCHES
              local times = (args[position] - each) / BATCHES
              each = each % ALTERNATIVE
              position, count = position + 1 + each, count + times * each
            end
            holders = position - 1
            now_ms = floor(now / TICKS_PER_MS)
            ended = format(WHOLE, (now_ms + 1) * EXPIRIES)
            held, unused, longest, clocks, changes = {}, {}, {}, {}, {}
          end
        end
      end

      local key, level = keys[i], 0
      if not base then
        if not expiry then
          level, readable = STALE, false
        elseif kind == RESET then
          changes[i] = { 0, 0, 0 }
        else
          local look = kind <= LOOK and held[key] == nil or kind == RENEW and longest[key] == nil
          local size
          if look or kind == RELEASE then
            size = try('ZCARD', key)
            if type(size) ~= 'number' then
              if not find(size.err, 'WRONGTYPE', 1, true) then
                call('ZCARD', key) -- raises errors that do not concern the type of this key
              end
              held[key], longest[key] = false, false
            elseif size == 0 then
              held[key], unused[key], longest[key] = 0, 0, 0
            elseif look then
              local score = call('ZSCORE', key, CLOCK)
              if not score then
                held[key], longest[key] = false, false
              else
                local seconds = score % EXPIRIES
                if score - seconds > now_ms * EXPIRIES then
                  local members = call('ZRANGE', key, ended, '+inf', 'BYSCORE', 'WITHSCORES')
                  for m = 1, #members, 2 do
                    local length = members[m + 1] % EXPIRIES
                    local latest = (now_ms + 1000 * length) * EXPIRIES + length
                    if members[m + 1] - latest > 0 then
                      call('ZADD', key, format(WHOLE, latest), members[m])
                    end
                  end
                  call('ZADD', key, format(WHOLE, now_ms * EXPIRIES + seconds), CLOCK)
                  call('PEXPIRE', key, format(WHOLE, 1000 * seconds + SLACK_MS))
                end
                local count = call('ZCOUNT', key, ended, '+inf')
                held[key], unused[key], longest[key] = count, size - count, count > 0 and seconds or 0
              end
            end
          end
          if held[key] == false then
            level, readable = false, false
          elseif kind == RENEW or kind == RELEASE and size > 0 then
            changes[i] = { increment, threshold, expiry }
          elseif kind <= LOOK then
            level = held[key]
            if kind <= SPEND_ONLY and increment > 0 then
              if increment > threshold - level then
                passes = passes and kind == SPEND_ONLY
              elseif kind ~= CHECK_ONLY then
                changes[i] = { increment, 1, expiry }
              end
            end
          end
        end
      elseif kind == RESET then
        afters[i] = now
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
    if changes then
      for j = first, i do
        local change, key = changes[j], keys[j]
        if change and kind == RESET then
          call('DEL', key)
          held[key], longest[key], clocks[key] = nil, nil, nil
        elseif change and (kind >= RENEW or passes and readable) then
          local count, number, expiry_ms = change[1], change[2], change[3]
          local member = args[holders + j] .. ':' .. WHOLE
          local list, last = {}, number + count - 1
          if kind == RELEASE then
            local removed = 0
            for k = number, last do
              list[#list + 1] = format(member, k)
              if #list >= MOST_ARGUMENTS or k == last then
                removed, list = removed + call('ZREM', key, unpack(list)), {}
              end
            end
            held[key] = nil
            -- The clock alone is the same as no key.
            if removed > 0 and call('ZCARD', key) == 1 then
              call('DEL', key)
              longest[key], clocks[key] = nil, nil
            end
          else
            local seconds = ceil(expiry_ms / 1000)
            if kind == RENEW then
              held[key] = nil
            else
              held[key] = held[key] + count
              if unused[key] > 1 then
                call('ZREMRANGEBYRANK', key, '0', format(WHOLE, min(unused[key], MOST_REMOVED + count) - 1))
                -- The clock may have been one of them.
                unused[key], clocks[key] = 1, nil
              end
            end
            if not clocks[key] or clocks[key] < seconds then
              local most = max(seconds, longest[key])
              longest[key], clocks[key] = most, most
              list = { format(WHOLE, now_ms * EXPIRIES + most), CLOCK }
            end
            local score = format(WHOLE, (now_ms + expiry_ms) * EXPIRIES + seconds)
            local has_clock = #list > 0
            for k = number, last do
              list[#list + 1] = score
              list[#list + 1] = format(member, k)
              if #list >= MOST_ARGUMENTS or k == last then
                call('ZADD', key, unpack(list))
                list = {}
              end
            end
            if has_clock then
              call('PEXPIRE', key, format(WHOLE, 1000 * longest[key] + SLACK_MS))
            end
          end
        end
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
