--
-- PostgreSQL database dump
--


-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: sluice_run_v1(integer, boolean, text[], bigint[], text[]); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.sluice_run_v1(wait_ms integer, locks boolean, keys text[], program bigint[], holders text[]) RETURNS text
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
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
      insert into "sluice" as b (key, tat, level)
      select k, absent, 0 from unnest(keys) as k order by k collate "C"
      on conflict (key) do update set level = 0 where false;
    end if;
    select array_agg(coalesce(b.tat, absent) order by c.place), array_agg(coalesce(b.level, 0) order by c.place)
    into tats, levels
    from unnest(keys) with ordinality as c(key, place)
    left join "sluice" as b on b.key = c.key;
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
              coalesce(bool_or(s.ends > now_ticks + s.expiry), false)
            into level, stepped
            from "sluice_slots" as s where s.key = keys[at];
            -- The clock has stepped back: no slot is held for longer than its expiry from now.
            if stepped then
              if not locks then
                locks := true;
                continue attempt;
              end if;
              changed := true;
              update "sluice_slots" as s set ends = now_ticks + s.expiry
              where s.key = keys[at] and s.ends > now_ticks + s.expiry;
            end if;
            if kind <> look and increment > 0 then
              if increment > threshold - level then
                passes := passes and kind = spend_only;
              elsif kind <> check_only then
                counts[i] := increment;
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
            if level > levels[at] and (span is null or level * 4 > span * 7) then
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
            elsif level * 4 > span * 3 then
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
              delete from "sluice_slots" as s where s.key = keys[at];
            else
              after := case when kind >= renew then program[start + 4] else 1 end;
              -- Slots that overlap are freed, and the rest of their rows is kept.
              for remains in
                delete from "sluice_slots" as s
                where s.key = keys[at] and s.holder = holders[program[start + 6]]
                  and s.first < after + counts[j] and s.first + s.count > after
                returning s.first, s.count, s.ends, s.expiry
              loop
                insert into "sluice_slots"
                select keys[at], holders[program[start + 6]], r.first, r.until - r.first, remains.ends, remains.expiry
                from (values (remains.first, after), (after + counts[j], remains.first + remains.count)) as r(first, until)
                where r.until > r.first;
              end loop;
              if kind <= renew then
                span := program[start + 5] * ticks_per_ms;
                delete from "sluice_slots" as s where s.key = keys[at] and s.ends <= now_ticks;
                insert into "sluice_slots"
                values (keys[at], holders[program[start + 6]], after, counts[j], now_ticks + span, span);
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
    update "sluice" as b set tat = c.tat, level = c.level
    from unnest(keys, tats, levels, dirty) as c(key, tat, level, dirty)
    where c.dirty and c.tat <> absent and b.key = c.key;
    if absent = any(tats) then
      delete from "sluice" as b using unnest(keys, tats) as c(key, tat) where c.tat = absent and b.key = c.key;
    end if;
  end if;
  return now_ticks || ',' || changed::integer || case when i > 0 then ',' || array_to_string(reply, ',') else '' end;
end
$$;


--
-- Name: sluice_sweep_v1(bigint, bigint); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.sluice_sweep_v1(page bigint, pages bigint) RETURNS text
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    AS $$
declare
  kept_ticks constant bigint := 30::bigint * 16000000;
  epoch_seconds constant bigint := 1767225600;
  before bigint;
  gone text[];
begin
  before := ((extract(epoch from clock_timestamp()) - epoch_seconds) * 16000000)::bigint - kept_ticks;
  with deleted as (
    delete from "sluice" as b
    where b.ctid = any(array(
      select o.ctid from "sluice" as o
      where o.ctid >= format('(%s,0)', page)::tid and o.ctid < format('(%s,0)', page + pages)::tid and o.tat < before
      for update skip locked
    ))
    returning b.key
  )
  select array_agg(d.key) into gone from deleted as d;
  delete from "sluice_slots" as s where s.key = any(gone);
  page := page + pages;
  if page * current_setting('block_size')::bigint >= pg_relation_size('"sluice"') then
    page := 0;
  end if;
  return page || ',' || coalesce(cardinality(gone), 0);
end
$$;


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: sluice; Type: TABLE; Schema: public; Owner: -
--

CREATE UNLOGGED TABLE public.sluice (
    key text NOT NULL COLLATE pg_catalog."C",
    tat bigint NOT NULL,
    level bigint NOT NULL
)
WITH (fillfactor='60', autovacuum_vacuum_scale_factor='0.05', autovacuum_vacuum_cost_delay='0');


--
-- Name: TABLE sluice; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON TABLE public.sluice IS 'Buckets of Sluice, version 1';


--
-- Name: sluice_slots; Type: TABLE; Schema: public; Owner: -
--

CREATE UNLOGGED TABLE public.sluice_slots (
    key text NOT NULL COLLATE pg_catalog."C",
    holder text NOT NULL COLLATE pg_catalog."C",
    first bigint NOT NULL,
    count bigint NOT NULL,
    ends bigint NOT NULL,
    expiry bigint NOT NULL
)
WITH (fillfactor='60', autovacuum_vacuum_scale_factor='0.05', autovacuum_vacuum_cost_delay='0');


--
-- Data for Name: sluice; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.sluice (key, tat, level) FROM stdin;
Quota:a@decade:UTC	5048524800000003	3
Rate:a%3Ab%20%C3%A9	3991801812190464	3532031999929664
Slots:a@slots	459817812310128	0
\.


--
-- Data for Name: sluice_slots; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.sluice_slots (key, holder, first, count, ends, expiry) FROM stdin;
Slots:a@slots	h1	1	2	459817812190464	48000000000
Slots:a@slots	h2	4	1	459817812310128	48000000000
\.


--
-- Name: sluice sluice_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sluice
    ADD CONSTRAINT sluice_pkey PRIMARY KEY (key);


--
-- Name: sluice_slots sluice_slots_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sluice_slots
    ADD CONSTRAINT sluice_slots_pkey PRIMARY KEY (key, holder, first);


--
-- PostgreSQL database dump complete
--


