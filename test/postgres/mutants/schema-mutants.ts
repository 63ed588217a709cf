import type { Mutant } from '../../mutants/mutated-run.ts';

const IN = 'packages/postgres/sql/schema.sql';

/** What is broken, the text of schema.sql, and what it becomes. The contract of stores finds each of them. */
const CHANGES: readonly (readonly [name: string, replace: string, by: string])[] = [
  [
    'skipped/expired swapped for done',
    'case when program[pos + 1] = 1 and done then skipped else expired end',
    'expired',
  ],
  [
    'sum of slots: no coalesce',
    'coalesce(sum(s.count) filter (where s.ends > now_ticks), 0)',
    'sum(s.count) filter (where s.ends > now_ticks)',
  ],
  [
    'sum of slots: no filter',
    'coalesce(sum(s.count) filter (where s.ends > now_ticks), 0)',
    'coalesce(sum(s.count), 0)',
  ],
  ['sum of slots: >=', 'filter (where s.ends > now_ticks)', 'filter (where s.ends >= now_ticks)'],
  ['stepped: never', 'coalesce(bool_or(s.ends > now_ticks + s.expiry), false)', 'false'],
  ['stepped: update all', 'where s.key = keys[at] and s.ends > now_ticks + s.expiry;', 'where s.key = keys[at];'],
  [
    'slots: look takes',
    'if kind <> look and increment > 0 then\n              if increment > threshold - level then\n                passes := passes and kind = spend_only;\n              elsif kind <> check_only',
    'if increment > 0 then\n              if increment > threshold - level then\n                passes := passes and kind = spend_only;\n              elsif kind <> check_only',
  ],
  ['slots: increment 0 not guarded', 'if kind <> look and increment > 0 then', 'if kind <> look then'],
  [
    'slots: all that are free',
    'counts[i] := increment;\n              end if;',
    'counts[i] := threshold - level;\n              end if;',
  ],
  [
    'base: always end',
    'base := case when now_ms < program[pos + 7] then program[pos + 7] else program[pos + 8] end',
    'base := program[pos + 7]',
  ],
  [
    'base: always next',
    'base := case when now_ms < program[pos + 7] then program[pos + 7] else program[pos + 8] end',
    'base := program[pos + 8]',
  ],
  ['base: <=', 'base := case when now_ms < program[pos + 7]', 'base := case when now_ms <= program[pos + 7]'],
  [
    'stale: no start',
    'if now_ms >= program[pos + 6] and now_ms < program[pos + 8] then',
    'if now_ms < program[pos + 8] then',
  ],
  [
    'stale: no end',
    'if now_ms >= program[pos + 6] and now_ms < program[pos + 8] then',
    'if now_ms >= program[pos + 6] then',
  ],
  ['stale: <= end', 'now_ms < program[pos + 8] then', 'now_ms <= program[pos + 8] then'],
  ['level: greatest dropped', 'level := greatest(tat - base, 0)', 'level := tat - base'],
  ['repair: never', 'if level > levels[at] and (span is null or level * 4 > span * 7) then', 'if false then'],
  [
    'repair: span guard dropped',
    'if level > levels[at] and (span is null or level * 4 > span * 7) then',
    'if level > levels[at] then',
  ],
  [
    'repair: only rates',
    'if level > levels[at] and (span is null or level * 4 > span * 7) then',
    'if level > levels[at] and span is null then',
  ],
  ['repair: level guard dropped', 'if level > levels[at] and (span is null or', 'if (span is null or'],
  [
    'lacks: increment 0',
    'lacks := increment > threshold - level and increment > 0',
    'lacks := increment > threshold - level',
  ],
  ['lacks: >=', 'lacks := increment > threshold - level and', 'lacks := increment >= threshold - level and'],
  [
    'spend_only passes',
    'if lacks then\n                passes := passes and kind = spend_only',
    'if lacks then\n                passes := kind = spend_only',
  ],
  [
    'spend_only denies',
    'if lacks then\n                passes := passes and kind = spend_only',
    'if lacks then\n                passes := false',
  ],
  [
    'charge: greatest dropped',
    'after := greatest(level, least(level + increment, threshold))',
    'after := least(level + increment, threshold)',
  ],
  [
    'charge: least dropped',
    'after := greatest(level, least(level + increment, threshold))',
    'after := level + increment',
  ],
  ['ahead: refunds', 'elsif level * 4 > span * 3 then\n              null;\n            elsif', 'elsif'],
  ['refund: greatest dropped', 'after := greatest(level - increment, 0)', 'after := level - increment'],
  ['refund decision: tat', 'if form = 1 or tat = after_decision or greatest', 'if form = 1 or greatest'],
  ['refund decision: line', 'or greatest(level, after_decision - base) <= program[pos + 6] then', 'then'],
  [
    'refund decision: always',
    'if form = 1 or tat = after_decision or greatest(level, after_decision - base) <= program[pos + 6] then',
    'if true then',
  ],
  [
    'refund decision: line without level',
    'greatest(level, after_decision - base) <= program[pos + 6]',
    'after_decision - base <= program[pos + 6]',
  ],
  [
    'refund decision: line without decision',
    'greatest(level, after_decision - base) <= program[pos + 6]',
    'level <= program[pos + 6]',
  ],
  [
    'refund decision: outer greatest dropped',
    'greatest(level - least(increment, greatest(after_decision - base, 0)), 0)',
    'level - least(increment, greatest(after_decision - base, 0))',
  ],
  [
    'refund decision: least dropped',
    'greatest(level - least(increment, greatest(after_decision - base, 0)), 0)',
    'greatest(level - greatest(after_decision - base, 0), 0)',
  ],
  [
    'refund decision: least dropped 2',
    'greatest(level - least(increment, greatest(after_decision - base, 0)), 0)',
    'greatest(level - increment, 0)',
  ],
  [
    'refund decision: inner greatest dropped',
    'greatest(level - least(increment, greatest(after_decision - base, 0)), 0)',
    'greatest(level - least(increment, after_decision - base), 0)',
  ],
  ['cap: least dropped', 'after := least(level, threshold)', 'after := threshold'],
  ['cap: none', 'after := least(level, threshold)', 'after := level'],
  ['reply after', 'if kind > look and kind <> charge_in_batch then', 'if kind > look then'],
  [
    'reply before',
    'if kind > look and kind <> charge_in_batch then\n              level := after;',
    'if false then\n              level := after;',
  ],
  ['undecided', 'if reply[j] <> stale and reply[j] <> is_foreign then', 'if reply[j] <> is_foreign then'],
  ['lock: counts', '(afters[j] is not null or counts[j] is not null)', '(afters[j] is not null)'],
  ['renew at', 'after := case when kind >= renew then program[start + 4] else 1 end', 'after := 1'],
  ['renew at 2', 'after := case when kind >= renew then program[start + 4] else 1 end', 'after := program[start + 4]'],
  ['overlap: first', 'and s.first < after + counts[j] and s.first + s.count > after', 'and s.first + s.count > after'],
  ['overlap: last', 'and s.first < after + counts[j] and s.first + s.count > after', 'and s.first < after + counts[j]'],
  ['overlap: holder', 'where s.key = keys[at] and s.holder = holders[program[start + 6]]', 'where s.key = keys[at]'],
  ['remains: guard', 'where r.until > r.first;', 'where r.until >= r.first;'],
  ['kind <= renew', 'if kind <= renew then', 'if true then'],
  ['done: passes', 'done := passes or not readable', 'done := passes'],
  ['done: readable', 'done := passes or not readable', 'done := not readable'],
  ['absent rows kept', 'if absent = any(tats) then', 'if false then'],
  ['sweep: coalesce', 'coalesce(cardinality(gone), 0)', 'cardinality(gone)'],
  ['on conflict updates', 'do update set level = 0 where false', 'do update set level = 0'],
  [
    'reset of slots',
    'if kind = reset_bucket then\n              delete from sluice_slots as s where s.key = keys[at];',
    'if kind = reset_bucket then\n              null;',
  ],
];

/** The functions of the PostgreSQL store, broken on purpose. */
export const schemaMutants: readonly Mutant[] = CHANGES.map(([name, replace, by]) => ({ name, in: IN, replace, by }));
