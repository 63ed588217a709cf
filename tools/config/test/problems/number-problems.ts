import { LIMITS } from '../written-files.ts';
import { limitsWith, overrideOf, type ProblemCase } from './problem-case.ts';

/** Mistakes in counts, bursts and periods. */
export const NUMBER_PROBLEMS: readonly ProblemCase[] = [
  {
    name: 'a count of zero',
    limits: limitsWith('  count: 0\n  period: 1s\n'),
    problems: [
      'limits.yaml:4:10: `NewOrdersPerAccount.count` must be a whole number from 1 to 1000000000, but was 0. To allow no bursts use burst: 1; for no limit leave the limit out.',
    ],
  },
  {
    name: 'more tokens than a rate can have',
    limits: limitsWith('  burst: 1\n  count: 1000000001\n  period: 24h\n'),
    problems: [
      "limits.yaml:5:10: `NewOrdersPerAccount.count` must be a whole number from 1 to 1000000000, but was 1000000001. For no limit leave the limit out. For more, as money has, use a quota, such as per: 'month', or let a token stand for more, in all costs too.",
    ],
  },
  {
    name: 'a negative burst',
    limits: limitsWith('  burst: -1\n  count: 1\n  period: 1s\n'),
    problems: [
      'limits.yaml:4:10: `NewOrdersPerAccount.burst` must be a whole number from 1 to 1000000000, but was -1. To allow no bursts use burst: 1; for no limit leave the limit out.',
    ],
  },
  {
    name: 'a fraction',
    limits: limitsWith('  count: 1.5\n  period: 1s\n'),
    problems: [
      "limits.yaml:4:10: `NewOrdersPerAccount.count` must be a whole number from 1 to 1000000000, but was 1.5. For a fraction multiply count and period by the same number: 5.5 per second are count: 11, period: '2s'.",
    ],
  },
  {
    name: 'a count that is text',
    limits: limitsWith('  count: "300"\n  period: 1s\n'),
    problems: [
      "limits.yaml:4:10: `NewOrdersPerAccount.count` must be a whole number from 1 to 1000000000, but was '300'. Write count: 300.",
    ],
  },
  {
    name: 'a count with underscores',
    limits: limitsWith('  count: 1_000\n  period: 1s\n'),
    problems: [
      "limits.yaml:4:10: `NewOrdersPerAccount.count` must be a whole number from 1 to 1000000000, but was '1_000'. Write count: 1000.",
    ],
  },
  {
    name: 'a hexadecimal count',
    limits: limitsWith('  count: 0x10\n  period: 1s\n'),
    schemaAccepts: 'it sees the number, not how it is written',
    problems: [
      "limits.yaml:4:10: `NewOrdersPerAccount.count` must be written in plain decimal digits, but was '0x10'. For example 16.",
    ],
  },
  {
    name: 'an exponent',
    limits: limitsWith('  count: 1e3\n  period: 1s\n'),
    schemaAccepts: 'it sees the number, not how it is written',
    problems: [
      "limits.yaml:4:10: `NewOrdersPerAccount.count` must be written in plain decimal digits, but was '1e3'. For example 1000.",
    ],
  },
  {
    name: 'a count that looks octal',
    limits: limitsWith('  count: 017\n  period: 1s\n'),
    schemaAccepts: 'it sees the number, not how it is written',
    problems: [
      "limits.yaml:4:10: `NewOrdersPerAccount.count` must be written in plain decimal digits, but was '017'. For example 17.",
    ],
  },
  {
    name: 'a count of null',
    limits: limitsWith('  count:\n  period: 1s\n'),
    problems: [
      'limits.yaml:4:9: `NewOrdersPerAccount.count` must be a whole number from 1 to 1000000000, but was null. To allow no bursts use burst: 1; for no limit leave the limit out.',
    ],
  },
  {
    name: 'a count that is a list',
    limits: limitsWith('  count: [1]\n  period: 1s\n'),
    problems: [
      'limits.yaml:4:10: `NewOrdersPerAccount.count` must be a whole number from 1 to 1000000000, but was a list. For example count: 100.',
    ],
  },
  {
    name: 'a count that is a mapping',
    limits: limitsWith('  count: { a: 1 }\n  period: 1s\n'),
    problems: [
      'limits.yaml:4:10: `NewOrdersPerAccount.count` must be a whole number from 1 to 1000000000, but was a mapping. For example count: 100.',
    ],
  },
  {
    name: 'a missing count',
    limits: limitsWith('  period: 1s\n'),
    problems: [
      "limits.yaml:4:3: `NewOrdersPerAccount.count` must be a whole number from 1 to 1000000000, but was undefined. For example count: 100, period: '1m'.",
    ],
  },
  {
    name: 'a bad duration',
    limits: limitsWith('  count: 1\n  period: 180 minutes\n'),
    problems: [
      "limits.yaml:5:11: `NewOrdersPerAccount.period` must be a duration from 1ms to 366 days, but was '180 minutes'. For example 1s, 1m, 180m, 24h or 7d.",
    ],
  },
  {
    name: 'a duration that is too long',
    limits: limitsWith('  count: 1\n  period: 367d\n'),
    schemaAccepts: 'it can’t calculate',
    problems: [
      "limits.yaml:5:11: `NewOrdersPerAccount.period` must be a duration from 1ms to 366 days, but was '367d'. For example 1s, 1m, 180m, 24h or 7d.",
    ],
  },
  {
    name: 'a period without a unit',
    limits: limitsWith('  count: 1\n  period: 60\n'),
    problems: [
      'limits.yaml:5:11: `NewOrdersPerAccount.period` must be a duration with its unit, but was 60. Write 60s for seconds, 60ms for milliseconds.',
    ],
  },
  {
    name: 'a period without a unit, as text',
    limits: limitsWith("  count: 1\n  period: '60'\n"),
    problems: [
      "limits.yaml:5:11: `NewOrdersPerAccount.period` must be a duration with its unit, but was '60'. Write 60s for seconds, 60ms for milliseconds.",
    ],
  },
  {
    name: 'a number as a period that is not valid with any unit',
    limits: limitsWith('  count: 1\n  period: 1e3\n'),
    problems: [
      'limits.yaml:5:11: `NewOrdersPerAccount.period` must be a duration from 1ms to 366 days, but was 1000. For example 1s, 1m, 180m, 24h or 7d.',
    ],
  },
  {
    name: 'a missing period',
    limits: limitsWith('  count: 1\n'),
    problems: [
      'limits.yaml:4:3: `NewOrdersPerAccount.period` must be a duration from 1ms to 366 days, but was undefined. For example 1s, 1m, 180m, 24h or 7d.',
    ],
  },
  {
    name: 'a rate that is too high',
    limits: limitsWith('  count: 1000000\n  period: 1ms\n'),
    schemaAccepts: 'it can’t calculate',
    problems: [
      "limits.yaml:4:10: `NewOrdersPerAccount.count` must be at most 16 per microsecond of the period, but was '1000000 per 1 ms'. Use a smaller count or a longer period.",
    ],
  },
  {
    name: 'a burst that would take too long',
    limits: limitsWith('  burst: 1000\n  count: 1\n  period: 366d\n'),
    schemaAccepts: 'it can’t calculate',
    problems: [
      'limits.yaml:4:10: `NewOrdersPerAccount.burst` must be small enough for an empty bucket to fill within ten years (burst × period / count), but was 1000. With this count and period use burst: 9 or less.',
    ],
  },
  {
    name: 'bounds that are a number',
    limits: limitsWith('  count: 1\n  period: 1s\n  atMost: 1000\n'),
    problems: [
      'limits.yaml:6:11: `NewOrdersPerAccount.atMost` must be a mapping of tokens to durations, but was 1000. For example atMost: { 1000: 1h }.',
    ],
  },
  {
    name: 'bounds without an entry',
    limits: limitsWith('  count: 1\n  period: 1s\n  atMost: {}\n'),
    problems: [
      "limits.yaml:6:11: `NewOrdersPerAccount.atMost` must be durations by number of tokens, from 1 to 1000000000, but was {}. For at most 1000 tokens in any hour write atMost: { 1000: '1h' }.",
    ],
  },
  {
    name: 'bounds of which each entry is wrong',
    limits: limitsWith(
      '  count: 1\n  period: 1s\n  atMost:\n    1_000: 1h\n    3601: 60\n    5: 1x\n    ? [1]\n    : 1h\n',
    ),
    problems: [
      "limits.yaml:7:5: `NewOrdersPerAccount.atMost` must be durations by number of tokens, from 1 to 1000000000, but was '1_000'. For at most 1000 tokens in any hour write atMost: { 1000: '1h' }.",
      'limits.yaml:8:11: `NewOrdersPerAccount.atMost.3601` must be a duration with its unit, but was 60. Write 60s for seconds, 60ms for milliseconds.',
      "limits.yaml:9:8: `NewOrdersPerAccount.atMost.5` must be a duration from 1ms to 366 days, but was '1x'. For example 1s, 1m, 180m, 24h or 7d.",
      "limits.yaml:10:7: `NewOrdersPerAccount.atMost` must be durations by number of tokens, from 1 to 1000000000, but was 'a list'. For at most 1000 tokens in any hour write atMost: { 1000: '1h' }.",
    ],
  },
  {
    name: 'bounds that the numbers do not keep',
    limits: limitsWith('  burst: 100\n  count: 1000\n  period: 1h\n  atMost: { 5000: 1d, 1000: 1h }\n'),
    schemaAccepts: 'it can’t calculate',
    problems: [
      'limits.yaml:4:3: `NewOrdersPerAccount` must let at most 1000 tokens through in any 1h because of `atMost`, but can let 1100 through (100 at once and 1000 that come back). With this period use, for example, burst: 20, count: 207.',
    ],
  },
  {
    name: 'an override that does not keep the bounds of its limit',
    limits: LIMITS.replace('burst: 300, count: 300', 'burst: 300, count: 300, maxDebt: 1, atMost: { 601: 180m }'),
    overrides: overrideOf('      - 1\n').replace('600', '300') + overrideOf('      - 2\n'),
    schemaAccepts: 'it can’t calculate',
    problems: [
      'overrides.yaml:6:3: `NewOrdersPerAccount` must let at most 601 tokens through in any 180m because of `atMost`, but can let 1201 through (600 at once, 1 of debt and 600 that come back). With this period use, for example, burst: 299, count: 301.',
    ],
  },
  {
    name: 'a wait without a unit',
    limits: limitsWith('  count: 1\n  period: 1s\n  maxWait: 2\n'),
    problems: [
      'limits.yaml:6:12: `NewOrdersPerAccount.maxWait` must be a duration with its unit, but was 2. Write 2s for seconds, 2ms for milliseconds.',
    ],
  },
  {
    name: 'a wait of 0',
    schemaAccepts: 'a schema does not know how long a duration is',
    limits: limitsWith('  count: 1\n  period: 1s\n  maxWait: 0s\n'),
    problems: [
      "limits.yaml:6:12: `NewOrdersPerAccount.maxWait` must be a duration from 1ms to 1 hour, but was '0s'. For example 500ms, 2s or 10s.",
    ],
  },
  {
    name: 'a wait of more than an hour',
    schemaAccepts: 'a schema does not know how long a duration is',
    limits: limitsWith('  count: 1\n  period: 1s\n  maxWait: 61m\n'),
    problems: [
      "limits.yaml:6:12: `NewOrdersPerAccount.maxWait` must be a duration from 1ms to 1 hour, but was '61m'. For example 500ms, 2s or 10s.",
    ],
  },
  {
    name: 'a negative wait',
    limits: limitsWith('  count: 1\n  period: 1s\n  maxWait: -1s\n'),
    problems: [
      "limits.yaml:6:12: `NewOrdersPerAccount.maxWait` must be a duration from 1ms to 1 hour, but was '-1s'. For example 500ms, 2s or 10s.",
    ],
  },
  {
    name: 'a wait that is a list',
    limits: limitsWith('  count: 1\n  period: 1s\n  maxWait: [2s]\n'),
    problems: [
      'limits.yaml:6:12: `NewOrdersPerAccount.maxWait` must be a duration from 1ms to 1 hour, but was a list. For example maxWait: 2s.',
    ],
  },
  {
    name: 'a negative debt',
    limits: limitsWith('  count: 1\n  period: 1s\n  maxDebt: -1\n'),
    problems: [
      'limits.yaml:6:12: `NewOrdersPerAccount.maxDebt` must be a whole number from 0 to 1000000000, but was -1. It is in tokens, for example maxDebt: 1000. For no debt, leave it out.',
    ],
  },
  {
    name: 'a debt that is a mapping',
    limits: limitsWith('  count: 1\n  period: 1s\n  maxDebt: { tokens: 5 }\n'),
    problems: [
      'limits.yaml:6:12: `NewOrdersPerAccount.maxDebt` must be a whole number from 0 to 1000000000, but was a mapping. For example maxDebt: 1000.',
    ],
  },
  {
    name: 'a debt that would take too long',
    limits: limitsWith('  burst: 1\n  count: 1\n  maxDebt: 9\n  period: 366d\n'),
    schemaAccepts: 'it can’t calculate',
    problems: [
      'limits.yaml:6:12: `NewOrdersPerAccount.maxDebt` must be small enough for a bucket with this debt to fill within ten years ((burst + maxDebt) × period / count), but was 9. With these numbers use maxDebt: 8 or less.',
    ],
  },
  {
    name: 'a wrong number of an override',
    overrides: overrideOf('      - 1\n').replace('600', '0'),
    problems: [
      'overrides.yaml:2:12: `NewOrdersPerAccount.count` must be a whole number from 1 to 1000000000, but was 0. To allow no bursts use burst: 1; for no limit leave the limit out.',
    ],
  },
];
