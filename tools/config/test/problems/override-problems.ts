import { limitsWith, overrideOf, type ProblemCase } from './problem-case.ts';

/** Mistakes in overrides and their ids. */
export const OVERRIDE_PROBLEMS: readonly ProblemCase[] = [
  {
    name: 'an override of a rate without a period',
    overrides: '- NewOrdersPerAccount:\n    count: 600\n    ids: [1]\n',
    schemaAccepts: 'it does not know the other file',
    problems: [
      "overrides.yaml:1:3: `NewOrdersPerAccount` must have `count` and `period`, because the limit is a rate. For example { count: 600, period: '180m' }.",
    ],
  },
  {
    name: 'an override of a quota that is a rate',
    limits: limitsWith('  count: 1\n  per: month\n'),
    overrides: '- NewOrdersPerAccount:\n    count: 600\n    period: 1m\n    ids: [1]\n',
    schemaAccepts: 'it does not know the other file',
    problems: [
      'overrides.yaml:1:3: `NewOrdersPerAccount` must have `count` alone, because the limit is a quota. For example { count: 50000 }.',
    ],
  },
  {
    name: 'an override with a wrong count alone',
    overrides: '- NewOrdersPerAccount:\n    count: 0\n    ids: [1]\n',
    problems: [
      'overrides.yaml:2:12: `NewOrdersPerAccount.count` must be a whole number from 1 to 1000000000000, but was 0. For example count: 10000. For no limit leave the limit out.',
    ],
  },
  {
    name: 'an override of an unknown limit',
    overrides: '- NewOrders:\n    count: 1\n    period: 1s\n    ids: [1]\n',
    schemaAccepts: 'it does not know the other file',
    problems: [
      'overrides.yaml:1:3: `NewOrders` is not the name of a limit. Limits: NewRegistrationsPerIPAddress, NewRegistrationsPerIPv6Range, NewOrdersPerAccount.',
    ],
  },
  {
    name: 'an unknown field of an override',
    overrides: overrideOf('      - 1\n    reason: x\n'),
    problems: [
      "overrides.yaml:6:5: `NewOrdersPerAccount` has no option `reason` (its value was 'x'). Options: burst, count, period, maxDebt, maxWait, borrow, concurrency, unlimited, blocked, until, ids.",
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
    name: 'an id that is not an address',
    overrides: overrideOf('      - 12345678\n', 'NewRegistrationsPerIPAddress'),
    schemaAccepts: 'it does not know the formats',
    problems: [
      "overrides.yaml:5:9: `overrides.NewRegistrationsPerIPAddress` lists the id '12345678': `id` must be an IPv4 or IPv6 address, such as '203.0.113.7' or '2001:db8::1', but was '12345678'. Write an address alone, without host name, port, brackets or mask: '203.0.113.7'.",
    ],
  },
  {
    name: 'IPv4 where an IPv6 range is required',
    overrides: overrideOf('      - 203.0.113.7\n', 'NewRegistrationsPerIPv6Range'),
    schemaAccepts: 'it does not know the formats',
    problems: [
      "overrides.yaml:5:9: `overrides.NewRegistrationsPerIPv6Range` lists the id '203.0.113.7': `id` must be an IPv6 network with the mask /48, but was '203.0.113.7'. IPv4 addresses, IPv4-mapped ones included, have no IPv6 range.",
    ],
  },
  {
    name: 'a /64 where a /48 is required',
    overrides: overrideOf('      - 2001:db8:7:1::/64\n', 'NewRegistrationsPerIPv6Range'),
    schemaAccepts: 'it does not know the formats',
    problems: [
      "overrides.yaml:5:9: `overrides.NewRegistrationsPerIPv6Range` lists the id '2001:db8:7:1::/64': `id` must be an IPv6 network with the mask /48, but was '2001:db8:7:1::/64'. It has the mask /64, not /48. Write '2001:db8:7::/48'.",
    ],
  },
  {
    name: 'host bits in a range',
    overrides: overrideOf('      - 2001:db8:7::1/48\n', 'NewRegistrationsPerIPv6Range'),
    schemaAccepts: 'it does not know the formats',
    problems: [
      "overrides.yaml:5:9: `overrides.NewRegistrationsPerIPv6Range` lists the id '2001:db8:7::1/48': `id` must be an IPv6 network with the mask /48, but was '2001:db8:7::1/48'. It has host bits set. Write '2001:db8:7::/48'.",
    ],
  },
  {
    name: 'host bits in a network',
    overrides: overrideOf('      - 10.20.0.1/16\n', 'NewRegistrationsPerIPAddress'),
    schemaAccepts: 'it does not know the formats',
    problems: [
      "overrides.yaml:5:9: `overrides.NewRegistrationsPerIPAddress` lists the id '10.20.0.1/16': `id` must be a network in CIDR notation, such as '10.0.0.0/8' or '2001:db8::/32', but was '10.20.0.1/16'. It has host bits set. Write '10.20.0.0/16' for the network, or '10.20.0.1' for the one address.",
    ],
  },
  {
    name: 'control characters in an id',
    overrides: overrideOf('      - "a\\tb"\n'),
    schemaAccepts: 'it does not know the formats',
    problems: [
      "overrides.yaml:5:9: `overrides.NewOrdersPerAccount` lists the id 'a\\tb': `id` must be 1 to 256 characters of well-formed Unicode without control characters, but was 'a\\tb'. If this id is valid for you, shorten or encode it in the function of the key.",
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
      'overrides.yaml:2:5: `NewOrdersPerAccount.ids` must be a list of ids, or the path of a file with one id a line, but was empty. For example [12345678], or ids.txt.',
    ],
  },
  {
    name: 'ids that are not a list',
    overrides: '- NewOrdersPerAccount:\n    count: 1\n    period: 1s\n    ids: 12345678\n',
    problems: [
      'overrides.yaml:4:10: `NewOrdersPerAccount.ids` must be a list of ids, or the path of a file with one id a line, but was 12345678. For example [12345678], or ids.txt.',
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
      'overrides.yaml:2:5: `NewOrdersPerAccount.count` must be left out beside `blocked`, which denies the ids. Keep one of the two.',
      'overrides.yaml:3:5: `NewOrdersPerAccount.period` must be left out beside `blocked`, which denies the ids. Keep one of the two.',
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
];
