import { by } from '@sluice/core';
import { describe, expect, it } from 'vitest';
import { PROBLEM_CASES } from './problems/problem-cases.ts';
import { LIMITS, problemsOf } from './written-files.ts';

describe('a mistake is reported with file, line and column, limit, value, demand and remedy:', () => {
  it.each(PROBLEM_CASES)('$name', async ({ limits, overrides, problems }) => {
    const files = { ...(limits !== undefined && { limits }), ...(overrides !== undefined && { overrides }) };
    expect(await problemsOf(files)).toEqual(problems);
  });
});

it('all problems of both files are reported together, in the order of files and lines', async () => {
  const limits = LIMITS.replace('burst: 20', 'burst: 0').replace('180m', '180x').replace('NewReg', 'newReg');
  const overrides =
    '- NewOrders: { count: 0, period: 1s, ids: [] }\n- NewOrdersPerAccount: { unlimited: true, ids: [~] }\n';
  const places = (await problemsOf({ limits, overrides })).map((line) => /^[\w.]+:\d+:\d+: /.exec(line)?.[0]);
  expect(places).toEqual([
    'limits.yaml:1:1: ',
    'limits.yaml:2:1: ',
    'limits.yaml:2:40: ',
    'limits.yaml:4:56: ',
    'overrides.yaml:1:3: ',
    'overrides.yaml:1:23: ',
    'overrides.yaml:1:43: ',
    'overrides.yaml:2:49: ',
  ]);
});

it('while one file can’t be read, the other is checked as far as possible', async () => {
  const overrides =
    '- NewOrders: { count: 0, period: 1s, ids: [1] }\n- NewOrdersPerAccount: { unlimited: true, ids: ["a\\tb"] }\n';
  expect(await problemsOf({ limits: 'NewOrdersPerAccount: [', overrides })).toEqual([
    expect.stringMatching(/^limits.yaml:1:23: Flow sequence in block collection must be/),
    expect.stringMatching(/^overrides.yaml:1:23: `NewOrders.count` must be/),
    expect.stringMatching(/^overrides.yaml:2:49: `overrides.NewOrdersPerAccount` lists the id/),
  ]);
});

describe('a problem is one line, even if the name is hostile:', () => {
  it.each([
    ['a field', { limits: LIMITS.replace('burst: 20', '"x\\nlimits.yaml:1:1: forged": 5') }],
    ['a format', { limits: LIMITS.replace('burst: 20', 'idFormat: "x\\nlimits.yaml:1:1: forged"') }],
    ['an alias', { limits: LIMITS.replace('20, period', `*${'x'.repeat(100_000)}, period`) }],
    ['a tag', { limits: LIMITS.replace('20, period', `!${'x'.repeat(100_000)} 20, period`) }],
    ['a line separator', { limits: LIMITS.replace('burst: 20', '"x\\u2028y": 5') }],
  ])('%s', async (_, files) => {
    const lines = await problemsOf(files);
    expect(lines.length).toBeLessThan(3);
    for (const line of lines) {
      expect(line).toMatch(/^limits\.yaml:[24]:\d+: /);
      expect(line).not.toMatch(/\n|\u2028/);
      expect(line.length).toBeLessThan(400);
    }
  });

  it('an error of a custom format', async () => {
    const canonical = (): string => {
      throw new Error('no\nid');
    };
    const limits = 'A: { count: 1, period: 1s }';
    const overrides = '- A: { unlimited: true, ids: [1] }';
    expect(
      await problemsOf({ limits, overrides }, { A: by(undefined, { format: { name: 'own', canonical } }) }),
    ).toEqual(["overrides.yaml:1:31: `overrides.A` lists the id '1': no id"]);
  });
});

it('an error shows fifty problems and the number of the others', async () => {
  const ids = Array.from({ length: 2000 }, () => '- ""').join('\n');
  const lines = await problemsOf({
    overrides: `- NewOrdersPerAccount:\n    unlimited: true\n    ids:\n${ids.replace(/^/gm, '    ')}`,
  });
  expect(lines).toHaveLength(51);
  expect(lines.at(-1)).toBe('… and 1950 more.');
});

it('after 10,000 problems the rest of a file is not read', async () => {
  const same = `- NewOrdersPerAccount: { unlimited: true, ids: [${'1,'.repeat(60_000)}1] }\n`;
  expect((await problemsOf({ overrides: same })).at(-1)).toMatch(/^… and (99|10\d)\d\d more\.$/);
  const wrong = `- NewOrdersPerAccount: { unlimited: true, ids: [${'{},'.repeat(30_000)}1] }\n`;
  expect((await problemsOf({ overrides: wrong })).at(-1)).toMatch(/^… and (99|10\d)\d\d more\.$/);
});
