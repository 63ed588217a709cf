import type { Mutant } from './mutant.ts';

const GCRA = 'packages/core/src/rule/gcra.ts';
const TICKS = 'packages/core/src/rule/ticks.ts';
const RATE = 'packages/core/src/rule/rate.ts';
const AT_MOST = 'packages/core/src/rule/at-most.ts';
const LEVELS = 'packages/core/src/limits/levels.ts';
const RULE = 'packages/core/src/store/transaction-rule.ts';

/** The rule, what stores make of it, and the numbers of limits. */
export const ruleMutants: readonly Mutant[] = [
  { in: GCRA, replace: 'tat > now ? tat - now : 0', by: 'tat - now', about: 'a full bucket gains more' },
  { in: GCRA, replace: 'tat > now ? tat - now : 0', by: 'tat > now + 1 ? tat - now : 0', about: 'a tick is forgotten' },
  {
    in: GCRA,
    replace: 'increment <= tolerance - level ||',
    by: 'increment < tolerance - level ||',
    about: 'one too few',
  },
  {
    in: GCRA,
    replace: 'increment <= tolerance - level ||',
    by: 'increment <= tolerance - level + 1 ||',
    about: 'a tick too much',
  },
  {
    in: GCRA,
    replace: 'increment <= tolerance - level || increment === 0',
    by: 'increment <= tolerance - level',
    about: 'cost 0 is denied',
  },
  {
    in: GCRA,
    replace: '0 : increment - (tolerance - level)',
    by: '0 : increment - (tolerance - level) - 1',
    about: 'the wait is a tick short',
  },
  {
    in: GCRA,
    replace: '0 : increment - (tolerance - level)',
    by: '0 : increment - (tolerance - level) + 1',
    about: 'the wait is a tick long',
  },
  {
    in: GCRA,
    replace: '(burst - remaining) * emissionIntervalTicks',
    by: '(burst - remaining - 1) * emissionIntervalTicks',
    about: 'a restriction leaves a token more',
  },
  {
    in: GCRA,
    replace: 'toleranceTicks - emissionIntervalTicks + waitTicks',
    by: 'toleranceTicks - emissionIntervalTicks + waitTicks - 1',
    about: 'a restriction ends a tick early',
  },
  {
    in: GCRA,
    replace: 'Math.floor((tolerance - level) / emissionInterval)',
    by: 'Math.ceil((tolerance - level) / emissionInterval)',
    about: 'remaining rounded up',
  },
  {
    in: GCRA,
    replace: 'level < tolerance ? Math.floor',
    by: 'level <= tolerance + 1 ? Math.floor',
    about: 'remaining may be negative',
  },
  {
    in: GCRA,
    replace: 'tolerance) + 1) * emissionInterval',
    by: 'tolerance) + 2) * emissionInterval',
    about: 'the wait for two tokens',
  },
  {
    in: GCRA,
    replace: 'Math.round(share * tolerance)',
    by: 'Math.ceil(share * tolerance + 1)',
    about: 'a share of a tick more',
  },
  {
    in: GCRA,
    replace: 'Math.floor(share * count * (1 + 2 * Number.EPSILON))',
    by: 'Math.ceil(share * count)',
    about: 'a share of slots rounded up',
  },
  {
    in: GCRA,
    replace: 'Math.max(level, Math.min(level + increment, tolerance))',
    by: 'Math.min(level + increment, tolerance)',
    about: 'a charge cuts the debt of others',
  },
  {
    in: GCRA,
    replace: 'Math.max(level, Math.min(level + increment, tolerance))',
    by: 'level + increment',
    about: 'a charge without a cap',
  },
  {
    in: GCRA,
    replace: 'level > increment ? level - increment : 0',
    by: 'level - increment',
    about: 'a refund past full',
  },
  { in: GCRA, replace: 'level > increment ? level - increment : 0', by: '0', about: 'a refund fills the bucket' },
  {
    in: GCRA,
    replace: 'Math.min(increment, Math.max(0, tatAfterSpend - now))',
    by: 'increment',
    about: 'a late refund mints tokens',
  },
  {
    in: GCRA,
    replace: 'Math.max(0, tatAfterSpend - now)',
    by: 'Math.max(0, tatAfterSpend - now + 1)',
    about: 'a refund of a tick too much',
  },
  {
    in: TICKS,
    replace: 'Math.ceil(ticks / TICKS_PER_MICRO) / 1000',
    by: 'Math.floor(ticks / TICKS_PER_MICRO) / 1000',
    about: 'the shown wait is rounded down',
  },
  {
    in: TICKS,
    replace: 'Math.ceil(ticks / TICKS_PER_MICRO) / 1000',
    by: '(Math.ceil(ticks / TICKS_PER_MICRO) + 1) / 1000',
    about: 'the shown wait is 1 µs long',
  },
  {
    in: RATE,
    replace: 'Math.floor(periodTicks / count)',
    by: 'Math.ceil(periodTicks / count)',
    about: 'T rounded up: a lower rate',
  },
  {
    in: RATE,
    replace: 'Math.floor(periodTicks / count)',
    by: 'Math.max(1, Math.floor(periodTicks / count) - 2)',
    about: 'T a bit too short',
  },
  {
    in: RATE,
    replace: 'Math.floor(periodTicks / count)',
    by: 'Math.floor(periodTicks / count) + (periodTicks < 16_000_000 ? 1 : 0)',
    about: 'periods below a second are too long',
    first: 'rate-as-written',
  },
  {
    in: RULE,
    replace: 'canDeny(mode)) return false;\n  }\n  return true;',
    by: 'canDeny(mode)) return false;\n  }\n  return false;',
    about: 'every batch is denied',
    first: 'all-or-nothing',
  },
  {
    in: RULE,
    replace: 'canDeny(mode)) return false;',
    by: 'canDeny(mode)) return true;',
    about: 'no batch is denied',
    first: 'all-or-nothing',
  },
  {
    in: RATE,
    replace: 'burst * emissionIntervalTicks;',
    by: '(burst + 1) * emissionIntervalTicks;',
    about: 'τ is a token too long',
  },
  {
    in: AT_MOST,
    replace: 'Math.floor(windowTicks / emissionIntervalTicks)',
    by: 'Math.floor(windowTicks / emissionIntervalTicks) + 1',
    about: 'atMost rejects what is within it',
  },
  { in: AT_MOST, replace: 'if (most <= tokens) continue;', by: 'continue;', about: 'atMost accepts everything' },
  { in: AT_MOST, replace: 'return burst + maxDebt +', by: 'return burst +', about: 'atMost forgets the debt' },
  {
    in: LEVELS,
    replace: 'Math.min(toleranceTicks + waitTicks, capTicks)',
    by: 'toleranceTicks + 2 * waitTicks',
    about: 'requests wait longer than maxWait',
  },
  {
    in: LEVELS,
    replace: 'Math.max(debtOf(rate, own) * emissionIntervalTicks, waitTicks)',
    by: 'waitTicks',
    about: 'no debt',
  },
  {
    in: LEVELS,
    replace: 'Math.min(toleranceTicks + aboveTicks, MAX_TOLERANCE_TICKS)',
    by: 'toleranceTicks + aboveTicks',
    about: 'a cap above ten years',
  },
  {
    in: RULE,
    replace: "return mode === 'check-and-spend' || mode === 'check-only';",
    by: "return mode === 'check-and-spend';",
    about: 'check-only never denies',
  },
  { in: RULE, replace: ' && canDeny(mode)) return false;', by: ') return false;', about: 'every mode denies' },
  { in: RULE, replace: "if (mode === 'check-only') return levelTicks;", by: '', about: 'a look takes' },
  {
    in: RULE,
    replace: 'charged(levelTicks, incrementTicks, transaction.capTicks)',
    by: 'charged(levelTicks, incrementTicks, Infinity)',
    about: 'charges have no cap',
  },
  {
    in: RULE,
    replace: 'transaction.fitTicks) ? levelTicks + incrementTicks : levelTicks',
    by: 'transaction.fitTicks) ? levelTicks + incrementTicks : transaction.fitTicks',
    about: 'spend-only takes a part',
  },
  {
    in: RULE,
    replace: '> lineTicks && levelTicks !== aheadTicks) return levelTicks;',
    by: '> lineTicks) return levelTicks;',
    about: 'the last of a queue gets nothing back',
  },
  {
    in: RULE,
    replace: 'if (Math.max(levelTicks, aheadTicks) > lineTicks && levelTicks !== aheadTicks) return levelTicks;',
    by: '',
    about: 'who leaves a queue lets others pass',
  },
  {
    in: RULE,
    replace: 'Math.max(levelTicks, aheadTicks) > lineTicks',
    by: 'levelTicks > lineTicks',
    about: 'a refund after a reset',
  },
];
