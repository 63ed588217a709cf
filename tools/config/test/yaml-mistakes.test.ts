import { describe, expect, it } from 'vitest';
import { Problems } from '../src/nodes/problems.ts';
import { list, override, parsed } from './parsed-text.ts';

describe('aliases', () => {
  const shared = (count: number): string =>
    `- A: { unlimited: true, ids: &ids [${Array.from({ length: count }, (_, i) => i).join()}] }\n`;

  it('have the value of their anchor: the last one with the name before them', () => {
    const text =
      '- A: &a { unlimited: true, ids: &i [1] }\n- B: { unlimited: true, ids: *i }\n- C: { unlimited: true, ids: &i [2] }\n- D: { unlimited: true, ids: *i }\n- E: *a\n';
    expect(parsed(text).ids).toEqual(['1 1:37', '1 1:37', '2 3:34', '2 3:34', '1 1:37']);
  });

  it('may be a key', () => {
    expect(parsed('- &a A: { unlimited: true, ids: [1] }\n- *a : { unlimited: true, ids: [2] }\n').ids).toHaveLength(2);
  });

  it('work across long lists', () => {
    const text = `${shared(1)}${override(list(2000))}      - *one\n`
      .replace('[0]', '[&one 0]')
      .replace('- 1500\n', '- *one\n');
    const { ids, problems } = parsed(text);
    expect(problems).toEqual([]);
    expect(ids.filter((id) => id === '0 1:41')).toHaveLength(3);
  });

  it('are rejected within their own value', () => {
    expect(parsed('- A: { unlimited: true, ids: &i [*i] }\n').problems).toEqual([
      '1:34 The alias *i must name an anchor before it, but there is no &i.',
    ]);
  });

  it('are at most a hundred', () => {
    const repeat = (count: number): string => shared(1) + '- A: { unlimited: true, ids: *ids }\n'.repeat(count);
    expect(parsed(repeat(100)).problems).toEqual([]);
    expect(parsed(repeat(101)).problems).toEqual(['102:30 A file may have at most 100 aliases. Write the values out.']);
  });

  it('repeat at most 10,000 values, however they are nested', () => {
    const repeat = (size: number, count: number): string =>
      shared(size) + '- A: { unlimited: true, ids: *ids }\n'.repeat(count);
    expect(parsed(repeat(999, 10)).problems).toEqual([]);
    expect(parsed(repeat(1000, 10)).problems).toEqual([
      '11:30 Aliases may repeat at most 10000 values, and with *ids they repeat more. Write the values out.',
    ]);
    const bomb = Array.from({ length: 9 }, (_, i) => `  - &a${i + 1} [${Array(9).fill(`*a${i}`).join(', ')}]\n`);
    const { problems } = parsed(`- A: { ids: &a0 [x] }\n- B:\n${bomb.join('')}`);
    expect(problems[0]).toMatch(/^6:\d+ Aliases may repeat at most 10000 values/);
    expect(problems.length).toBeLessThan(100);
  });
});

describe('a mistake that people make is reported with what to write:', () => {
  it.each([
    ['fields that are indented less than the first', 'A:\n   count: 3\n  period: 1m\n', '3:1 ', 'equally'],
    [
      'fields that are indented more than the first',
      'A:\n  count: 3\n   period: 1m\n',
      '2:10 ',
      'all indented equally',
    ],
    ['no colon', 'A:\n  count 3\n  period: 1m\n', '2:3 ', 'a colon and a space'],
    ['no space after a colon', 'A:\n  count:3\n  period: 1m\n', '2:3 ', 'a colon and a space'],
    ['a field beside the name of its limit', 'A: count: 3\n', '1:4 ', 'on its own line'],
    ['no closing brace', 'A: { count: 3, period: 1m\n', '2:1 ', 'close each bracket'],
    ['no comma', 'A: { count: 3 period: 1m }\n', '1:13 ', 'a comma'],
    ['no closing quote', 'A:\n  period: "1m\n', '3:1 ', 'Close each quote'],
    ['a character that begins no value', 'A:\n  period: @1m\n', '2:11 ', 'in quotes'],
    ['an escape that does not exist', 'A:\n  period: "1\\m"\n', '2:13 ', 'in single quotes'],
    ['tabs', 'A:\n\tcount: 3\n', '2:1 ', 'with spaces'],
  ])('%s', (_, text, at, remedy) => {
    const [problem] = parsed(text, 'defaults').problems;
    expect(problem).toMatch(new RegExp(`^${at}.*${remedy}`));
  });
});

describe('hostile texts', () => {
  it.each([
    ['flow', '['.repeat(100_000)],
    ['blocks', '- '.repeat(100_000)],
    ['mappings', '{a: '.repeat(60_000)],
  ])('that are nested deeply are rejected early: %s', (_, text) => {
    expect(parsed(text).problems).toEqual([
      expect.stringMatching(/^1:\d+ Values are nested too deeply: at most 32 levels are allowed\.$/),
    ]);
  });

  it('of long limits are read to their end', () => {
    const limits = Array.from({ length: 3000 }, (_, i) => `L${i}: { count: 1, period: 1s }\n`).join('');
    expect(parsed(`${limits}Bad: { count: 0, period: 1s }\n`, 'defaults').problems).toEqual([
      expect.stringMatching(/^3001:15 `Bad.count`/),
    ]);
  });

  it('of one list of ids are not read on after 10,000 problems', () => {
    expect(parsed(`- Orders: { unlimited: true, ids: [${'{},'.repeat(30_000)}1] }\n`).count).toBeLessThan(11_000);
  });

  it.each([
    [
      'a value that is too long',
      'a'.repeat(65_537),
      '1:1 This value is too long: at most 65536 characters are allowed.',
    ],
    ['a quoted one', `"${'a'.repeat(65_536)}"`, 'This value is too long'],
    ['a mapping with too many entries', 'a: 1\n'.repeat(10_001), 'This mapping has too many entries: at most 10000'],
    ['one in braces', `{${'a: 1,'.repeat(10_001)}}`, 'This mapping has too many entries: at most 10000 are allowed.'],
    ['many anchors', '&a '.repeat(101), 'This value has many anchors or tags. Keep at most one anchor.'],
    ['many tags', '! '.repeat(101), 'This value has many anchors or tags.'],
    [
      'many values in a line',
      '""'.repeat(103),
      'This line has several values. Use brackets for a list, such as [1, 2].',
    ],
    ['many documents', '---\na\n'.repeat(300), 'The file must contain one document. Remove the line `---`.'],
    ['many brackets that close', ']'.repeat(300), '1:1 Unexpected flow-seq-end token in YAML document: "]".'],
    ['many ends of documents', '...\n'.repeat(300), 'The file must contain one document.'],
  ])('with %s are rejected early', (_, text, problem) => {
    const { problems } = parsed(text, 'defaults');
    expect(problems[0]).toContain(problem);
    expect(problems.length).toBeLessThan(110);
  });

  it('of only a bracket are reported as such', () => {
    expect(parsed(']\n').problems).toEqual(['1:1 Unexpected flow-seq-end token in YAML document: "]".']);
  });

  it('with a huge value are rejected with a short message', () => {
    const [problem = ''] = parsed(`- A: { unlimited: true, ids: [1], count: ${'9'.repeat(100_000)} }\n`).problems;
    expect(problem.length).toBeLessThan(400);
    const [name = ''] = parsed(`- ${'A'.repeat(1000)}: {}\n`).problems;
    expect(name.length).toBeLessThan(400);
  });

  it('with names that objects have already mean nothing by them', () => {
    expect(parsed('- A: { __proto__: 1, constructor: 2, unlimited: true, ids: [1] }\n').problems).toEqual([
      expect.stringMatching(/^1:8 `A` has no option `__proto__`/),
      expect.stringMatching(/^1:22 `A` has no option `constructor`/),
    ]);
  });

  it('keep no more than a thousand problems, and count all', () => {
    const { problems, count } = parsed(override('      - ""\n'.repeat(3000)));
    expect([problems.length, count]).toEqual([1000, 3000]);
    expect(parsed('\ta: 1\n'.repeat(3000)).problems.length).toBeLessThanOrEqual(1000);
  });
});

describe('texts that are not what they should be:', () => {
  it.each([
    ['only a directive', '%YAML 1.2\n', ['1:1 Directives such as %YAML are not supported. Remove the line.']],
    ['only an end', '...\n', [expect.stringMatching(/^1:1 The overrides file is empty\./)]],
    [
      'a key without a value in a flow mapping',
      '- A: { ids }\n',
      [
        expect.stringMatching(/^1:6 `A.count` must be/),
        expect.anything(),
        '1:8 `A.ids` must be a list of ids, or the path of a file with one id a line, but was empty. For example [12345678], or ids.txt.',
      ],
    ],
    ['UTF-16', 'a\0', [expect.anything()]],
  ])('%s', (_, text, problems) => {
    expect(parsed(text).problems).toEqual(problems);
  });

  it('the first byte that is not UTF-8 is found', () => {
    const bytes = Uint8Array.from([0xef, 0xbb, 0xbf, 0x61, 0x0a, 0xc3, 0xa4, 0xff]);
    expect(parsed(bytes, 'defaults').problems).toEqual([expect.stringMatching(/^2:2 The text is not valid UTF-8/)]);
  });
});

it('nothing else is reported for a file that can’t be read', () => {
  const problems = new Problems();
  problems.add('a', 'wrong');
  problems.addUnreadable('b', 'unreadable');
  problems.add('c', 'wrong');
  expect(problems.list.map(({ message }) => message)).toEqual(['unreadable']);
});
