-- The tables and functions of @sluice/postgres. The store creates them itself, unless its option `migrate` is false. To
-- create them by hand: psql -f schema.sql, or with other names: sed 's/\bsluice/limits/g' schema.sql | psql
--
-- The store runs the whole file when a table or a function is missing, or the version is older. It can be run again.

-- A bucket is one row. `tat` is the moment when it is full again, in ticks of 1/16 µs since 2026-01-01 UTC by the clock of
-- this server, and `level` is the level that was written, tat − now. A row whose `tat` has passed is the same as no row.
--
-- The bucket of a quota has the end of its period in place of now: tat = end + tokens taken. The bucket of a concurrency
-- limit has its slots in sluice_slots, and `tat` is when the last of its leases ends.
--
-- Updates of rows stay on their page while it has room, so that the index does not change.
create unlogged table if not exists sluice (
  key text collate "C" primary key,
  tat bigint not null,
  level bigint not null
)
with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);

-- Slots that are held: those from `first` to `first + count − 1` of a holder, until `ends`. `lease` is the length of the
-- lease, in ticks. Rows are read and written only under the lock of the bucket in sluice.
create unlogged table if not exists sluice_slots (
  key text collate "C" not null,
  holder text collate "C" not null,
  first bigint not null,
  count bigint not null,
  ends bigint not null,
  lease bigint not null,
  primary key (key, holder, first)
)
with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);

-- Executes batches of transactions on buckets, in order: each batch sees the changes of the batches before it. The rule is
-- that of the generic cell rate algorithm (docs/gcra.md), in whole numbers.
--
-- The rows of all buckets are locked first, in the order of their keys, so that two calls never wait for each other. Then
-- the clock is read. A call that changes nothing, such as one whose batches are all denied, needs no lock: it reads the rows
-- of one moment, and after them the slots of each bucket.
--
-- A level above the level that was written is an error of the clock, because between two writes a level only falls. It is
-- set to the written level, even if the batch is denied. A level above the thresholds of a transaction is kept otherwise:
-- the bucket was used with other numbers. A level of a bucket in a period that is above half the length of the next period was
-- written in that one, and the clock has stepped back: nothing fits, and the bucket does not change. Only one above one and a
-- half lengths is an error.
--
-- wait_ms    how long to wait for locks, in milliseconds
-- locks      whether to lock at once; otherwise only if a batch changes something
-- keys       the keys of the buckets, each once
-- program    the batches: each begins with the number of its transactions; 1 if it is an alternative to the batch before, which
--            is skipped when that one passed or was skipped, or else 0; and the last moment, in ticks, at which it may be
--            executed. Each transaction is nine numbers: the place of its key, from 1; its kind; its form; increment; threshold;
--            and four of its form
-- holders    the holders of slots
--
-- form 0     for the refund of a decision: the TAT after that decision, and the level above which requests wait in a queue: only
--            the last one in the queue gives tokens back, and none whose bucket was reset before its turn
-- form 1     in a period: the TAT after the decision, the start of a period, its end, and the end of the next one, in
--            milliseconds of Unix time. The clock of this server chooses one of the two periods
-- form 2     of slots: the number up to which those that fit are taken, the lease in milliseconds, the place of the holder
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
--   12  holds slots from now on              0
--   13  releases slots                       0
--
-- Kinds 12 and 13 are of form 2: the increment is the number of slots, and the threshold is the first of them.
--
-- Returns now in ticks, 1 if something was changed or else 0, and the level of each transaction, separated by commas. A level
-- of -1 means that the row is not a bucket, -2 that another one of the batch has -1 or -4; -3 that the batch was skipped; -4
-- that the clock is in neither period; -5 that the last moment of the batch has passed. Such a batch takes and gives nothing,
-- and all but one that was skipped skip their alternatives.
create or replace function sluice_run_v1(wait_ms integer, locks boolean, keys text[], program bigint[], holders text[])
returns text
language plpgsql
-- Every row is found by its key. Statistics of a table that was empty a moment ago would say otherwise.
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  check_only constant bigint := 1;
  spend_only constant bigint := 2;
  look constant bigint := 3;
  charge constant bigint := 4;
  refund constant bigint := 5;
  refund_decision constant bigint := 6;
  reset_bucket constant bigint := 7;
  cap constant bigint := 8;
  charge_in_batch constant bigint := 9;
  renew constant bigint := 12;
  is_foreign constant bigint := -1;
  undecided constant bigint := -2;
  skipped constant bigint := -3;
  stale constant bigint := -4;
  expired constant bigint := -5;
  epoch_ms constant bigint := 1767225600000;
  ticks_per_ms constant bigint := 16000;
  width constant integer := 9;
  -- The TAT of no bucket, in the past of every clock.
  absent constant bigint := -4611686018427387904;
  -- Sums of ticks are exact up to 2^53.
  most_ticks constant bigint := 9007199254740992;

  tats bigint[];
  levels bigint[];
  -- For each key: whether its row is to be written.
  dirty boolean[];
  changed boolean;
  now_ticks bigint;
  now_ms bigint;
  reply bigint[];
  -- For each transaction: the TAT after it, if that differs, and the level.
  afters bigint[];
  after_levels bigint[];
  -- For each transaction of slots: how many it changes.
  counts bigint[];
  ends constant integer := coalesce(array_length(program, 1), 0);
  pos integer := 1;
  start integer;
  i integer := 0;
  first integer;
  size bigint;
  passes boolean;
  readable boolean;
  done boolean := false;
  at bigint;
  kind bigint;
  form bigint;
  increment bigint;
  threshold bigint;
  tat bigint;
  base bigint;
  level bigint;
  after bigint;
  span bigint;
  after_decision bigint;
  lacks boolean;
  micros bigint;
  stepped boolean;
  remains record;
begin
  perform set_config('lock_timeout', wait_ms::text, true);
  <<attempt>>
  loop
    if locks then
      -- A row that exists is locked and not changed, and one that does not is created.
      insert into sluice as b (key, tat, level)
      select k, absent, 0 from unnest(keys) as k order by k collate "C"
      on conflict (key) do update set level = 0 where false;
    end if;
    select array_agg(coalesce(b.tat, absent) order by c.place), array_agg(coalesce(b.level, 0) order by c.place)
    into tats, levels
    from unnest(keys) with ordinality as c(key, place)
    left join sluice as b on b.key = c.key;
    -- After the rows were read: what others have written was written before now.
    micros := (extract(epoch from clock_timestamp()) * 1000000)::bigint;
    now_ticks := micros * 16 - epoch_ms * ticks_per_ms;
    now_ms := micros / 1000;
    dirty := array_fill(false, array[cardinality(keys)]);
    changed := false;
    reply := '{}';
    afters := '{}';
    after_levels := '{}';
    counts := '{}';
    pos := 1;
    i := 0;
    done := false;

    while pos < ends loop
      size := program[pos];
      first := i + 1;
      start := pos + 3;
      passes := true;
      readable := true;
      if (program[pos + 1] = 1 and done) or now_ticks > program[pos + 2] then
        level := case when program[pos + 1] = 1 and done then skipped else expired end;
        for j in 1 .. size loop
          i := i + 1;
          reply[i] := level;
        end loop;
        done := true;
        pos := start + size * width;
        continue;
      end if;
      pos := start;

      for j in 1 .. size loop
        i := i + 1;
        at := program[pos];
        kind := program[pos + 1];
        form := program[pos + 2];
        increment := program[pos + 3];
        threshold := program[pos + 4];
        level := 0;
        afters[i] := null;
        counts[i] := null;
        if kind = reset_bucket then
          afters[i] := absent;
          after_levels[i] := 0;
          if form = 2 then
            counts[i] := 0;
          end if;
        elsif form = 2 then
          if kind >= renew then
            counts[i] := increment;
          else
            select coalesce(sum(s.count) filter (where s.ends > now_ticks), 0),
              coalesce(bool_or(s.ends > now_ticks + s.lease), false)
            into level, stepped
            from sluice_slots as s where s.key = keys[at];
            -- The clock has stepped back: no slot is held for longer than its lease from now.
            if stepped then
              if not locks then
                locks := true;
                continue attempt;
              end if;
              changed := true;
              update sluice_slots as s set ends = now_ticks + s.lease
              where s.key = keys[at] and s.ends > now_ticks + s.lease;
            end if;
            if kind <> look and increment > 0 then
              if increment > threshold - level then
                passes := passes and kind = spend_only;
              elsif kind <> check_only then
                counts[i] := greatest(increment, least(program[pos + 5], threshold - level));
              end if;
            end if;
          end if;
        else
          tat := tats[at];
          base := now_ticks;
          span := null;
          after_decision := program[pos + 5];
          if form = 1 then
            if now_ms >= program[pos + 6] and now_ms < program[pos + 8] then
              base := case when now_ms < program[pos + 7] then program[pos + 7] else program[pos + 8] end;
              base := (base - epoch_ms) * ticks_per_ms;
              span := (program[pos + 8] - program[pos + 7]) * ticks_per_ms;
            else
              level := stale;
            end if;
          end if;
          if level <> stale and (tat > most_ticks or levels[at] < 0) then
            level := is_foreign;
          end if;
          if level < 0 then
            readable := false;
          else
            level := greatest(tat - base, 0);
            if level > levels[at] and (span is null or level * 2 > span * 3) then
              level := levels[at];
              tat := base + level;
              tats[at] := tat;
              dirty[at] := true;
              changed := true;
            end if;
            lacks := increment > threshold - level and increment > 0;
            after := level;
            if kind <= spend_only then
              if lacks then
                passes := passes and kind = spend_only;
              elsif kind <> check_only then
                after := level + increment;
              end if;
            elsif kind = charge or kind = charge_in_batch then
              after := greatest(level, least(level + increment, threshold));
            elsif level * 2 > span then
              null;
            elsif kind = refund then
              after := greatest(level - increment, 0);
            elsif kind = refund_decision then
              if form = 1 or tat = after_decision or greatest(level, after_decision - base) <= program[pos + 6] then
                after := greatest(level - least(increment, greatest(after_decision - base, 0)), 0);
              end if;
            elsif kind = cap then
              after := least(level, threshold);
            end if;
            if after <> level then
              afters[i] := case when after > 0 then base + after else absent end;
              after_levels[i] := after;
            end if;
            if kind > look and kind <> charge_in_batch then
              level := after;
            end if;
          end if;
        end if;
        reply[i] := level;
        pos := pos + width;
      end loop;

      if not readable then
        for j in first .. i loop
          if reply[j] <> stale and reply[j] <> is_foreign then
            reply[j] := undecided;
          end if;
        end loop;
      elsif passes then
        for j in first .. i loop
          at := program[start];
          if not locks and (afters[j] is not null or counts[j] is not null) then
            locks := true;
            continue attempt;
          end if;
          if afters[j] is not null then
            tats[at] := afters[j];
            levels[at] := after_levels[j];
            dirty[at] := true;
            changed := true;
          end if;
          if counts[j] is not null then
            changed := true;
            kind := program[start + 1];
            if kind = reset_bucket then
              delete from sluice_slots as s where s.key = keys[at];
            else
              after := case when kind >= renew then program[start + 4] else 1 end;
              -- Slots that overlap are freed, and the rest of their rows is kept.
              for remains in
                delete from sluice_slots as s
                where s.key = keys[at] and s.holder = holders[program[start + 7]]
                  and s.first < after + counts[j] and s.first + s.count > after
                returning s.first, s.count, s.ends, s.lease
              loop
                insert into sluice_slots
                select keys[at], holders[program[start + 7]], r.first, r.until - r.first, remains.ends, remains.lease
                from (values (remains.first, after), (after + counts[j], remains.first + remains.count)) as r(first, until)
                where r.until > r.first;
              end loop;
              if kind <= renew then
                span := program[start + 6] * ticks_per_ms;
                delete from sluice_slots as s where s.key = keys[at] and s.ends <= now_ticks;
                insert into sluice_slots
                values (keys[at], holders[program[start + 7]], after, counts[j], now_ticks + span, span);
                tats[at] := greatest(tats[at], now_ticks + span);
                dirty[at] := true;
              end if;
            end if;
          end if;
          start := start + width;
        end loop;
      end if;
      done := passes or not readable;
    end loop;
    exit when locks or not changed;
    locks := true;
  end loop;

  if locks then
    update sluice as b set tat = c.tat, level = c.level
    from unnest(keys, tats, levels, dirty) as c(key, tat, level, dirty)
    where c.dirty and c.tat <> absent and b.key = c.key;
    if absent = any(tats) then
      delete from sluice as b using unnest(keys, tats) as c(key, tat) where c.tat = absent and b.key = c.key;
    end if;
  end if;
  return now_ticks || ',' || changed::integer || case when i > 0 then ',' || array_to_string(reply, ',') else '' end;
end
$$;

-- Deletes the buckets of some pages whose TAT has passed by more than half a minute: if the clock steps back by less, no
-- bucket in debt is lost. Rows that others have locked are left out, so it never waits.
--
-- Returns the page at which to continue, 0 after the last one, and the number of buckets that were deleted, separated by a comma.
create or replace function sluice_sweep_v1(page bigint, pages bigint)
returns text
language plpgsql
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  kept_ticks constant bigint := 30::bigint * 16000000;
  epoch_seconds constant bigint := 1767225600;
  before bigint;
  gone text[];
begin
  before := ((extract(epoch from clock_timestamp()) - epoch_seconds) * 16000000)::bigint - kept_ticks;
  with deleted as (
    delete from sluice as b
    where b.ctid = any(array(
      select o.ctid from sluice as o
      where o.ctid >= format('(%s,0)', page)::tid and o.ctid < format('(%s,0)', page + pages)::tid and o.tat < before
      for update skip locked
    ))
    returning b.key
  )
  select array_agg(d.key) into gone from deleted as d;
  delete from sluice_slots as s where s.key = any(gone);
  page := page + pages;
  if page * current_setting('block_size')::bigint >= pg_relation_size('sluice') then
    page := 0;
  end if;
  return page || ',' || coalesce(cardinality(gone), 0);
end
$$;

comment on table sluice is 'Buckets of Sluice, version 1';
