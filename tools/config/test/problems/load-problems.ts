import { limitsWith, OTHERS, type ProblemCase } from './problem-case.ts';

const LOAD = limitsWith('  load: eventLoop\n');
const PLACE = 'limits.yaml:4:9: `NewOrdersPerAccount.load`';
const WRONG_LOAD = 'must be eventLoop, or a mapping of its options';
const WRITE_LOAD = 'Write load: eventLoop, or for example load: { busy: 0.9 }.';
const DEAD_ZONE = 'For example calm: 0.7, busy: 0.8. The level stays while the signal is between them.';
const OPTIONS = 'Options: calm, busy, rise, fall, every, classes.';

/** Returns a file with one wrong option of a load, in line 5 from column 5. */
function optionOf(option: string): string {
  return limitsWith(`  load:\n    ${option}\n`);
}

function overrideWith(numbers: string): string {
  return `- NewOrdersPerAccount: { ids: [1], ${numbers} }\n`;
}

/** Mistakes in load limits and their overrides. */
export const LOAD_PROBLEMS: readonly ProblemCase[] = [
  ...[
    { name: 'an unknown source', written: 'cpu', shown: "'cpu'" },
    { name: 'a source in other letters', written: 'eventloop', shown: "'eventloop'" },
    { name: 'no source', written: '', shown: 'empty' },
    { name: 'a number as source', written: '0.8', shown: '0.8' },
    { name: 'a list of sources', written: '[eventLoop]', shown: 'a list' },
  ].map(({ name, written, shown }) => ({
    name,
    limits: limitsWith(`  load: ${written}\n`),
    problems: [`${PLACE} ${WRONG_LOAD}, but was ${shown}. ${WRITE_LOAD}`],
  })),
  ...[
    { written: 'calm: 0', demand: 'a number above 0 and below 1', value: '0', remedy: DEAD_ZONE },
    { written: 'calm: "0.7"', demand: 'a number above 0 and below 1', value: "'0.7'", remedy: DEAD_ZONE },
    { written: 'busy: 1', demand: 'a number above 0 and below 1', value: '1', remedy: DEAD_ZONE },
    { written: 'busy: .nan', demand: 'a number above 0 and below 1', value: 'NaN', remedy: DEAD_ZONE },
    {
      written: 'busy: [0.8]',
      demand: 'a number above 0 and below 1',
      value: 'a list',
      remedy: 'For example busy: 0.8.',
    },
    {
      written: 'rise: 3',
      demand: 'a duration with its unit',
      value: '3',
      remedy: 'Write 3s for seconds, 3ms for milliseconds.',
    },
    {
      written: 'classes: 101',
      demand: 'a whole number from 1 to 100',
      value: '101',
      remedy: 'For example classes: 4. For one class for each share, leave it out.',
    },
  ].map(({ written, demand, value, remedy }) => {
    const [option] = written.split(':') as [string];
    const place = `limits.yaml:5:${7 + option.length}: \`NewOrdersPerAccount.load.${option}\``;
    const problems = [`${place} must be ${demand}, but was ${value}. ${remedy}`];
    return { name: `an option out of its range: ${written}`, limits: optionOf(written), problems };
  }),
  ...[
    {
      written: 'rise: 499ms',
      demand: 'a duration from 500 ms to 10 minutes',
      examples: '500ms, 3s or 1m',
    },
    { written: 'fall: 2h', demand: 'a duration from 1 second to 1 hour', examples: '10s, 1m or 5m' },
    { written: 'every: 61s', demand: 'a duration from 100 ms to 60 seconds', examples: '100ms, 250ms or 1s' },
  ].map(({ written, demand, examples }) => {
    const [option, value] = written.split(': ') as [string, string];
    const place = `limits.yaml:5:${7 + option.length}: \`NewOrdersPerAccount.load.${option}\``;
    return {
      name: `a duration out of its range: ${written}`,
      limits: optionOf(written),
      schemaAccepts: 'it can’t calculate',
      problems: [`${place} must be ${demand}, but was '${value}'. For example ${examples}.`],
    };
  }),
  {
    name: 'a calm above the default of busy',
    limits: optionOf('calm: 0.9'),
    schemaAccepts: 'it can’t compare fields',
    problems: [
      'limits.yaml:5:11: `NewOrdersPerAccount.load.calm` must be below `busy`, 0.8, but was 0.9. The level stays while the signal is between them. For example calm: 0.7, busy: 0.8.',
    ],
  },
  {
    name: 'a calm below a busy that is out of its range, which is the only problem',
    limits: optionOf('{ calm: 0.9, busy: 95 }'),
    problems: [
      `limits.yaml:5:24: \`NewOrdersPerAccount.load.busy\` must be a number above 0 and below 1, but was 95. ${DEAD_ZONE}`,
    ],
  },
  {
    name: 'an interval above rise',
    limits: optionOf('every: 4s'),
    schemaAccepts: 'it can’t compare fields',
    problems: [
      "limits.yaml:5:12: `NewOrdersPerAccount.load.every` must be at most `rise`, '3s', but was '4s'. Otherwise one reading would move the level from 0 to 1. Shorten `every`, or lengthen `rise`.",
    ],
  },
  {
    name: 'the kill switch of code, and the names of other libraries, in a load',
    limits: optionOf('{ enabled: true, sampleInterval: 1s, bussy: 0.9 }'),
    problems: [
      `limits.yaml:5:7: \`NewOrdersPerAccount.load\` has no option \`enabled\` (its value was true). \`enabled\` is a function, so it is given in code. In a file, switch the limit off by disabled: true. ${OPTIONS}`,
      `limits.yaml:5:22: \`NewOrdersPerAccount.load\` has no option \`sampleInterval\` (its value was '1s'). How often the signal is read is \`every\` here. ${OPTIONS}`,
      `limits.yaml:5:42: \`NewOrdersPerAccount.load\` has no option \`bussy\` (its value was 0.9). Did you mean \`busy\`? ${OPTIONS}`,
    ],
  },
  {
    name: 'an option of a load twice',
    limits: limitsWith('  load:\n    busy: 0.8\n    busy: 0.9\n'),
    problems: ['limits.yaml:6:5: `NewOrdersPerAccount.load.busy` is given twice, first at 5:5. Keep one.'],
  },
  ...[
    { field: 'burst: 10', other: 'a rate' },
    { field: 'count: 10', other: 'a rate' },
    { field: 'period: 1s', other: 'a rate' },
    { field: 'expiry: 10s', other: 'a concurrency limit' },
  ].map(({ field, other }) => {
    const [name] = field.split(':') as [string];
    return {
      name: `a load beside ${field}`,
      limits: limitsWith(`  load: eventLoop\n  ${field}\n`),
      problems: [
        `limits.yaml:5:${5 + name.length}: \`NewOrdersPerAccount.${name}\` must be left out beside \`load\`: a limit is a load limit or ${other}. For both define two limits, and use them in one batch.`,
      ],
    };
  }),
  {
    name: 'a load beside a concurrency, both wrong',
    limits: limitsWith('  load: cpu\n  concurrency: 0x1\n'),
    problems: [
      'limits.yaml:4:9: `NewOrdersPerAccount.load` must be left out beside `concurrency`: a limit is a concurrency limit or a load limit. For both define two limits, and use them in one batch.',
      `${PLACE} ${WRONG_LOAD}, but was 'cpu'. ${WRITE_LOAD}`,
      "limits.yaml:5:16: `NewOrdersPerAccount.concurrency` must be written in plain decimal digits, but was '0x1'. For example 1.",
    ],
  },
  {
    name: 'a load limit that is hidden',
    limits: limitsWith('  load: eventLoop\n  hidden: true\n'),
    problems: [
      'limits.yaml:5:11: `NewOrdersPerAccount.hidden` must be left out beside `load`: header fields never mention a load limit.',
    ],
  },
  {
    name: 'a load limit without a key in code, whose ids have another format than clientNetwork',
    limits: `${OTHERS}NewOrdersPerAccount: { count: 1, period: 1s }\nWorker: { load: eventLoop, idFormat: accountId }\n`,
    schemaAccepts: 'it does not know the code',
    problems: [
      "limits.yaml:4:38: `Worker.idFormat` must be clientNetwork, the format of a load limit without a key in code, but was 'accountId'. Change it, or give the limit a key.",
    ],
  },
  {
    name: 'an override of a load limit by an id that is not a client network',
    limits: `${OTHERS}NewOrdersPerAccount: { count: 1, period: 1s }\nWorker: { load: eventLoop }\n`,
    overrides: '- Worker: { unlimited: true, ids: [ann] }\n',
    schemaAccepts: 'it does not know the other file',
    problems: [
      "overrides.yaml:1:36: `overrides.Worker` lists the id 'ann': `id` must be an IPv4 address, or an IPv6 network with the mask /48, but was 'ann'. Write an IPv4 address such as '203.0.113.7', or an IPv6 network such as '2001:db8:7::/48'.",
    ],
  },
  ...['count: 1, period: 1s', 'count: 1', 'concurrency: 1'].map((numbers) => ({
    name: `an override of a load limit with ${numbers}`,
    limits: LOAD,
    overrides: overrideWith(numbers),
    schemaAccepts: 'it does not know the other file',
    problems: [
      'overrides.yaml:1:3: `NewOrdersPerAccount` must have no numbers, because the limit is a load limit. Its overrides are `unlimited` or `blocked`.',
    ],
  })),
  {
    name: 'a load in an override',
    limits: LOAD,
    overrides: overrideWith('unlimited: true, load: { busy: 0.9 }'),
    problems: [
      'overrides.yaml:1:53: `NewOrdersPerAccount` has no option `load` (its value was a mapping). `load` belongs to the limit: its overrides are `unlimited` or `blocked`. Options: burst, count, period, maxDebt, maxWait, borrow, concurrency, unlimited, blocked, until, ids.',
    ],
  },
  {
    name: 'a load limit as a pool',
    limits: `${OTHERS}Pool: { load: eventLoop }\nNewOrdersPerAccount:\n  count: 1\n  period: 1s\n  borrow: { from: Pool, ceiling: { count: 2, period: 1s } }\n`,
    schemaAccepts: 'it knows no other limits',
    problems: [
      "limits.yaml:7:19: `NewOrdersPerAccount.borrow.from` must be a limit with the key everyone(), but was 'Pool'. A pool is one bucket for all clients: give it the key everyone(), in files idFormat: everyone.",
    ],
  },
];
