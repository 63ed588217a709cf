import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { run, type Ran } from '../run.ts';
import { files, logOf, NOON, pinoLine } from './logs.ts';

const LIMITS = 'PerAddress: { count: 60, period: 1m, burst: 3, idFormat: ipAddress }\n';
const LOG = logOf(pinoLine, [{ ms: NOON, address: '10.0.0.1' }]);

/** A folder with limits and a log, and a function that replays the log with a page. */
function given(): { folder: string; limits: string; log: string; replay: (html: string) => Promise<Ran> } {
  const { limits, log } = files({ limits: LIMITS, log: LOG });
  const replay = (html: string): Promise<Ran> => run(['replay', log, '--limits', limits, '--html', html]);
  return { folder: dirname(log), limits, log, replay };
}

describe('the file of sluice replay --html', () => {
  it('replaces the file that was there, also behind a symbolic link, and leaves no other file', async () => {
    const { folder, replay } = given();
    const [real, link] = [join(folder, 'real.html'), join(folder, 'link.html')];
    writeFileSync(real, 'old');
    symlinkSync(real, link);
    const { code, out } = await replay(link);
    expect(code).toBe(0);
    expect(out).toContain('1 request, 2026-11-23 12:00:00');
    expect(readFileSync(real, 'utf8')).toContain('<!doctype html>');
    expect(readdirSync(folder).toSorted()).toEqual(['limits', 'link.html', 'log', 'real.html']);
  });

  it.each(['-', ''])('rejects the name %j, because stdout is for the result', async (name) => {
    expect(await given().replay(name)).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining(`\`--html\` must be the name of a file, but was '${name}'`) as string,
    });
  });

  it('rejects a folder that does not exist, a folder, and a device, before it reads the log', async () => {
    const { folder, replay } = given();
    const missing = join(folder, 'missing');
    const rejected = async (name: string): Promise<string> => {
      const { code, out, err } = await replay(name);
      expect({ code, out }).toEqual({ code: 2, out: '' });
      return err;
    };
    expect(await rejected(join(missing, 'r.html'))).toContain(`: the folder ${missing} does not exist.`);
    mkdirSync(join(folder, 'r.html'));
    expect(await rejected(join(folder, 'r.html'))).toContain("can't be written: it is a folder.");
    expect(await rejected('/dev/null')).toContain("The file /dev/null can't be written: it is not a regular file.");
  });

  it('does not overwrite a log or the limits', async () => {
    const { folder, limits, log, replay } = given();
    const link = join(folder, 'link');
    symlinkSync(log, link);
    for (const name of [log, limits, link]) {
      expect((await replay(name)).err).toContain(`The file ${name} can't be written: the command reads that file.`);
    }
    expect([readFileSync(log, 'utf8'), readFileSync(limits, 'utf8')]).toEqual([LOG, LIMITS]);
  });

  it('does not overwrite the module of --keys', async () => {
    const { folder, limits, log } = given();
    const keys = join(folder, 'keys.mjs');
    const key = "{ format: { name: 'ipAddress', canonical: String }, idOf: () => 'a' }";
    writeFileSync(keys, `export const keys = { PerAddress: ${key} };`);
    const { err } = await run(['replay', log, '--limits', limits, '--keys', keys, '--html', keys]);
    expect(err).toContain(`The file ${keys} can't be written: the command reads that file.`);
  });

  it('prints the result although the file can not be written in the end, and leaves no part of it', async () => {
    const { folder, replay } = given();
    // Longer than a name may be.
    const { code, out, err } = await replay(join(folder, `${'r'.repeat(300)}.html`));
    expect({ code, out }).toEqual({ code: 2, out: expect.stringContaining('1 request,') as string });
    expect(err).toContain("can't be written: ENAMETOOLONG");
    expect(readdirSync(folder).toSorted()).toEqual(['limits', 'log']);
  });
});

describe('--json-file', () => {
  const scenario = `limits: { Requests: { burst: 2, count: 1, period: 1s } }
clients: { browser: { arrivals: { burst: 5, at: 5s, over: 100ms } } }\n`;

  it.each(['replay', 'suggest', 'simulate'])(
    'of %s writes what --json prints to a file, and prints the result as text',
    async (command) => {
      const paths = files({ limits: LIMITS, log: LOG, scenario });
      const words = {
        replay: [paths.log, '--limits', paths.limits, '--show-ids'],
        suggest: [paths.log],
        simulate: [paths.scenario],
      }[command]!;
      const file = join(dirname(paths.log), 'report.json');
      const { code, out } = await run([command, ...words, '--json-file', file]);
      const json = await run([command, ...words, '--json']);
      expect(code).toBe(0);
      expect(out).not.toContain('{\n');
      expect(out.split('\n').length).toBeGreaterThan(3);
      expect(readFileSync(file, 'utf8')).toBe(json.out);
    },
  );

  it('may be given beside --html and --json, but not with the same file', async () => {
    const { folder, limits, log } = given();
    const [page, json] = [join(folder, 'r.html'), join(folder, 'r.json')];
    const words = ['replay', log, '--limits', limits, '--show-ids', '--html', page];
    const { code, out } = await run([...words, '--json', '--json-file', json]);
    expect(code).toBe(0);
    expect(readFileSync(json, 'utf8')).toBe(out);
    expect(readFileSync(page, 'utf8')).toContain('<!doctype html>');
    const same = await run([...words, '--json-file', page]);
    expect(same).toMatchObject({ code: 2, err: expect.stringContaining('must be different files') as string });
  });

  it('rejects the name -, with an example', async () => {
    const { limits, log } = given();
    const { code, err } = await run(['replay', log, '--limits', limits, '--json-file', '-']);
    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringContaining('For example --json-file report.json.') as string,
    });
  });
});
