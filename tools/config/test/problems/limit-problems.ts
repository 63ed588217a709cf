import { LIMITS } from '../written-files.ts';
import { limitsWith, OTHERS, type ProblemCase } from './problem-case.ts';

/** Mistakes in the names and fields of limits. */
export const LIMIT_PROBLEMS: readonly ProblemCase[] = [
  {
    name: 'a quota and a rate in one limit',
    limits: limitsWith('  count: 1\n  per: day\n  period: 1s\n'),
    problems: [
      'limits.yaml:6:11: `NewOrdersPerAccount.period` must be left out beside `per`: a limit is a quota or a rate. For both define two limits, and use them in one batch.',
    ],
  },
  {
    name: 'a calendar of a rate',
    limits: limitsWith('  count: 1\n  period: 1s\n  timeZone: UTC\n'),
    problems: [
      "limits.yaml:6:13: `NewOrdersPerAccount.timeZone` must be given only with `per`. For a quota add per: 'month'; for a rate leave it out.",
    ],
  },
  {
    name: 'an unknown period',
    limits: limitsWith('  count: 1\n  per: months\n'),
    problems: [
      "limits.yaml:5:8: `NewOrdersPerAccount.per` must be 'second' or 'minute' or 'hour' or 'day' or 'week' or 'month' or 'year', but was 'months'. Write per: 'month'.",
    ],
  },
  {
    name: 'a period that is a list',
    limits: limitsWith('  count: 1\n  per: [day]\n'),
    problems: [
      'limits.yaml:5:8: `NewOrdersPerAccount.per` must be one of second, minute, hour, day, week, month, year, but was a list. For example per: month.',
    ],
  },
  {
    name: 'a time zone that does not exist',
    limits: limitsWith('  count: 1\n  per: day\n  timeZone: Europe/Berlim\n'),
    schemaAccepts: 'it does not know the time zones',
    problems: [
      "limits.yaml:6:13: `NewOrdersPerAccount.timeZone` must be a time zone of the IANA database, but was 'Europe/Berlim'. For example timeZone: 'Europe/Berlin'. For UTC leave it out.",
    ],
  },
  {
    name: 'an anchor on 31 February',
    limits: limitsWith('  count: 1\n  per: month\n  anchor: 2026-02-31\n'),
    schemaAccepts: 'it does not know the calendar',
    problems: [
      "limits.yaml:6:11: `NewOrdersPerAccount.anchor` must be a date that exists, such as '2026-01-31', or a Date, but was '2026-02-31'. Periods are counted from its day and time.",
    ],
  },
  {
    name: 'a quota without a count',
    limits: limitsWith('  per: month\n'),
    problems: [
      'limits.yaml:4:3: `NewOrdersPerAccount.count` must be a whole number from 1 to 1000000000000, but was undefined. For example count: 10000. For no limit leave the limit out.',
    ],
  },
  {
    name: 'more tokens than a quota can have',
    limits: limitsWith('  count: 1000000000001\n  per: month\n'),
    problems: [
      'limits.yaml:4:10: `NewOrdersPerAccount.count` must be a whole number from 1 to 1000000000000, but was 1000000000001. Let a token stand for more, in all costs too.',
    ],
  },
  {
    name: 'more tokens than a day can have',
    limits: limitsWith('  count: 86400000001\n  per: day\n'),
    schemaAccepts: 'it knows the most of all periods',
    problems: [
      'limits.yaml:4:10: `NewOrdersPerAccount.count` must be at most 86400000000 per day, but was 86400000001. For example count: 86400000000. For more, let a token stand for more, in all costs too.',
    ],
  },
  {
    name: 'an overshoot of zero',
    limits: limitsWith('  count: 10\n  period: 1s\n  overshoot: 0\n'),
    problems: [
      'limits.yaml:6:14: `NewOrdersPerAccount.overshoot` must be a number above 0, at most 1, but was 0. It is a part of the burst: 0.1 for a tenth. For an exact limit, leave it out.',
    ],
  },
  {
    name: 'a list as overshoot',
    limits: limitsWith('  count: 10\n  period: 1s\n  overshoot: [0.1]\n'),
    problems: [
      'limits.yaml:6:14: `NewOrdersPerAccount.overshoot` must be a number above 0, at most 1, but was a list. For example overshoot: 0.1.',
    ],
  },
  {
    name: 'an overshoot and a queue',
    limits: limitsWith('  count: 10\n  period: 1s\n  overshoot: 0.1\n  maxWait: 1s\n'),
    schemaAccepts: 'it does not combine fields of a rate',
    problems: [
      'limits.yaml:4:3: `NewOrdersPerAccount` has `overshoot` and `maxWait`: the order of its queue is exact. Remove one of the two.',
    ],
  },
  {
    name: 'an overshoot of an exact limit',
    limits: limitsWith('  count: 10\n  period: 1s\n  overshoot: 0.1\n  exact: true\n'),
    schemaAccepts: 'it does not combine fields of a rate',
    problems: [
      'limits.yaml:4:3: `NewOrdersPerAccount` has `overshoot` and `exact`: they contradict each other. Remove one of the two.',
    ],
  },
  {
    name: 'an overshoot of a quota',
    limits: limitsWith('  count: 10\n  per: day\n  overshoot: 0.1\n'),
    problems: [
      'limits.yaml:6:14: `NewOrdersPerAccount.overshoot` must be left out beside `per`: only a rate can have one.',
    ],
  },
  {
    name: 'wrong thresholds of a quota',
    limits: limitsWith('  count: 1\n  per: month\n  warnAt: [2]\n'),
    problems: [
      'limits.yaml:6:11: `NewOrdersPerAccount.warnAt` must be an array of numbers above 0, at most 1, but was [ 2 ]. For example warnAt: [0.8, 1].',
    ],
  },
  {
    name: 'thresholds that are no list',
    limits: limitsWith('  count: 1\n  per: month\n  warnAt: 1\n'),
    problems: [
      'limits.yaml:6:11: `NewOrdersPerAccount.warnAt` must be a list of numbers above 0, at most 1, but was 1. For example warnAt: [0.8, 1].',
    ],
  },
  {
    name: 'a threshold that is a list',
    limits: limitsWith('  count: 1\n  per: month\n  warnAt: [[1]]\n'),
    problems: [
      'limits.yaml:6:11: `NewOrdersPerAccount.warnAt` must be an array of numbers above 0, at most 1, but was [ undefined ]. For example warnAt: [0.8, 1].',
    ],
  },
  {
    name: 'a limit without a key in code',
    limits: LIMITS + 'Extra: { count: 1, period: 1s }\n',
    schemaAccepts: 'it does not know the code',
    problems: [
      'limits.yaml:5:1: The limit `Extra` has no key in code. Add one, for example keys: { Extra: ipAddress() }, or remove the limit from the file.',
    ],
  },
  {
    name: 'a key without a limit',
    limits: 'NewOrdersPerAccount: { count: 1, period: 1s }\n',
    schemaAccepts: 'it does not know the code',
    problems: [
      'limits.yaml:1:1: The limit `NewRegistrationsPerIPAddress` has a key in code, but is not in the file. Add the limit to the file, or remove `keys.NewRegistrationsPerIPAddress`. Limits: NewOrdersPerAccount.',
      'limits.yaml:1:1: The limit `NewRegistrationsPerIPv6Range` has a key in code, but is not in the file. Add the limit to the file, or remove `keys.NewRegistrationsPerIPv6Range`. Limits: NewOrdersPerAccount.',
    ],
  },
  {
    name: 'an unknown field of a limit',
    limits: limitsWith('  count: 1\n  period: 1s\n  brust: 2\n'),
    problems: [
      'limits.yaml:6:3: `NewOrdersPerAccount` has no option `brust` (its value was 2). Did you mean `burst`? All 20 options are in docs/limits/options.md.',
    ],
  },
  {
    name: 'another library’s field',
    limits: limitsWith('  count: 1\n  windowMs: 1000\n  period: 1s\n'),
    problems: [
      "limits.yaml:5:3: `NewOrdersPerAccount` has no option `windowMs` (its value was 1000). `windowMs` is `period` here, e.g. period: '1m'. All 20 options are in docs/limits/options.md.",
    ],
  },
  {
    name: 'a limit defined twice',
    limits: LIMITS + 'NewOrdersPerAccount: { count: 1, period: 1s }\n',
    problems: ['limits.yaml:5:1: The limit `NewOrdersPerAccount` is defined twice, first at 4:1. Keep one.'],
  },
  {
    name: 'a name in two spellings',
    limits: LIMITS + 'newordersperaccount: { count: 1, period: 1s }\n',
    schemaAccepts: 'it can’t compare names',
    problems: [
      'limits.yaml:5:1: The limit `newordersperaccount` is defined twice, first as `NewOrdersPerAccount` at 4:1. Names must differ by more than case.',
    ],
  },
  {
    name: 'a name that is not valid',
    limits: LIMITS + '1st: { count: 1, period: 1s }\n',
    problems: [
      "limits.yaml:5:1: `name of a limit` must be a letter followed by letters, digits, `_`, `.` or `-`, at most 64 characters, but was '1st'. Clients see the name in header fields. For example OrdersPerAccount.",
    ],
  },
  {
    name: 'a name that is a list',
    limits: LIMITS + '? [a]\n: { count: 1, period: 1s }\n',
    problems: [
      "limits.yaml:5:3: `name of a limit` must be a letter followed by letters, digits, `_`, `.` or `-`, at most 64 characters, but was 'a list'. Clients see the name in header fields. For example OrdersPerAccount.",
    ],
  },
  {
    name: 'a field given twice',
    limits: limitsWith('  count: 1\n  period: 1s\n  count: 2\n'),
    problems: ['limits.yaml:6:3: `NewOrdersPerAccount.count` is given twice, first at 4:3. Keep one.'],
  },
  {
    name: 'a field that is a list',
    limits: limitsWith('  ? [count]\n  : 1\n  count: 1\n  period: 1s\n'),
    problems: [
      'limits.yaml:4:5: `NewOrdersPerAccount` has no option `a list` (its value was 1). All 20 options are in docs/limits/options.md.',
    ],
  },
  {
    name: 'hidden that is not a boolean',
    limits: limitsWith('  count: 1\n  period: 1s\n  hidden: yes\n'),
    problems: [
      "limits.yaml:6:11: `NewOrdersPerAccount.hidden` must be true or false, but was 'yes'. Write hidden: true, or leave it out.",
    ],
  },
  {
    name: 'disabled that is not a boolean',
    limits: limitsWith('  count: 1\n  period: 1s\n  disabled: yes\n'),
    problems: [
      "limits.yaml:6:13: `NewOrdersPerAccount.disabled` must be true or false, but was 'yes'. Write disabled: true, or leave it out.",
    ],
  },
  {
    name: 'an idFormat that differs from the code',
    limits: limitsWith('  count: 1\n  period: 1s\n  idFormat: ipAddress\n'),
    schemaAccepts: 'it does not know the code',
    problems: [
      "limits.yaml:6:13: `NewOrdersPerAccount.idFormat` must be accountId, the format of its key in code, but was 'ipAddress'. Change one of the two.",
    ],
  },
  {
    name: 'an idFormat that is not text',
    limits: limitsWith('  count: 1\n  period: 1s\n  idFormat: 3\n'),
    problems: [
      'limits.yaml:6:13: `NewOrdersPerAccount.idFormat` must be one of ipAddress, ipv6RangeCIDR, clientNetwork, accountId, by, regId, domain, fqdnSet, everyone, but was 3. For example idFormat: ipAddress.',
    ],
  },
  {
    name: 'a limit without fields',
    limits: OTHERS + 'NewOrdersPerAccount:\n',
    problems: [
      'limits.yaml:3:21: `NewOrdersPerAccount` must be a mapping of fields, but was empty. For example { count: 300, period: 180m }; in YAML, write each field on its own line, indented.',
    ],
  },
  {
    name: 'limits as a list',
    limits: '- NewOrdersPerAccount\n',
    problems: [
      'limits.yaml:1:1: The limits file must be a mapping of limits by name, but was a list. Write each limit under its name, for example `NewOrders: { count: 300, period: 180m }`.',
    ],
  },
  {
    name: 'limits as text',
    limits: 'NewOrdersPerAccount\n',
    problems: [
      "limits.yaml:1:1: The limits file must be a mapping of limits by name, but was 'NewOrdersPerAccount'. Write each limit under its name, for example `NewOrders: { count: 300, period: 180m }`.",
    ],
  },
  {
    name: 'a mapping without limits',
    limits: '{}\n',
    problems: [
      'limits.yaml:1:1: The limits file has no limit. Write each limit under its name, for example `NewOrders: { count: 300, period: 180m }`.',
    ],
  },
  {
    name: 'an empty file of limits',
    limits: '',
    problems: [
      'limits.yaml:1:1: The limits file is empty. Write each limit under its name, for example `NewOrders: { count: 300, period: 180m }`.',
    ],
  },
];
