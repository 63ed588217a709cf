import { describe, expect, it } from 'vitest';
import { Problems } from '../src/nodes/problems.ts';
import { readYaml } from '../src/text/yaml-text.ts';
import { list, override, parsed } from './parsed-text.ts';
import { sized } from '../../../test/sized.ts';

const LONG = sized(2000, 5000);
const MANY = sized(1000, 3000);

describe('long texts are composed while they are parsed:', () => {
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
    const { messages, problems } = parsed(text);
    expect(problems).toEqual([]);
    const rows = messages.flatMap((message) => ('rows' in message ? message.rows : []));
    expect(rows.map((row) => 'override' in row && (row.override as { count: number }).count)).toEqual(
      Array.from({ length: MANY }, (_, i) => i + 1),
    );
    expect(new Set(rows.map((row) => 'entry' in row && row.entry)).size).toBe(MANY);
  });

  it('so what is ready is given before the text has ended, a few hundred ids at a time', () => {
    const one = '- A: { unlimited: true, ids: [1] }\n';
    const reading = readYaml(one.repeat(3000), new Problems());
    const early: number[] = [];
    for (const { items } of reading) early.push(items.length);
    expect(early.reduce((sum, count) => sum + count)).toBeGreaterThan(2500);
    expect(Math.max(...early)).toBeLessThan(700);
    const rows = parsed(override(list(LONG))).messages.flatMap((message) => ('rows' in message ? message.rows : []));
    expect(Math.max(...rows.map((row) => ('ids' in row ? row.ids.length : 0)))).toBe(256);
  });

  it('a mistake in the middle of a long list is found at its place', () => {
    const text = override(list(3000)).replace('      - 1500\n', '      - 1500\n     - x\n');
    expect(parsed(text).problems[0]).toMatch(/^1505:1 A block sequence may not/);
    const wrong = override(list(3000)).replace('- 1500\n', '- "\\q"\n');
    expect(parsed(wrong).problems).toEqual(['1504:10 Invalid escape sequence \\q. Put the value in single quotes.']);
  });

  it('comments and empty lines between ids change nothing', () => {
    const text = override(list(3000)).replace(/- (\d*00)\n/g, '- $1 # hundred\n\n      # next\n');
    expect(parsed(text).ids).toHaveLength(3000);
  });

  it('a long list where a mapping is due is one problem', () => {
    expect(parsed(list(3000).replace(/^ +/gm, ''), 'defaults').problems).toEqual([
      expect.stringMatching(/^1:1 The limits file must be a mapping of limits by name, but was a list\./),
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

  it.each([...idle, '\t# c\n', ' \n'])(
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
      expect.stringMatching(/^3:9 `A\.ids` must be a list of ids, but was empty/),
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

describe('long lists in brackets, as JSON has them, are composed while they are parsed:', () => {
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

  it('so what is ready is given before the text has ended', () => {
    const reading = readYaml(JSON.stringify(ids('"x"')), new Problems());
    const early: number[] = [];
    let step = reading.next();
    for (; step.done !== true; step = reading.next()) early.push(step.value.items.length);
    expect(Math.max(...early)).toBeLessThan(1100);
    const rest = [...(step.value as { items: Iterable<unknown> }).items].length;
    expect(rest).toBeLessThan(1100);
    expect(early.reduce((sum, count) => sum + count) + rest).toBe(3000);
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
