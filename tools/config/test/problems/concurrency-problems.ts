import { limitsWith, type ProblemCase } from './problem-case.ts';

const SLOTS = limitsWith('  concurrency: 10\n');

function overrideWith(numbers: string): string {
  return `- NewOrdersPerAccount:\n    ids: [1]\n${numbers}`;
}

/** Mistakes in concurrency limits and their overrides. */
export const CONCURRENCY_PROBLEMS: readonly ProblemCase[] = [
  {
    name: 'a concurrency and a rate in one limit',
    limits: limitsWith('  concurrency: 10\n  count: 1\n  period: 1s\n'),
    problems: [
      'limits.yaml:5:10: `NewOrdersPerAccount.count` must be left out beside `concurrency`: a limit is a concurrency limit or a rate. For both define two limits, and use them in one batch.',
    ],
  },
  {
    name: 'a concurrency and a quota in one limit, with another mistake',
    limits: limitsWith('  concurrency: 10\n  count: 0x1\n  per: day\n'),
    problems: [
      'limits.yaml:4:16: `NewOrdersPerAccount.concurrency` must be left out beside `per`: a limit is a quota or a concurrency limit. For both define two limits, and use them in one batch.',
      "limits.yaml:5:10: `NewOrdersPerAccount.count` must be written in plain decimal digits, but was '0x1'. For example 1.",
    ],
  },
  {
    name: 'an expiry of a rate',
    limits: limitsWith('  count: 1\n  period: 1s\n  expiry: 10s\n'),
    problems: [
      'limits.yaml:6:11: `NewOrdersPerAccount.expiry` must be given only with `concurrency`. For a concurrency limit add concurrency: 10; for a rate leave it out.',
    ],
  },
  ...[
    { name: 'a concurrency of zero', written: '0' },
    { name: 'a fraction as concurrency', written: '1.5' },
    { name: 'a concurrency above a million', written: '1000001' },
  ].map(({ name, written }) => ({
    name,
    limits: limitsWith(`  concurrency: ${written}\n`),
    problems: [
      `limits.yaml:4:16: \`NewOrdersPerAccount.concurrency\` must be a whole number from 1 to 1000000, but was ${written}. It is the number of requests in progress, for example concurrency: 10.`,
    ],
  })),
  {
    name: 'a concurrency that is text',
    limits: limitsWith('  concurrency: "10"\n'),
    problems: [
      "limits.yaml:4:16: `NewOrdersPerAccount.concurrency` must be a whole number from 1 to 1000000, but was '10'. Write concurrency: 10.",
    ],
  },
  {
    name: 'a concurrency that is a list, beside a lease',
    limits: limitsWith('  concurrency: [10]\n  expiry: 10s\n'),
    problems: [
      'limits.yaml:4:16: `NewOrdersPerAccount.concurrency` must be a whole number from 1 to 1000000, but was a list. For example concurrency: 10.',
    ],
  },
  {
    name: 'a hexadecimal concurrency',
    limits: limitsWith('  concurrency: 0x10\n'),
    schemaAccepts: 'it sees the number, not how it is written',
    problems: [
      "limits.yaml:4:16: `NewOrdersPerAccount.concurrency` must be written in plain decimal digits, but was '0x10'. For example 16.",
    ],
  },
  {
    name: 'an expiry below a second, beside a wrong scope',
    limits: limitsWith('  concurrency: 10\n  expiry: 999ms\n  scope: proces\n'),
    problems: [
      "limits.yaml:5:11: `NewOrdersPerAccount.expiry` must be a duration from 1s to 1 hour, but was '999ms'. For example 5s, 10s or 1m.",
      "limits.yaml:6:10: `NewOrdersPerAccount.scope` must be 'store' or 'process', but was 'proces'. Write scope: 'process'.",
    ],
  },
  {
    name: 'an expiry below a second',
    limits: limitsWith('  concurrency: 10\n  expiry: 999ms\n'),
    schemaAccepts: 'it can’t calculate',
    problems: [
      "limits.yaml:5:11: `NewOrdersPerAccount.expiry` must be a duration from 1s to 1 hour, but was '999ms'. For example 5s, 10s or 1m.",
    ],
  },
  {
    name: 'an expiry without a unit',
    limits: limitsWith('  concurrency: 10\n  expiry: 10\n'),
    problems: [
      'limits.yaml:5:11: `NewOrdersPerAccount.expiry` must be a duration with its unit, but was 10. Write 10s for seconds, 10ms for milliseconds.',
    ],
  },
  {
    name: 'a scope that is a list',
    limits: limitsWith('  concurrency: 10\n  scope: [store]\n'),
    problems: [
      'limits.yaml:5:10: `NewOrdersPerAccount.scope` must be one of store, process, but was a list. For example scope: process.',
    ],
  },
  {
    name: 'an override of a concurrency limit by a rate',
    limits: SLOTS,
    overrides: overrideWith('    count: 1\n    period: 1s\n'),
    schemaAccepts: 'it does not know the limits',
    problems: [
      'overrides.yaml:1:3: `NewOrdersPerAccount` must have `concurrency` alone, because the limit is a concurrency limit. For example { concurrency: 20 }.',
    ],
  },
  {
    name: 'an override of a concurrency limit by a count',
    limits: SLOTS,
    overrides: overrideWith('    count: 20\n'),
    schemaAccepts: 'it does not know the limits',
    problems: [
      'overrides.yaml:1:3: `NewOrdersPerAccount` must have `concurrency` alone, because the limit is a concurrency limit. For example { concurrency: 20 }.',
    ],
  },
  {
    name: 'an override of a rate by a concurrency',
    overrides: overrideWith('    concurrency: 20\n'),
    schemaAccepts: 'it does not know the limits',
    problems: [
      "overrides.yaml:1:3: `NewOrdersPerAccount` must have `count` and `period`, because the limit is a rate. For example { count: 600, period: '180m' }.",
    ],
  },
  {
    name: 'an override of a quota by a concurrency',
    limits: limitsWith('  count: 1\n  per: day\n'),
    overrides: overrideWith('    concurrency: 20\n'),
    schemaAccepts: 'it does not know the limits',
    problems: [
      'overrides.yaml:1:3: `NewOrdersPerAccount` must have `count` alone, because the limit is a quota. For example { count: 50000 }.',
    ],
  },
  {
    name: 'an override with a concurrency of zero',
    limits: SLOTS,
    overrides: overrideWith('    concurrency: 0\n'),
    problems: [
      'overrides.yaml:3:18: `NewOrdersPerAccount.concurrency` must be a whole number from 1 to 1000000, but was 0. It is the number of requests in progress, for example concurrency: 10.',
    ],
  },
  {
    name: 'an override with a concurrency that is a list',
    limits: SLOTS,
    overrides: overrideWith('    concurrency: [1]\n'),
    problems: [
      'overrides.yaml:3:18: `NewOrdersPerAccount.concurrency` must be a whole number from 1 to 1000000, but was a list. For example concurrency: 10.',
    ],
  },
  {
    name: 'an override with a concurrency and a rate',
    limits: SLOTS,
    overrides: overrideWith('    concurrency: 20\n    count: 1\n    period: 1s\n'),
    problems: [
      'overrides.yaml:2:5: `NewOrdersPerAccount` must have `concurrency` alone, because the limit is a concurrency limit. For example { concurrency: 20 }.',
    ],
  },
  {
    name: 'an override with an expiry',
    limits: SLOTS,
    overrides: overrideWith('    concurrency: 20\n    expiry: 30s\n'),
    problems: [
      "overrides.yaml:4:5: `NewOrdersPerAccount` has no option `expiry` (its value was '30s'). `expiry` belongs to the limit: an override of a concurrency limit changes its `concurrency` alone. Options: burst, count, period, maxDebt, maxWait, borrow, concurrency, unlimited, blocked, until, ids.",
    ],
  },
  {
    name: 'unlimited beside a concurrency',
    limits: SLOTS,
    overrides: overrideWith('    concurrency: 20\n    unlimited: true\n'),
    problems: [
      'overrides.yaml:3:5: `NewOrdersPerAccount.concurrency` must be left out beside `unlimited`, which lets the ids through. Keep one of the two.',
    ],
  },
];
