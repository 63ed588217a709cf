import { LIMITS } from './written-files.ts';

/** Files with a problem, and all that is said of it. */
export interface ProblemCase {
  readonly name: string;
  readonly limits?: string | Uint8Array;
  readonly overrides?: string;
  readonly problems: readonly string[];
  /** Why a JSON Schema accepts the file nevertheless. */
  readonly schemaAccepts?: string;
}

const OTHERS = `NewRegistrationsPerIPAddress: { count: 1, period: 1s }
NewRegistrationsPerIPv6Range: { count: 1, period: 1s }
`;

/** A file of limits whose last one has these fields. */
function limitsWith(fields: string): string {
  return `${OTHERS}NewOrdersPerAccount:\n${fields}`;
}

/** An override with these ids. */
function overrideOf(ids: string, limit = 'NewOrdersPerAccount'): string {
  return `- ${limit}:\n    count: 600\n    period: 180m\n    ids:\n${ids}`;
}

/** Every problem that a file can have. */
export const PROBLEM_CASES: readonly ProblemCase[] = [
  {
    name: 'a limit without a key in code',
    limits: LIMITS + 'Extra: { count: 1, period: 1s }\n',
    schemaAccepts: 'it knows no code',
    problems: [
      'limits.yaml:5:1: The limit `Extra` has no key in code. Add one, for example keys: { Extra: ipAddress() }, or remove the limit from the file.',
    ],
  },
  {
    name: 'a key without a limit',
    limits: 'NewOrdersPerAccount: { count: 1, period: 1s }\n',
    schemaAccepts: 'it knows no code',
    problems: [
      'limits.yaml:1:1: The limit `NewRegistrationsPerIPAddress` has a key in code, but is not in the file. Add the limit to the file, or remove `keys.NewRegistrationsPerIPAddress`. Limits: NewOrdersPerAccount.',
      'limits.yaml:1:1: The limit `NewRegistrationsPerIPv6Range` has a key in code, but is not in the file. Add the limit to the file, or remove `keys.NewRegistrationsPerIPv6Range`. Limits: NewOrdersPerAccount.',
    ],
  },
  {
    name: 'an override of an unknown limit',
    overrides: '- NewOrders:\n    count: 1\n    period: 1s\n    ids: [1]\n',
    schemaAccepts: 'it knows no other file',
    problems: [
      'overrides.yaml:1:3: `NewOrders` is not the name of a limit. Limits: NewRegistrationsPerIPAddress, NewRegistrationsPerIPv6Range, NewOrdersPerAccount.',
    ],
  },
  {
    name: 'an unknown field of a limit',
    limits: limitsWith('  count: 1\n  period: 1s\n  brust: 2\n'),
    problems: [
      'limits.yaml:6:3: `NewOrdersPerAccount` has no option `brust` (its value was 2). Did you mean `burst`? Options: burst, count, period, idFormat, disabled, hidden.',
    ],
  },
  {
    name: 'another library’s field',
    limits: limitsWith('  count: 1\n  windowMs: 1000\n  period: 1s\n'),
    problems: [
      "limits.yaml:5:3: `NewOrdersPerAccount` has no option `windowMs` (its value was 1000). `windowMs` is `period` here, e.g. period: '1m'. Options: burst, count, period, idFormat, disabled, hidden.",
    ],
  },
  {
    name: 'an unknown field of an override',
    overrides: overrideOf('      - 1\n    reason: x\n'),
    problems: [
      "overrides.yaml:6:5: `NewOrdersPerAccount` has no option `reason` (its value was 'x'). Options: burst, count, period, unlimited, blocked, ids.",
    ],
  },
  {
    name: 'an unknown field of an id',
    overrides: overrideOf('      - id: 1\n        coment: x\n'),
    problems: [
      "overrides.yaml:6:9: `NewOrdersPerAccount.ids[]` has no option `coment` (its value was 'x'). Did you mean `comment`? Options: id, comment.",
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
    name: 'a name that is none',
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
    name: 'an id listed twice',
    overrides: overrideOf('      - 12345678\n      - "12345678"\n'),
    schemaAccepts: 'it can’t compare ids',
    problems: [
      "overrides.yaml:6:9: `NewOrdersPerAccount` lists the id '12345678' twice, first at 5:9. Keep one of the two.",
    ],
  },
  {
    name: 'an id listed twice in two overrides',
    overrides: overrideOf('      - 12345678\n') + overrideOf('      - id: 12345678\n'),
    schemaAccepts: 'it can’t compare ids',
    problems: [
      "overrides.yaml:10:13: `NewOrdersPerAccount` lists the id '12345678' twice, first at 5:9. Keep one of the two.",
    ],
  },
  {
    name: 'an id in two spellings',
    overrides: overrideOf('      - 2001:db8::1\n      - 2001:DB8:0::1\n', 'NewRegistrationsPerIPAddress'),
    schemaAccepts: 'it can’t compare ids',
    problems: [
      "overrides.yaml:6:9: `NewRegistrationsPerIPAddress` lists the id '2001:DB8:0::1' (which is '2001:db8::1') twice, first at 5:9. Keep one of the two.",
    ],
  },
  {
    name: 'a network listed twice',
    overrides: overrideOf('      - 10.20.0.0/16\n      - ::ffff:10.20.0.0/112\n', 'NewRegistrationsPerIPAddress'),
    schemaAccepts: 'it can’t compare ids',
    problems: [
      "overrides.yaml:6:9: `NewRegistrationsPerIPAddress` lists the id '::ffff:10.20.0.0/112' (which is '10.20.0.0/16') twice, first at 5:9. Keep one of the two.",
    ],
  },
  {
    name: 'an id that is no address',
    overrides: overrideOf('      - 12345678\n', 'NewRegistrationsPerIPAddress'),
    schemaAccepts: 'it knows no formats',
    problems: [
      "overrides.yaml:5:9: `overrides.NewRegistrationsPerIPAddress` lists the id '12345678': `id` must be an IPv4 or IPv6 address, such as '203.0.113.7' or '2001:db8::1', but was '12345678'. Write an address alone, without host name, port, brackets or mask: '203.0.113.7'.",
    ],
  },
  {
    name: 'IPv4 where an IPv6 range is due',
    overrides: overrideOf('      - 203.0.113.7\n', 'NewRegistrationsPerIPv6Range'),
    schemaAccepts: 'it knows no formats',
    problems: [
      "overrides.yaml:5:9: `overrides.NewRegistrationsPerIPv6Range` lists the id '203.0.113.7': `id` must be an IPv6 network with the mask /48, but was '203.0.113.7'. IPv4 addresses, IPv4-mapped ones included, have no IPv6 range.",
    ],
  },
  {
    name: 'a /64 where a /48 is due',
    overrides: overrideOf('      - 2001:db8:7:1::/64\n', 'NewRegistrationsPerIPv6Range'),
    schemaAccepts: 'it knows no formats',
    problems: [
      "overrides.yaml:5:9: `overrides.NewRegistrationsPerIPv6Range` lists the id '2001:db8:7:1::/64': `id` must be an IPv6 network with the mask /48, but was '2001:db8:7:1::/64'. It has the mask /64, not /48. Write '2001:db8:7::/48'.",
    ],
  },
  {
    name: 'host bits in a range',
    overrides: overrideOf('      - 2001:db8:7::1/48\n', 'NewRegistrationsPerIPv6Range'),
    schemaAccepts: 'it knows no formats',
    problems: [
      "overrides.yaml:5:9: `overrides.NewRegistrationsPerIPv6Range` lists the id '2001:db8:7::1/48': `id` must be an IPv6 network with the mask /48, but was '2001:db8:7::1/48'. It has host bits set. Write '2001:db8:7::/48'.",
    ],
  },
  {
    name: 'host bits in a network',
    overrides: overrideOf('      - 10.20.0.1/16\n', 'NewRegistrationsPerIPAddress'),
    schemaAccepts: 'it knows no formats',
    problems: [
      "overrides.yaml:5:9: `overrides.NewRegistrationsPerIPAddress` lists the id '10.20.0.1/16': `id` must be a network in CIDR notation, such as '10.0.0.0/8' or '2001:db8::/32', but was '10.20.0.1/16'. It has host bits set. Write '10.20.0.0/16' for the network, or '10.20.0.1' for the one address.",
    ],
  },
  {
    name: 'control characters in an id',
    overrides: overrideOf('      - "a\\tb"\n'),
    schemaAccepts: 'it knows no formats',
    problems: [
      "overrides.yaml:5:9: `overrides.NewOrdersPerAccount` lists the id 'a\\tb': `id` must be 1 to 256 characters of well-formed Unicode without control characters, but was 'a\\tb'. If this id is valid for you, shorten or encode it in the function of the key.",
    ],
  },
  {
    name: 'a count of zero',
    limits: limitsWith('  count: 0\n  period: 1s\n'),
    problems: [
      'limits.yaml:4:10: `NewOrdersPerAccount.count` must be a whole number from 1 to 1000000000, but was 0. To allow no bursts use burst: 1; for no limit leave the limit out.',
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
      'limits.yaml:4:10: `NewOrdersPerAccount.count` must be a whole number from 1 to 1000000000, but was 1.5. To allow no bursts use burst: 1; for no limit leave the limit out.',
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
      "limits.yaml:4:10: `NewOrdersPerAccount.count` must be a whole number from 1 to 1000000000, but was '1_000'. To allow no bursts use burst: 1; for no limit leave the limit out.",
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
    name: 'a field that is a list',
    limits: limitsWith('  ? [count]\n  : 1\n  count: 1\n  period: 1s\n'),
    problems: [
      'limits.yaml:4:5: `NewOrdersPerAccount` has no option `a list` (its value was 1). Options: burst, count, period, idFormat, disabled, hidden.',
    ],
  },
  {
    name: 'no count',
    limits: limitsWith('  period: 1s\n'),
    problems: [
      "limits.yaml:4:3: `NewOrdersPerAccount.count` must be a whole number from 1 to 1000000000, but was undefined. For example count: 100, period: '1m'.",
    ],
  },
  {
    name: 'a bad duration',
    limits: limitsWith('  count: 1\n  period: 180 minutes\n'),
    problems: [
      "limits.yaml:5:11: `NewOrdersPerAccount.period` must be a duration from 1ms to 366 days, but was '180 minutes'. For example 1s, 180m, 1h30m or 7d.",
    ],
  },
  {
    name: 'a duration that is too long',
    limits: limitsWith('  count: 1\n  period: 367d\n'),
    schemaAccepts: 'it can’t reckon',
    problems: [
      "limits.yaml:5:11: `NewOrdersPerAccount.period` must be a duration from 1ms to 366 days, but was '367d'. For example 1s, 180m, 1h30m or 7d.",
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
    name: 'a number as a period that no unit would mend',
    limits: limitsWith('  count: 1\n  period: 1e3\n'),
    problems: [
      'limits.yaml:5:11: `NewOrdersPerAccount.period` must be a duration from 1ms to 366 days, but was 1000. For example 1s, 180m, 1h30m or 7d.',
    ],
  },
  {
    name: 'no period',
    limits: limitsWith('  count: 1\n'),
    problems: [
      'limits.yaml:4:3: `NewOrdersPerAccount.period` must be a duration from 1ms to 366 days, but was undefined. For example 1s, 180m, 1h30m or 7d.',
    ],
  },
  {
    name: 'a rate that is too high',
    limits: limitsWith('  count: 1000000\n  period: 1ms\n'),
    schemaAccepts: 'it can’t reckon',
    problems: [
      "limits.yaml:4:10: `NewOrdersPerAccount.count` must be at most 16 per microsecond of the period, but was '1000000 per 1 ms'. Use a smaller count or a longer period.",
    ],
  },
  {
    name: 'a burst that would take too long',
    limits: limitsWith('  burst: 1000\n  count: 1\n  period: 366d\n'),
    schemaAccepts: 'it can’t reckon',
    problems: [
      'limits.yaml:4:10: `NewOrdersPerAccount.burst` must be small enough for an empty bucket to fill within ten years (burst × period / count), but was 1000. With this count and period use burst: 9 or less.',
    ],
  },
  {
    name: 'numbers of an override',
    overrides: overrideOf('      - 1\n').replace('600', '0'),
    problems: [
      'overrides.yaml:2:12: `NewOrdersPerAccount.count` must be a whole number from 1 to 1000000000, but was 0. To allow no bursts use burst: 1; for no limit leave the limit out.',
    ],
  },
  {
    name: 'an override with an empty list of ids',
    overrides: '- NewOrdersPerAccount:\n    count: 1\n    period: 1s\n    ids: []\n',
    problems: [
      'overrides.yaml:4:10: `NewOrdersPerAccount.ids` must have at least one id. Remove the override if it applies to none.',
    ],
  },
  {
    name: 'an override without ids',
    overrides: '- NewOrdersPerAccount:\n    count: 1\n    period: 1s\n',
    problems: [
      'overrides.yaml:2:5: `NewOrdersPerAccount.ids` must be a list of ids, but was empty. For example [12345678].',
    ],
  },
  {
    name: 'ids that are no list',
    overrides: '- NewOrdersPerAccount:\n    count: 1\n    period: 1s\n    ids: 12345678\n',
    problems: [
      'overrides.yaml:4:10: `NewOrdersPerAccount.ids` must be a list of ids, but was 12345678. For example [12345678].',
    ],
  },
  {
    name: 'an id that is empty',
    overrides: overrideOf('      -\n'),
    problems: [
      'overrides.yaml:5:8: `NewOrdersPerAccount.ids[]` must be text or a number, but was empty. Quote it, if that is the id.',
    ],
  },
  {
    name: 'an id that is true',
    overrides: overrideOf('      - true\n'),
    problems: [
      'overrides.yaml:5:9: `NewOrdersPerAccount.ids[]` must be text or a number, but was true. Quote it, if that is the id.',
    ],
  },
  {
    name: 'an id that is null',
    overrides: overrideOf('      - ~\n'),
    problems: [
      'overrides.yaml:5:9: `NewOrdersPerAccount.ids[]` must be text or a number, but was ~. Quote it, if that is the id.',
    ],
  },
  {
    name: 'an id that is empty text',
    overrides: overrideOf('      - ""\n'),
    problems: [
      "overrides.yaml:5:9: `NewOrdersPerAccount.ids[]` must be text or a number, but was ''. Quote it, if that is the id.",
    ],
  },
  {
    name: 'an id that is a list',
    overrides: overrideOf('      - [1]\n'),
    problems: [
      'overrides.yaml:5:9: `NewOrdersPerAccount.ids[]` must be text or a number, but was a list. Quote it, if that is the id.',
    ],
  },
  {
    name: 'a comment without an id',
    overrides: overrideOf('      - comment: ticket 4711\n'),
    problems: [
      'overrides.yaml:5:9: `NewOrdersPerAccount.ids[].id` must be given: text or a number. For example { id: 12345678, comment: ticket 4711 }.',
    ],
  },
  {
    name: 'a comment that is a list',
    overrides: overrideOf('      - id: 1\n        comment: [x]\n'),
    problems: [
      'overrides.yaml:6:18: `NewOrdersPerAccount.ids[].comment` must be text, but was a list. Quote it, or leave it out.',
    ],
  },
  {
    name: 'unlimited beside numbers',
    overrides: overrideOf('      - 1\n    unlimited: true\n'),
    problems: [
      'overrides.yaml:2:5: `NewOrdersPerAccount.count` must be left out beside `unlimited`, which lets the ids through. Keep one of the two.',
      'overrides.yaml:3:5: `NewOrdersPerAccount.period` must be left out beside `unlimited`, which lets the ids through. Keep one of the two.',
    ],
  },
  {
    name: 'unlimited: false',
    overrides: '- NewOrdersPerAccount:\n    unlimited: false\n    ids: [1]\n',
    problems: [
      'overrides.yaml:2:16: `NewOrdersPerAccount.unlimited` must be true, or left out, but was false. For example unlimited: true.',
    ],
  },
  {
    name: 'blocked beside numbers',
    overrides: overrideOf('      - 1\n    blocked: true\n'),
    problems: [
      'overrides.yaml:2:5: `NewOrdersPerAccount.count` must be left out beside `blocked`, which refuses the ids. Keep one of the two.',
      'overrides.yaml:3:5: `NewOrdersPerAccount.period` must be left out beside `blocked`, which refuses the ids. Keep one of the two.',
    ],
  },
  {
    name: 'blocked beside unlimited',
    overrides: '- NewOrdersPerAccount:\n    blocked: true\n    unlimited: true\n    ids: [1]\n',
    problems: [
      'overrides.yaml:2:5: `NewOrdersPerAccount.blocked` must be left out beside `unlimited`, which lets the ids through. Keep one of the two.',
    ],
  },
  {
    name: 'blocked: false',
    overrides: '- NewOrdersPerAccount:\n    blocked: false\n    ids: [1]\n',
    problems: [
      'overrides.yaml:2:14: `NewOrdersPerAccount.blocked` must be true, or left out, but was false. For example blocked: true.',
    ],
  },
  {
    name: 'hidden that is no boolean',
    limits: limitsWith('  count: 1\n  period: 1s\n  hidden: yes\n'),
    problems: [
      "limits.yaml:6:11: `NewOrdersPerAccount.hidden` must be true or false, but was 'yes'. Write hidden: true, or leave it out.",
    ],
  },
  {
    name: 'disabled that is no boolean',
    limits: limitsWith('  count: 1\n  period: 1s\n  disabled: yes\n'),
    problems: [
      "limits.yaml:6:13: `NewOrdersPerAccount.disabled` must be true or false, but was 'yes'. Write disabled: true, or leave it out.",
    ],
  },
  {
    name: 'an idFormat that is another in code',
    limits: limitsWith('  count: 1\n  period: 1s\n  idFormat: ipAddress\n'),
    schemaAccepts: 'it knows no code',
    problems: [
      "limits.yaml:6:13: `NewOrdersPerAccount.idFormat` must be accountId, the format of its key in code, but was 'ipAddress'. Change one of the two.",
    ],
  },
  {
    name: 'an idFormat that is no text',
    limits: limitsWith('  count: 1\n  period: 1s\n  idFormat: 3\n'),
    problems: [
      'limits.yaml:6:13: `NewOrdersPerAccount.idFormat` must be one of ipAddress, ipv6RangeCIDR, clientNetwork, accountId, regId, domain, fqdnSet, but was 3. For example ipAddress.',
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
    name: 'no limits',
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
  {
    name: 'an empty file of overrides',
    overrides: '# nothing\n',
    problems: [
      'overrides.yaml:1:1: The overrides file is empty. Write a list of overrides, each under the name of its limit, or [] for none.',
    ],
  },
  {
    name: 'overrides as a mapping',
    overrides: 'NewOrdersPerAccount:\n  count: 1\n',
    problems: [
      'overrides.yaml:1:1: The overrides file must be a list, but was a mapping. Write a list of overrides, each under the name of its limit, or [] for none.',
    ],
  },
  {
    name: 'an override that is text',
    overrides: '- NewOrdersPerAccount\n',
    problems: [
      "overrides.yaml:1:3: `override` must be a mapping of a limit to its fields, but was 'NewOrdersPerAccount'. For example `- NewOrders: { count: 600, period: 180m, ids: [12345678] }`.",
    ],
  },
  {
    name: 'an override without fields',
    overrides: '- NewOrdersPerAccount:\n',
    problems: [
      'overrides.yaml:1:23: `NewOrdersPerAccount` must be a mapping of fields, but was empty. For example `- NewOrders: { count: 600, period: 180m, ids: [12345678] }`.',
    ],
  },
  {
    name: 'fields that are not indented',
    overrides: '- NewOrdersPerAccount:\n  count: 1\n',
    problems: [
      'overrides.yaml:2:3: An override must have exactly one limit, but this one has several. Start each override with `- `, and indent its fields deeper than the name of its limit.',
    ],
  },
  {
    name: 'an override without a limit',
    overrides: '- {}\n',
    problems: [
      'overrides.yaml:1:3: An override must have exactly one limit, but this one has none. Start each override with `- `, and indent its fields deeper than the name of its limit.',
    ],
  },
  {
    name: 'tabs',
    limits: limitsWith('\tcount: 1\n\tperiod: 1s\n'),
    problems: [
      'limits.yaml:4:1: Tabs are not allowed as indentation. Indent with spaces.',
      'limits.yaml:5:1: Tabs are not allowed as indentation. Indent with spaces.',
    ],
  },
  {
    name: 'several documents',
    limits: LIMITS + '---\nOther: { count: 1, period: 1s }\n',
    problems: ['limits.yaml:5:1: The file must contain one document. Remove the line `---`.'],
  },
  {
    name: 'a directive',
    limits: '%YAML 1.1\n---\n' + LIMITS,
    schemaAccepts: 'it sees no directives',
    problems: ['limits.yaml:1:1: Directives such as %YAML are not supported. Remove the line.'],
  },
  {
    name: 'a tag',
    overrides: overrideOf('      - !!str 123\n'),
    schemaAccepts: 'it sees no tags',
    problems: ['overrides.yaml:5:15: Tags such as !!str are not supported. Remove it; to make a value text, quote it.'],
  },
  {
    name: 'a tag that runs code elsewhere',
    overrides: overrideOf('      - !!js/function "x"\n'),
    schemaAccepts: 'it sees no tags',
    problems: [
      'overrides.yaml:5:23: Tags such as !!js/function are not supported. Remove it; to make a value text, quote it.',
    ],
  },
  {
    name: 'a tag of a collection',
    overrides: '!!set\n' + overrideOf('      - 1\n'),
    schemaAccepts: 'it sees no tags',
    problems: ['overrides.yaml:2:1: Tags such as !!set are not supported. Remove it; to make a value text, quote it.'],
  },
  {
    name: 'binary',
    overrides: overrideOf('      - !!binary aGVsbG8=\n'),
    problems: [
      'overrides.yaml:5:18: Tags such as !!binary are not supported. Remove it; to make a value text, quote it.',
    ],
  },
  {
    name: 'a merge key',
    limits:
      'NewRegistrationsPerIPAddress: &a { count: 1, period: 1s }\nNewRegistrationsPerIPv6Range: { count: 1, period: 1s }\nNewOrdersPerAccount:\n  <<: *a\n  count: 1\n  period: 1s\n',
    problems: [
      "limits.yaml:4:3: `NewOrdersPerAccount` has no option `<<` (its value was 'mapping'). Merge keys (`<<`) are not supported. Write the fields out. Options: burst, count, period, idFormat, disabled, hidden.",
    ],
  },
  {
    name: 'an alias of nothing',
    limits: limitsWith('  count: *nothing\n  period: 1s\n'),
    problems: ['limits.yaml:4:10: The alias *nothing must name an anchor before it, but there is no &nothing.'],
  },
  {
    name: 'broken quotes',
    limits: limitsWith('  count: 1\n  period: "1s\n'),
    problems: ['limits.yaml:6:1: Missing closing "quote.'],
  },
  {
    name: 'a colon too many',
    limits: limitsWith('  count: 1: 2\n  period: 1s\n'),
    problems: ['limits.yaml:4:10: Nested mappings are not allowed in compact mappings.'],
  },
  {
    name: 'bytes that are no UTF-8',
    limits: Buffer.concat([
      Buffer.from(limitsWith('  count: 1\n  period: 1')),
      Buffer.from([0xff]),
      Buffer.from('s\n'),
    ]),
    problems: ['limits.yaml:5:12: The text is not valid UTF-8 here. Save the file as UTF-8.'],
  },
];
