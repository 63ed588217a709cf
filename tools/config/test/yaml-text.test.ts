import { describe, expect, it } from 'vitest';
import { list, override, parsed } from './parsed-text.ts';
import { sized } from '../../../test/sized.ts';

const LONG = sized(2000, 5000);
const MANY = sized(1000, 3000);

describe('in a long text', () => {
  it('every id of a long list is there, in its order and at its place', () => {
    const { ids, problems } = parsed(override(list(LONG)));
    expect(problems).toEqual([]);
    expect(ids).toEqual(Array.from({ length: LONG }, (_, i) => `${i} ${i + 4}:9`));
  });

  it('each of many overrides is read with its own numbers', () => {
    const text = Array.from(
      { length: MANY },
      (_, i) => `- A:\n    count: ${i + 1}\n    period: 1s\n    ids: [${i}]\n`,
    ).join('');
    const { rows, problems } = parsed(text);
    expect(problems).toEqual([]);
    expect(rows.map((row) => (row.override as { count: number }).count)).toEqual(
      Array.from({ length: MANY }, (_, i) => i + 1),
    );
    expect(new Set(rows.map(({ entry }) => entry)).size).toBe(MANY);
  });

  it('the event loop may run often, and ids are validated a few hundred at a time', () => {
    const { rows, turns } = parsed(override(list(LONG)));
    expect(turns).toBeGreaterThan(LONG / 100);
    expect(Math.max(...rows.map(({ ids }) => ids.length))).toBe(256);
  });

  it('a mistake in the middle of a long list is found at its place', () => {
    const text = override(list(3000)).replace('      - 1500\n', '      - 1500\n     - x\n');
    expect(parsed(text).problems[0]).toMatch(/^1505:1 A block sequence may not/);
    const wrong = override(list(3000)).replace('- 1500\n', '- "\\q"\n');
    expect(parsed(wrong).problems).toEqual(['1504:10 Invalid escape sequence \\q. Put the value in single quotes.']);
  });
});

describe('a text of more than 256 KiB', () => {
  const ids = Array.from({ length: 40_000 }, (_, i) => String(i));
  const remedy = 'Put the ids into a file with one id a line, for example ids: ids.txt.';

  it('may be JSON, whose ids have their paths', () => {
    const found = parsed(JSON.stringify([{ A: { unlimited: true, ids } }]));
    expect(found.problems).toEqual([]);
    expect(found.ids).toEqual(ids.map((id) => `${id} [0].A.ids[${id}]`));
  });

  it('is otherwise rejected where it stops being JSON, with a remedy', () => {
    const what = 'A text of more than 262144 bytes must be JSON, and this is not: ';
    const [yaml = ''] = parsed(override(list(40_000))).problems;
    expect(yaml.startsWith(`1:2 ${what}`)).toBe(true);
    expect(yaml.endsWith(`. ${remedy}`)).toBe(true);
    const cut = JSON.stringify([{ A: { unlimited: true, ids } }], null, 1).replace('"20000",', '"20000"');
    expect(parsed(cut).problems).toEqual([expect.stringContaining(`20007:5 ${what}Expected`)]);
  });

  it('is at most 2 MiB', () => {
    expect(parsed(JSON.stringify(['x'.repeat(2_097_152)])).problems).toEqual([
      `1:1 The text must be at most 2097152 bytes, but has 2097156. ${remedy}`,
    ]);
  });
});

describe('empty lines change neither positions nor values:', () => {
  const idle = ['\n', '\n\n  \n', '# c\n', '   # c\n\n#c\n\n', '\r\n\t\r\n', '#\r\n'];

  it.each(idle)('%j between any two lines', (lines) => {
    const written = [
      '- A:',
      '    unlimited: true',
      '    ids:',
      '      - 1',
      '      - { id: 2,',
      '       comment: x }',
      '      - [x',
      '       ]',
    ];
    const found = parsed(`${lines}${written.map((line) => `${line}\n${lines}`).join('')}`);
    const line = (n: number): number => n + (lines.split('\n').length - 1) * n;
    expect(found.ids).toEqual([`1 ${line(4)}:9`, `2 ${line(5)}:15`]);
    expect(found.problems).toEqual([expect.stringContaining(`${line(7)}:9 \`A.ids[]\` must be text or a number`)]);
  });

  // The library demands a space before such a comment.
  it.each([...idle.filter((lines) => !lines.startsWith('#')), '\t# c\n', ' \n'])(
    '%j before a comma or a closing brace or bracket, in YAML and in JSON',
    (lines) => {
      const yaml = `- A: {\n    unlimited: true\n${lines}    ,\n    ids: [\n    1\n${lines}    ]\n${lines}    }\n`;
      const json = `[{"A":{"unlimited":true\n${lines},"ids":[{"id":1\n${lines}}\n${lines}]\n${lines}}\n${lines}}]`;
      const more = lines.split('\n').length - 1;
      expect(parsed(yaml)).toMatchObject({ problems: [], ids: [`1 ${5 + more}:5`] });
      expect(parsed(json)).toMatchObject({ problems: [], ids: [`1 ${2 + more}:15`] });
    },
  );

  it.each([...idle, '#', '   # c', '\n\n  '])('%j at the end, where a value is missing', (lines) => {
    expect(parsed(`- A:\n    unlimited: true\n    ids:\n${lines}`).problems).toEqual([
      expect.stringMatching(
        /^3:9 `A\.ids` must be a list of ids, or the path of a file with one id a line, but was empty/,
      ),
    ]);
  });

  it.each([
    ['a block', '- |\n        x\n\n        # y\n', 'x\n\n# y\n'],
    ['a block with a comment behind its sign', '- > # c\n\n        x\n\n\n        y\n', '\nx\n\ny\n'],
    ['quotes', '- "x\n\n\n        # y"\n', 'x\n\n# y'],
    ['a word of several lines', '- x\n\n\n        y\n', 'x\n\ny'],
  ])('in %s they are text', (_, item, id) => {
    expect(parsed(override(`      ${item}      - z\n`)).ids.map((text) => text.replace(/ \d+:\d+$/, ''))).toEqual([
      id,
      'z',
    ]);
  });
});

describe('in long lists in brackets, as JSON has them:', () => {
  const inBrackets = (ids: readonly string[]): string => `[{"A":{"unlimited":true,"ids":[${ids.join(',\n')}]}}]`;
  const ids = (middle: string): string[] =>
    Array.from({ length: 3000 }, (_, i) => (i === 1500 ? middle : `{"id":"${i}","comment":"[x, y]"}`));

  it('every id is there, in its order and at its place', () => {
    const found = parsed(inBrackets(ids('1500')));
    expect(found.problems).toEqual([]);
    expect(found.ids).toEqual(
      Array.from({ length: 3000 }, (_, i) => `${i} ${i + 1}:${(i === 0 ? 32 : 1) + (i === 1500 ? 0 : 6)}`),
    );
  });

  it.each([
    ['comments and empty lines', '# before\n\n"x" # after\n', [], 'x 1503:1'],
    ['an alias', '&i "x", *i', [], 'x 1501:4'],
    [
      'an explicit key',
      '? "x"',
      [expect.stringMatching(/^1501:3 `A.ids\[\]` has no option `x`/), expect.anything()],
      undefined,
    ],
    ['a pair', 'id: x', [], 'x 1501:5'],
    [
      'a list',
      '["x"] # y\n',
      [expect.stringMatching(/^1501:1 .*must be text or a number, but was a list\./)],
      undefined,
    ],
    ['a comma too many', '"x",', ['1501:5 Unexpected , in flow sequence.'], undefined],
    [
      'a comma too few',
      '"x" "y"',
      [
        '1501:5 Missing , or : between flow sequence items. Close each quote and each bracket, and write a comma between items in brackets.',
      ],
      undefined,
    ],
    ['a wrong escape', '"\\q"', ['1501:2 Invalid escape sequence \\q. Put the value in single quotes.'], undefined],
  ])('in the middle of it there may be %s', (_, middle, problems, id) => {
    const found = parsed(inBrackets(ids(middle)));
    expect(found.problems).toEqual(problems);
    expect(found.ids.find((text) => text.startsWith('x '))).toBe(id);
  });

  it('a comma that is missing is found between any two', () => {
    const text = `[${'"x",'.repeat(5000)}"y"]`;
    for (const comma of [3000, 3001, 3002].slice(0, sized(1, 3)).map((i) => 4 * i)) {
      const found = parsed(`${text.slice(0, comma)}"y"${text.slice(comma + 1)}`);
      expect(found.problems.length).toBeGreaterThan(0);
      expect(found.problems[0]).toMatch(/^1:\d+ Missing ,/);
    }
  });

  it.each([
    ['commas', ',', '1:3 Unexpected , in flow sequence.'],
    ['colons', ':,', '1:2 `name of a limit` must be'],
    ['question marks', '? ,', '1:4 `name of a limit` must be'],
    ['anchors', '&a ,', '1:5 `override` must be a mapping'],
  ])('a text of only %s is rejected at the first', (_, text, problem) => {
    expect(parsed(`[${text.repeat(5000)}]`).problems[0]).toContain(problem);
  });
});
