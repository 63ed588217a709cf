import { checkLimits } from '@sluice/config';
import { describe, expect, it } from 'vitest';
import { moduleOf, written } from './files.ts';
import { run, runJson } from './run.ts';

const LIMITS = 'Orders: { count: 300, period: 3h, idFormat: accountId }\n';
const OVERRIDES = '- Orders: { count: 600, period: 3h, ids: [12345678] }\n';
const TWICE = '- Orders: { count: 600, period: 3h, ids: [7, 7] }\n';

describe('sluice check', () => {
  it('exits with 0 and an empty result for files without a mistake', async () => {
    const files = written(LIMITS, OVERRIDES);
    expect(await run(['check', ...files])).toEqual({ code: 0, out: '', err: `No problems in ${files.join(', ')}.\n` });
  });

  it('exits with 1 and prints the messages of checkLimits, each with file, line and column', async () => {
    const [limits = '', overrides = ''] = written('Orders: { count: 0, period: 3h, idFormat: accountId }\n', TWICE);
    const problems = await checkLimits({ defaults: limits, overrides });
    const { code, out, err } = await run(['check', limits, overrides]);
    expect({ code, err, lines: out.trimEnd().split('\n') }).toEqual({
      code: 1,
      err: '',
      lines: problems.map(({ text }) => text),
    });
    expect(out).toContain(`${limits}:1:18: \`Orders.count\` must be a whole number`);
    expect(out).toContain(`${overrides}:1:46: \`Orders\` lists the id '7' twice`);
  });

  it('prints positions in bold on a terminal, and in plain text with NO_COLOR', async () => {
    const [limits = ''] = written('Orders: { count: 0, period: 3h }\n');
    const onTerminal = await run(['check', limits], { isTty: true });
    expect(onTerminal.out.startsWith(`\u001B[1m${limits}:1:18: \u001B[22m\``)).toBe(true);
    for (const env of [{ NO_COLOR: '1' }, { TERM: 'dumb' }]) {
      expect((await run(['check', limits], { isTty: true, env })).out.startsWith(`${limits}:1:18: \``)).toBe(true);
    }
  });

  it('with --json prints the problems as data', async () => {
    const [limits = '', overrides = ''] = written(LIMITS, TWICE);
    expect(await runJson(['check', limits, overrides])).toEqual({
      problems: [expect.objectContaining({ file: overrides, line: 1, column: 46, limit: 'Orders' })],
    });
  });

  it('checks each file of overrides by itself, and lists the mistakes of the limits once', async () => {
    const [limits = '', ...overrides] = written(
      'Orders: { count: 0, period: 3h, idFormat: accountId }\n',
      OVERRIDES,
      OVERRIDES,
    );
    expect(await runJson(['check', limits, ...overrides])).toEqual({
      problems: [expect.objectContaining({ file: limits })],
    });
  });

  it('reads limits from stdin for -, once for all files of overrides', async () => {
    const [, ...overrides] = written('', OVERRIDES, OVERRIDES);
    expect((await run(['check', '-', ...overrides], { stdin: LIMITS })).code).toBe(0);
  });

  it('rejects stdin for two files', async () => {
    const { code, err } = await run(['check', '-', '-'], { stdin: LIMITS });
    expect({ code, err }).toEqual({
      code: 2,
      err: 'error: Only one file can be read from stdin (-). Give the path of the other.\nHelp: sluice check --help\n',
    });
  });

  it('rejects more than a limits file may contain on stdin, and does not read all of it', async () => {
    const { code, out } = await run(['check', '-'], { stdin: 'x'.repeat(70 * 2 ** 20) });
    expect(code).toBe(1);
    expect(out).toContain('The text is larger than 2097152 bytes');
  });

  it('knows the formats of domain names', async () => {
    const files = written(
      'Mails: { count: 10, period: 1h, idFormat: domain }\n',
      '- Mails: { count: 20, period: 1h, ids: [example.co.uk] }\n',
    );
    expect((await run(['check', ...files])).code).toBe(0);
  });

  it('needs no idFormat for a limit whose key is in the module, as loadLimits', async () => {
    const files = written(
      'Orders: { count: 3, period: 3h }\n',
      '- Orders: { count: 6, period: 3h, ids: [12345678] }\n',
    );
    const key = "{ format: { name: 'user', canonical: String }, idOf: () => 'a' }";
    const { code, out } = await run([
      'check',
      ...files,
      '--keys',
      moduleOf(`export const keys = { Orders: ${key} };\n`),
    ]);
    expect({ code, out }).toEqual({ code: 0, out: '' });
    const missing = await run(['check', ...files, '--keys', moduleOf('export const keys = {};\n')]);
    expect(missing.out).toContain('The limit `Orders` has no key in code.');
  });

  it('reads files up to --max-bytes, and names it when a file is larger', async () => {
    const naming = OVERRIDES.replace('[12345678]', 'overrides2.yaml');
    const files = written(LIMITS, naming, `7\n#${'x'.repeat(2_200_000)}\n`).slice(0, 2);
    for (const command of [
      ['check', ...files],
      ['explain', ...files],
    ]) {
      const { code, out, err } = await run(command);
      expect([code, out + err]).toEqual([1, expect.stringContaining('Make it smaller, or raise --max-bytes.')]);
      expect((await run([...command, '--max-bytes', '3000000'])).code).toBe(0);
    }
  });

  it('knows the formats of the keys of a module', async () => {
    const files = written(
      'Colors: { count: 10, period: 1h, idFormat: color }\n',
      '- Colors: { count: 20, period: 1h, ids: [red, RED] }\n',
    );
    expect((await run(['check', ...files])).out).toContain("must be a known id format, but was 'color'");
    const format = `{ name: 'color', canonical: (text) => text.toLowerCase() }`;
    for (const key of [`{ format: ${format} }`, `{ key: { format: ${format} }, onFailure: 'open' }`]) {
      const module = moduleOf(`export const keys = { Colors: ${key} };\n`);
      const { code, out } = await run(['check', ...files, '--keys', module]);
      expect(code).toBe(1);
      expect(out).toContain("`Colors` lists the id 'RED' (which is 'red') twice");
    }
    const wrong = await run(['check', ...files, '--keys', moduleOf('export const keys = { Colors: 1 };')]);
    expect({ code: wrong.code, err: wrong.err }).toMatchObject({
      code: 2,
      err: expect.stringContaining('ERR_') as string,
    });
  });
});
