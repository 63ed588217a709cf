import { LIMITS } from '../written-files.ts';
import { limitsWith, overrideOf, type ProblemCase } from './problem-case.ts';

/** Texts that are not valid, or use parts of YAML that are not supported. */
export const TEXT_PROBLEMS: readonly ProblemCase[] = [
  {
    name: 'tabs as indentation',
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
    schemaAccepts: 'it does not see directives',
    problems: ['limits.yaml:1:1: Directives such as %YAML are not supported. Remove the line.'],
  },
  {
    name: 'a tag',
    overrides: overrideOf('      - !!str 123\n'),
    schemaAccepts: 'it does not see tags',
    problems: ['overrides.yaml:5:15: Tags such as !!str are not supported. Remove it; to make a value text, quote it.'],
  },
  {
    name: 'a tag that runs code elsewhere',
    overrides: overrideOf('      - !!js/function "x"\n'),
    schemaAccepts: 'it does not see tags',
    problems: [
      'overrides.yaml:5:23: Tags such as !!js/function are not supported. Remove it; to make a value text, quote it.',
    ],
  },
  {
    name: 'a tag of a collection',
    overrides: '!!set\n' + overrideOf('      - 1\n'),
    schemaAccepts: 'it does not see tags',
    problems: ['overrides.yaml:2:1: Tags such as !!set are not supported. Remove it; to make a value text, quote it.'],
  },
  {
    name: 'a binary tag',
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
      'limits.yaml:4:3: `NewOrdersPerAccount` has no option `<<` (its value was a mapping). Merge keys (`<<`) are not supported. Write the fields out. All 20 options are in docs/limits/options.md.',
    ],
  },
  {
    name: 'an alias without an anchor',
    limits: limitsWith('  count: *nothing\n  period: 1s\n'),
    problems: ['limits.yaml:4:10: The alias *nothing must name an anchor before it, but there is no &nothing.'],
  },
  {
    name: 'broken quotes',
    limits: limitsWith('  count: 1\n  period: "1s\n'),
    problems: [
      'limits.yaml:6:1: Missing closing "quote. Close each quote and each bracket, and write a comma between items in brackets.',
    ],
  },
  {
    name: 'one colon too many',
    limits: limitsWith('  count: 1: 2\n  period: 1s\n'),
    problems: [
      'limits.yaml:4:10: Nested mappings are not allowed in compact mappings. Write each field on its own line, all indented equally, or in braces: { count: 300, period: 180m }.',
    ],
  },
  {
    name: 'bytes that are not UTF-8',
    limits: Buffer.concat([
      Buffer.from(limitsWith('  count: 1\n  period: 1')),
      Buffer.from([0xff]),
      Buffer.from('s\n'),
    ]),
    problems: ['limits.yaml:5:12: The text is not valid UTF-8 here. Save the file as UTF-8.'],
  },
];
