import type { Mutant } from './mutant.ts';

const DECIDE = 'packages/redis/lua/decide.lua';
const MEMORY = 'packages/core/src/store/memory/memory-store.ts';
const BUCKETS = 'packages/core/src/store/memory/buckets.ts';
const BATCH = 'packages/redis/src/batches/script-batch.ts';
const ENTRY = 'packages/core/src/store/server-entry.ts';
const SLOT = 'packages/core/src/store/memory/slot-bucket.ts';
const RESULTS = 'packages/core/src/decision/results.ts';
const LOAN = 'packages/core/src/kinds/borrow/loan.ts';

/** How a bucket whose level falls with time decides alone: that of a quota has the same condition after another line. */
const LEVEL_OF_ONE = '    reading.levelsTicks[0] = level;\n    reading.passed =\n      ';
const DECIDE_ONE = `${LEVEL_OF_ONE}fits(level, transaction.incrementTicks, transaction.fitTicks) || !canDeny(transaction.mode) ? 0 : -1;`;

/** The stores, and decisions. */
export const storeMutants: readonly Mutant[] = [
  {
    in: DECIDE,
    replace: 'level = tat > base and tat - base or 0',
    by: 'level = tat - base',
    about: 'a TAT that has passed counts',
  },
  {
    in: DECIDE,
    replace: 'if increment > threshold - level and increment > 0 then',
    by: 'if increment >= threshold - level and increment > 0 then',
    about: 'one too few',
  },
  {
    in: DECIDE,
    replace: 'if increment > threshold - level and increment > 0 then',
    by: 'if increment > threshold - level then',
    about: 'cost 0 is denied',
  },
  {
    in: DECIDE,
    replace: 'passes = passes and kind == SPEND_ONLY\n            elseif kind ~= CHECK_ONLY then\n              after',
    by: 'passes = kind == SPEND_ONLY\n            elseif kind ~= CHECK_ONLY then\n              after',
    about: 'the last transaction decides alone',
  },
  {
    in: DECIDE,
    replace: 'passes = passes and kind == SPEND_ONLY\n            elseif kind ~= CHECK_ONLY then\n              after',
    by: 'passes = passes and kind == SPEND_ONLY\n            else\n              after',
    about: 'a look takes',
  },
  {
    in: DECIDE,
    replace: 'after = max(level, min(level + increment, threshold))',
    by: 'after = min(level + increment, threshold)',
    about: 'a charge cuts the debt of others',
  },
  {
    in: DECIDE,
    replace: 'after = max(level - increment, 0)',
    by: 'after = level - increment',
    about: 'a refund past full',
  },
  {
    in: DECIDE,
    replace: '(tat == tat_after or max(level, tat_after - base) <= queue)',
    by: '(max(level, tat_after - base) <= queue)',
    about: 'the last of a queue gets nothing back',
  },
  {
    in: DECIDE,
    replace: '(tat == tat_after or max(level, tat_after - base) <= queue)',
    by: '(tat == tat_after or level <= queue)',
    about: 'a refund after a reset',
  },
  {
    in: DECIDE,
    replace: 'min(increment, max(tat_after - base, 0))',
    by: 'increment',
    about: 'a late refund mints tokens',
  },
  { in: DECIDE, replace: 'after = min(level, threshold)', by: 'after = threshold', about: 'a cap raises levels' },
  {
    in: DECIDE,
    replace: 'if not (passes and readable) then',
    by: 'if not readable then',
    about: 'a denied batch takes',
  },
  {
    in: DECIDE,
    replace: 'done = passes or not readable',
    by: 'done = not readable',
    about: 'both alternatives are taken',
  },
  {
    in: DECIDE,
    replace: '        tats[keys[j]] = afters[j]\n',
    by: '',
    about: 'batches of a call do not see each other',
  },
  { in: DECIDE, replace: 'if now - args[1] > 0 then', by: 'if now - args[1] > 16 then', about: 'a late call takes' },
  {
    in: DECIDE,
    replace: 'if tat - base > written then',
    by: 'if true then',
    about: 'a level is raised to what was written',
  },
  {
    in: DECIDE,
    replace: 'tat = base + written\n',
    by: 'tat = base + threshold\n',
    about: 'an error of the clock forgives debt',
  },
  {
    in: DECIDE,
    replace: 'ceil((tat - now) / TICKS_PER_MS) + (finish and PERIOD_SLACK_MS or SLACK_MS)',
    by: 'floor((tat - now) / TICKS_PER_MS)',
    about: 'keys die before their TAT',
  },
  {
    in: DECIDE,
    replace: "ceil(32 * fraction)),\n        'PX', format(WHOLE, ceil((tat",
    by: "floor(32 * fraction)),\n        'PX', format(WHOLE, ceil((tat",
    about: 'the written level is rounded down',
  },
  {
    in: DECIDE,
    replace: "ceil(32 * fraction)),\n        'PX', format(WHOLE, ceil(after",
    by: "ceil(31 * fraction)),\n        'PX', format(WHOLE, ceil(after",
    about: 'the short way writes a lower level',
    first: 'short-way',
  },
  {
    in: DECIDE,
    replace: 'if increment > 0 and increment <= threshold - level then',
    by: 'if increment > 0 and increment < threshold - level then',
    about: 'one too few by the short way',
    first: 'alike-one',
  },
  {
    in: DECIDE,
    replace: 'if increment > 0 and increment <= threshold - level then',
    by: 'if increment > 0 then',
    about: 'the short way denies nothing',
    first: 'alike-one',
  },
  {
    in: DECIDE,
    replace: 'tat = now + (level + increment)',
    by: 'tat = tat + increment',
    about: 'the short way counts a TAT that has passed',
    first: 'alike-one',
  },
  {
    in: DECIDE,
    replace: 'ceil(after / TICKS_PER_MS) + SLACK_MS',
    by: 'ceil(after / TICKS_PER_MS) - 1',
    about: 'keys die before their TAT by the short way',
    first: 'alike-one',
  },
  {
    in: DECIDE,
    replace: ' and tat - now <= threshold then',
    by: ' then',
    about: 'the short way repairs no clock',
    first: 'clock-repair',
  },
  {
    in: DECIDE,
    replace: ' and tat >= now - MOST_BEHIND_TICKS and tat <= MOST_TICKS',
    by: ' and tat <= MOST_TICKS',
    about: 'the short way takes any TAT that has passed',
    first: 'short-way',
  },
  {
    in: DECIDE,
    replace: "if #keys == 1 and #args == 5 and args[3] == '0' then",
    by: 'if #keys == 1 and #args == 5 and true then',
    about: 'looks take by the short way',
    first: 'alike-one',
  },
  {
    in: DECIDE,
    replace: "if #keys == 1 and #args == 5 and args[3] == '0' then",
    by: "if #args == 5 and args[3] == '0' then",
    about: 'the short way leaves out all keys but the first',
    first: 'batches-in-order',
  },
  {
    in: DECIDE,
    replace: 'if kind > LOOK and kind ~= CHARGE_IN_BATCH then',
    by: 'if kind > LOOK then',
    about: 'a charge in a batch replies the level after',
  },
  {
    in: MEMORY,
    replace: 'if (reading.passed === 0) takeAll(',
    by: 'takeAll(',
    about: 'a denied batch is taken',
  },
  {
    in: MEMORY,
    replace: 'if (after === before) continue;',
    by: 'if (after <= before + 1) continue;',
    about: 'a tick is not stored',
  },
  { in: MEMORY, replace: 'Math.min(level, capTicks)', by: 'capTicks', about: 'a cap raises levels' },
  {
    in: MEMORY,
    replace: 'charged(level, incrementTicks, capTicks)',
    by: 'level + incrementTicks',
    about: 'charges have no cap',
  },
  {
    in: BATCH,
    replace: "mode === 'charge' ? capTicks : fitTicks);",
    by: 'fitTicks);',
    about: 'charges are sent with the wrong cap',
  },
  {
    in: BATCH,
    replace: 'numbers[i] === increment && numbers[i + 1] === threshold',
    by: 'numbers[i] === increment',
    about: 'numbers of another limit are sent',
  },
  { in: ENTRY, replace: "'check-only': 1,", by: "'check-only': 2,", about: 'modes are mixed up' },
  {
    in: BATCH,
    replace: "i === 0 || kind === 'check' ? 0 : ALTERNATIVE",
    by: '0',
    about: 'alternatives are sent as batches',
  },
  {
    in: SLOT,
    replace: 'if (slots.end <= now) continue;',
    by: 'if (slots.end < now) continue;',
    about: 'slots are held a tick longer',
  },
  { in: SLOT, replace: '    this.free(holder, from, to);\n', by: '', about: 'a renewed slot counts twice' },
  {
    in: SLOT,
    replace: 'Math.min(slots.end, now + slots.expiryTicks)',
    by: 'slots.end',
    about: 'slots are lost when the clock steps back',
  },
  {
    in: SLOT,
    replace: 'this.#soonestEnd = Math.min(this.#soonestEnd, added.end);',
    by: 'this.#soonestEnd = added.end;',
    about: 'slots that expire are missed',
  },
  {
    in: RESULTS,
    replace: 'const after = took ? levelAfter(transaction, before) : before;',
    by: 'const after = before;',
    about: 'remaining of a batch without what was just taken',
  },
  {
    in: RESULTS,
    replace: 'allowed ? 0 : ceilToMs(ticksUntilFit(transaction, after, left))',
    by: 'ceilToMs(after)',
    about: 'the wait until full',
  },
  {
    in: RESULTS,
    replace: 'waitFor(before, incrementTicks, rate.toleranceTicks) : 0',
    by: 'waitFor(before, incrementTicks, rate.toleranceTicks + 16) : 0',
    about: 'a turn comes a microsecond early',
  },
  {
    in: LOAN,
    replace:
      "const cost = mode === 'check-only' ? 0 : transaction.cost;\n  const { toleranceTicks } = borrowing.pool.rate;\n  return [\n    ownPart(transaction, borrowing, mode),\n    ceilingPart(transaction, borrowing, mode),\n    poolPart(borrowing, cost, 'charge',",
    by: "const cost = mode === 'check-only' ? 0 : transaction.cost;\n  const { toleranceTicks } = borrowing.pool.rate;\n  return [\n    ownPart(transaction, borrowing, mode),\n    ceilingPart(transaction, borrowing, mode),\n    poolPart(borrowing, cost, mode,",
    about: 'an empty pool denies assured tokens',
  },
  {
    in: BUCKETS,
    replace: DECIDE_ONE,
    by: `${LEVEL_OF_ONE}-1;`,
    about: 'the memory store denies all requests of one limit',
    first: 'denial-takes-nothing',
  },
  {
    in: BUCKETS,
    replace: DECIDE_ONE,
    by: `${LEVEL_OF_ONE}0;`,
    about: 'the memory store denies no request of one limit',
    first: 'denial-takes-nothing',
  },
];
