import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { table } from '../src/commands/table.ts';
import { EXIT_CODES } from '../src/console/exit-code.ts';
import { wrapped } from '../src/console/wrap.ts';
import { written } from './files.ts';
import { run, runJson } from './run.ts';
import { combinedLine, logOf, NOON } from './replay/logs.ts';

const LIMITS = 'Orders: { count: 300, period: 3h, idFormat: accountId }\n';
const OVERRIDES = '- Orders: { count: 600, period: 3h, ids: [12345678] }\n';
const REDIS = ['--redis', 'redis://127.0.0.1:1', '--timeout', '100'];

describe('every command', () => {
  it.each([
    ['check', ['missing.yaml']],
    ['check', ['LIMITS', 'missing.yaml']],
    ['check', ['LIMITS', '--tables', 'missing.yaml']],
    ['check', [tmpdir()]],
    ['explain', ['missing.yaml']],
    ['explain', ['LIMITS', 'missing.yaml', 'Orders']],
    ['peek', ['missing.yaml', 'Orders', '1', ...REDIS]],
    ['reset', ['missing.yaml', 'Orders', '1', '--yes', ...REDIS]],
    ['charge', ['missing.yaml', 'Orders', '1', ...REDIS]],
    ['refund', ['LIMITS', 'missing.yaml', 'Orders', '1', ...REDIS]],
    ['top', ['missing.yaml', ...REDIS]],
    ['replay', ['missing.log', '--limits', 'LIMITS']],
    ['replay', ['-', '--limits', 'missing.yaml']],
    ['replay', ['-', '--limits', 'LIMITS', '--overrides', 'missing.yaml']],
    ['suggest', ['missing.log']],
    ['serve', ['missing.yaml', 'LIMITS', '--http', '127.0.0.1:0']],
    ['serve', ['LIMITS', 'missing.yaml', '--print-fields']],
    ['import', ['envoy', 'missing.yaml', '--as', 'window']],
    ['simulate', ['missing.yaml']],
  ])('exits with 2 for a file that can not be read: %s %j', async (command, words) => {
    const [path = ''] = written(LIMITS);
    const { code, out, err } = await run([command, ...words.map((word) => (word === 'LIMITS' ? path : word))]);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(/^error: The (?:file|log) \S+ can't be read: (?:it does not exist\. Check|it is a folder)/);
  });

  it.each([...table.keys(), 'help'])('%s has no empty list as a default in its help', async (name) => {
    expect((await run([name, '--help'])).out).not.toContain('default: [');
  });

  it('calls stdin standard input', async () => {
    const bad = 'Orders: { count: 0, period: 3h }\n';
    expect((await run(['check', '-'], { stdin: bad })).out).toMatch(/^standard input:1:/);
    expect((await run(['explain', '-'], { stdin: bad })).err).toContain('\nstandard input:1:');
    const [path = ''] = written(LIMITS);
    expect((await run(['check', path, '-'], { stdin: '- Ordrs: {}\n' })).out).toMatch(/^standard input:1:/);
    expect((await run(['replay', '-', '--limits', path], { stdin: 'no log\n' })).err).toMatch(
      /^error: standard input has no known format/,
    );
    expect((await run(['simulate', '-'], { stdin: 'a: 1\n' })).err).toContain('standard input:1:');
    expect(await runJson(['check', '-'], { stdin: bad })).toMatchObject({ problems: [{ file: 'standard input' }] });
  });

  it.each([['-V'], ['--version'], ['-v']])('knows %s', async (flag) => {
    expect(await run([flag])).toEqual(await run(['--version']));
    expect((await run([flag])).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe('the words of explain are those of peek', () => {
  const [paths, [id, other]] = [(): string[] => written(LIMITS, OVERRIDES), ['12345678', '7']];

  it.each([
    [['LIMITS', 'Orders', other], null],
    [['LIMITS', 'OVERRIDES', 'Orders', id], id],
    [['LIMITS', 'OVERRIDES', 'Orders', other], null],
    [['LIMITS', '--limit', 'Orders', other], null],
    [['LIMITS', 'OVERRIDES', '--limit', 'Orders', id], id],
  ])('%j', async (words, override) => {
    const [limits = '', overrides = ''] = paths();
    const named = words.map((word) => (word === 'LIMITS' ? limits : word === 'OVERRIDES' ? overrides : word));
    expect(await runJson(['explain', ...named])).toMatchObject({ limit: 'Orders', id: words.at(-1), override });
    // It gets as far as the server, which is not there.
    const { code, err } = await run(['peek', ...named, ...REDIS]);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('ERR_STORE_UNAVAILABLE') as string });
  });

  it('and explain explains the limit without an id, and all limits without a name', async () => {
    const [limits = '', overrides = ''] = paths();
    for (const files of [[limits], [limits, overrides]]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(await runJson(['explain', ...files, 'Orders'])).toMatchObject({ limit: 'Orders', id: null });
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(await runJson(['explain', ...files])).toMatchObject({ limits: [{ limit: 'Orders' }] });
    }
  });

  it.each([
    [['OVERRIDES', 'Orders'], 'After the files there must be an id.'],
    [['Orders'], 'After the files there must be an id.'],
    [['Orders'], "as the file of limits, 'Orders' as the limit."],
    [['OVERRIDES', 'Orders'], "' as that of overrides, 'Orders' as the limit."],
    [['OVERRIDES'], 'After the files there must be the name of a limit and an id.'],
    [['OVERRIDES', 'Orders', '1', '2'], 'There must be at most 4 words here, but there are 5: a file of limits,'],
    [['OVERRIDES', '--limit', 'Orders', '1', '2'], 'There must be at most 3 words here, but there are 4:'],
  ])('and peek rejects %j', async (words, message) => {
    const [limits = '', overrides = ''] = paths();
    const named = words.map((word) => (word === 'OVERRIDES' ? overrides : word));
    const { code, err } = await run(['peek', limits, ...named, ...REDIS]);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(message) as string });
  });
});

describe('exit codes', () => {
  it('are one table, in the help and in the docs', async () => {
    const page = readFileSync(new URL('../../../docs/command-line.md', import.meta.url), 'utf8');
    const rows = [...page.matchAll(/^\| (\d+) +\| (.*?) +\|$/gm)].map(([, code, meaning]) => ({
      code: Number(code),
      meaning: meaning!.replaceAll('`', '').replaceAll('\\|', '|'),
    }));
    expect(rows).toEqual(EXIT_CODES);
    const { out } = await run(['--help']);
    const [, shown = ''] = out.split('\nExit codes:\n');
    expect(shown.trimEnd().split('\n')).toEqual(
      EXIT_CODES.map(({ code, meaning }) => `  ${String(code).padEnd(5)}${meaning}`),
    );
  });
});

describe('text for people', () => {
  const log = logOf(
    combinedLine,
    Array.from({ length: 400 }, (_, i) => ({ ms: NOON + 400 * i, address: '203.0.113.7' })),
  );

  it.each([
    ['unknown', 80],
    [60, 60],
    [120, 120],
  ] as const)('fits into %s columns, which are at most %i', async (columns, most) => {
    const [limits = ''] = written(`Requests: { count: 10, period: 1m, idFormat: ipAddress }\n${LIMITS}`);
    const { out } = await run(['replay', '-', '--limits', limits], { stdin: log, columns });
    const notes = out.slice(out.indexOf('\nOrders is left out'));
    expect(notes).toContain('\n- The times are whole seconds.');
    expect(Math.max(...notes.split('\n').map((line) => line.length))).toBeLessThanOrEqual(most);
    // Nothing but line ends is different.
    const wide = await run(['replay', '-', '--limits', limits], { stdin: log });
    const words = (text: string): string[] => text.replaceAll(/client-\w+/g, '').split(/\s+/);
    expect(words(out)).toEqual(words(wide.out));
  });

  it('is one word in a line where a word is wider', () => {
    expect(wrapped('- a bb ccc', 4, 2)).toEqual(['- a bb ccc']);
    expect(wrapped(`- ${'x'.repeat(50)} y`, 40, 2)).toEqual(['-', `  ${'x'.repeat(50)}`, '  y']);
    expect(wrapped('', 40)).toEqual(['']);
  });
});
