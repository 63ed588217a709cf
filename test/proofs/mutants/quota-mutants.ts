import type { Mutant } from './mutant.ts';

const MEMORY = 'packages/core/src/store/memory/memory-store.ts';
const BUCKETS = 'packages/core/src/store/memory/buckets.ts';
const BATCH_PERIODS = 'packages/core/src/store/memory/batch-periods.ts';
const STORE_TIME = 'packages/core/src/store/memory/store-time.ts';
const PERIOD = 'packages/core/src/store/calendar-period.ts';
const LEFT = 'packages/core/src/decision/period-left.ts';
const NAMED = 'packages/core/src/kinds/quota/named-periods.ts';
const STRICTNESS = 'packages/core/src/decision/strictness.ts';
const USAGE = 'packages/core/src/limiter/usage.ts';
const WARNINGS = 'packages/core/src/kinds/quota/quota-warnings.ts';
const DECIDED = 'packages/core/src/decision/decide.ts';
const RESULTS = 'packages/core/src/decision/results.ts';
const STALE = 'packages/core/src/kinds/quota/stale-periods.ts';
const CALENDAR = 'packages/core/src/calendar/calendar.ts';

/** Quotas in memory, and what is left of their periods. */
export const quotaMutants: readonly Mutant[] = [
  {
    in: MEMORY,
    replace: '    if (buckets.isAhead(index, before)) continue;\n',
    by: '',
    about: 'a clock that steps back gives back tokens of the next period',
    first: 'quota-count',
  },
  {
    in: MEMORY,
    replace: 'after(each, before, buckets.nowAt(index, nowTicks))',
    by: 'after(each, before, nowTicks)',
    about: 'a refund gives back in a later period',
    first: 'quota-refund',
  },
  {
    in: MEMORY,
    replace: 'batch[0]!.period === undefined && batch[0]!.holding === undefined',
    by: 'batch[0]!.holding === undefined',
    about: 'a quota falls with time',
    first: 'quota-exactly-count',
  },
  {
    in: BUCKETS,
    replace: '    if (end > table.latestEnd) table.latestEnd = end;\n',
    by: '',
    about: 'the period of a bucket is forgotten',
    first: 'quota-clock-far-ahead',
  },
  {
    in: BATCH_PERIODS,
    replace: 'wallUnits(checkedEnd(period, this.wallMs))',
    by: 'wallUnits(period[1])',
    about: 'the period of the caller is used, and not that of the store',
    first: 'quota-next-period',
  },
  {
    in: BATCH_PERIODS,
    replace: 'return level <= 1.75 * this.#lengths[index]! ? level',
    by: 'return level <= 0.75 * this.#lengths[index]! ? level',
    about: 'a step back over the end of a period counts as an error',
    first: 'quota-refund',
  },
  {
    in: BATCH_PERIODS,
    replace: 'return written > 0 ? written : capTicks;',
    by: 'return 0;',
    about: 'an error of the clock forgives what was used',
    first: 'quota-clock-far-ahead',
  },
  {
    in: BATCH_PERIODS,
    replace: '  if (end === undefined) throw new StalePeriodError(period, wallMs);\n  return end;',
    by: '  return end ?? period[1];',
    about: 'a stale period is not rejected',
    first: 'quota-stale-periods',
  },
  {
    in: STORE_TIME,
    replace: 'const UNITS_PER_MS = 2048;',
    by: 'const UNITS_PER_MS = 1024;',
    about: 'a full count reaches into the next period',
    first: 'quota-count',
  },
  {
    in: STORE_TIME,
    replace: 'const KEPT_MS = 30_000;',
    by: 'const KEPT_MS = 0;',
    about: 'a short step loses a count',
    first: 'quota-kept',
  },
  {
    in: PERIOD,
    replace: 'if (wallMs < period[1])',
    by: 'if (wallMs <= period[1])',
    about: 'a period is too long',
    first: 'quota-next-period',
  },
  {
    in: PERIOD,
    replace: 'return wallMs >= period[0] ? period[1] : undefined;',
    by: 'return period[1];',
    about: 'a period is used before it begins',
    first: 'quota-stale-periods',
  },
  {
    in: BUCKETS,
    replace: 'reading.bucketWallMs = [wallMs];',
    by: 'reading.bucketWallMs = [wallMs + 1];',
    about: 'the memory store tells a clock that is a millisecond ahead',
    first: 'quota-wait',
  },
  {
    in: NAMED,
    replace: 'leftTicks: (endMs - wallMs) * TICKS_PER_MS }',
    by: 'leftTicks: (endMs - wallMs - 1) * TICKS_PER_MS }',
    about: 'the wait is a millisecond short',
    first: 'quota-wait',
  },
  {
    in: NAMED,
    replace: 'leftTicks: (endMs - wallMs) * TICKS_PER_MS }',
    by: 'leftTicks: (endMs - wallMs + 1) * TICKS_PER_MS }',
    about: 'the wait is a millisecond long',
    first: 'quota-wait',
  },
  {
    in: NAMED,
    replace: 'const first = wallMs < ends[1] ? 0 : 1;',
    by: 'const first = 0;',
    about: 'the wait ends with the period of the caller',
    first: 'quota-figures',
  },
  {
    in: NAMED,
    replace: 'startMs: ends[first],',
    by: 'startMs: ends[0],',
    about: 'a period is shown as two',
    first: 'quota-figures',
  },
  {
    in: NAMED,
    replace: 'wallMs >= period[0] && wallMs < period[2]',
    by: 'true',
    about: 'the wait is that of a call that was repeated',
    first: 'quota-repeated-call',
  },
  {
    in: LEFT,
    replace: 'return fits(level, incrementTicks, fitTicks) ? 0 : left.leftTicks;',
    by: 'return waitFor(level, incrementTicks, fitTicks);',
    about: 'the wait is counted in tokens',
    first: 'quota-wait',
  },
  {
    in: LEFT,
    replace: 'return left === undefined || level === 0 ? level : left.leftTicks;',
    by: 'return left === undefined ? level : left.leftTicks;',
    about: 'a full quota has to be waited for',
    first: 'quota-figures',
  },
  {
    in: DECIDED,
    replace: 'resetAfterMs: ceilToMs(ticksUntilFull(level, left)),\n      burst: rate.burst,',
    by: 'resetAfterMs: ceilToMs(level),\n      burst: rate.burst,',
    about: 'after a charge, the reset is counted in tokens',
    first: 'quota-figures',
  },
  {
    in: RESULTS,
    replace: 'rate.periodMs : left.endMs - left.startMs,',
    by: 'rate.periodMs : left.leftTicks / 16_000,',
    about: 'what is left of a period is shown as its length',
    first: 'quota-figures',
  },
  {
    in: STALE,
    replace: 'const operation = renewed(attempt.operation, error.wallMs);',
    by: 'const { operation } = attempt;',
    about: 'a call is repeated with stale periods',
    first: 'limiter-quota',
  },
  {
    in: CALENDAR,
    replace: 'return [start, start + lengthMs, start + 2 * lengthMs];',
    by: 'return [wallMs, wallMs + lengthMs, wallMs + 2 * lengthMs];',
    about: 'an hour begins when it is asked for',
    first: 'limiter-quota',
  },
  {
    in: USAGE,
    replace: 'const used = level > limit.periods!.mostTokens ? count : level;',
    by: 'const used = level;',
    about: 'billions are shown as used after a step of the clock',
    first: 'quota-usage',
  },
  {
    in: WARNINGS,
    replace: 'if (before < tokens && tokens <= after)',
    by: 'if (before < tokens)',
    about: 'a warning before its threshold is reached',
    first: 'quota-usage',
  },
  {
    in: WARNINGS,
    replace: 'if (this.#emitted.get(warning) === endMs) return;',
    by: '',
    about: 'a warning is repeated in its period',
    first: 'quota-usage',
  },
  {
    in: STRICTNESS,
    replace: 'one.waitTicks > than.waitTicks',
    by: 'one.waitTicks < than.waitTicks',
    about: 'the shorter wait of a rate and a quota is shown',
    first: 'quota-beside-rate-figures',
  },
];
