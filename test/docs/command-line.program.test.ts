import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { redisServer, type RedisServer } from '../redis/servers/redis-server.ts';
import { exampleLog } from '../../scripts/example-log.mjs';
import { run } from '../../tools/cli/test/run.ts';
import { shownFor } from './console.ts';
import { shell, started } from './sluice.ts';

describe('the program sluice', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await redisServer();
  });

  it('has examples in the help of all commands that work as pasted', async () => {
    // Their help is the same in this process, without the start of a program.
    const help = async (...words: readonly string[]): Promise<string> =>
      (await run([...words, '--help'], { columns: 'unknown' })).out;
    const out = await help();
    const [, list = ''] = out.split('\nCommands:\n');
    const commands = [...list.matchAll(/^ {2}(\w+) /gm)]
      .map(([, name = '']) => name)
      .filter((name) => name !== 'help' && name !== 'serve');
    expect(commands.length).toBeGreaterThan(4);
    // `serve` does not end by itself.
    for (const command of commands) {
      const [, example = ''] = (await help(command)).split('\nExample:\n');
      const line = example.replace('redis://127.0.0.1:6379', server.url);
      expect({ command, ...(await shell(line)) }).toMatchObject({ command, code: 0 });
    }
  });

  it.each(['--help', 'peek --help', 'top --help'])('loads nothing that it does not need for %s', async (words) => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-docs-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    // Node then lists all modules that it has loaded.
    await shell(`export NODE_V8_COVERAGE='${folder}'\nsluice ${words}`);
    const lists = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
    const urls = lists.flatMap((list) =>
      (JSON.parse(list) as { result: { url: string }[] }).result.map(({ url }) => url),
    );
    expect(urls.filter((url) => url.includes('/tools/cli/dist/')).length).toBeGreaterThan(1);
    expect(urls.filter((url) => /\/packages\/|\/tools\/(?!cli)|\/ioredis\//.test(url))).toEqual([]);
  });

  it('exits with the code of its command', async () => {
    const { code, out } = await shell("echo 'Orders: { count: 0, period: 3h }' | sluice check -");
    expect({ code, out }).toMatchObject({ code: 1, out: expect.stringContaining('`Orders.count` must be') as string });
  });

  it('ends with 130 after Ctrl-C, also while it waits for a server that does not answer', async () => {
    const silent = createServer(() => child.kill('SIGINT'));
    onTestFinished(() => void silent.close());
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    const { port } = silent.address() as AddressInfo;
    const url = `redis://127.0.0.1:${port}`;
    const child = started('peek', '--redis', url, '--timeout', '60000', '-', 'Orders', 'a');
    child.stdin.end('Orders: { count: 300, period: 3h, idFormat: accountId }');
    expect(await once(child, 'close')).toEqual([130, null]);
  });

  it('ends although the module of --keys, like that of a server, has a timer', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-docs-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(
      join(folder, 'keys.mjs'),
      `setInterval(() => {}, 1000);\nexport const keys = { Orders: { format: { name: 'accountId', canonical: String }, idOf: () => 'a' } };\n`,
    );
    const line = "echo 'Orders: { count: 1, period: 3h, idFormat: accountId }' | sluice check - --keys keys.mjs";
    expect(await shell(line, folder)).toMatchObject({ code: 0 });
  });

  it('exits with 2 and its help on stderr when it is called without a command', async () => {
    expect(await shell('sluice')).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('Usage: sluice') as string,
    });
  });

  it('ends without a message when the reader of its output leaves', async () => {
    expect(await shell('sluice --help | true; exit $PIPESTATUS')).toMatchObject({ err: '' });
  });

  it('reports output that cannot be written, as on a full disk', async () => {
    expect(await shell('sluice --help > /dev/full')).toEqual({
      code: 2,
      out: '',
      err: expect.stringContaining("error: The output can't be written: ENOSPC") as string,
    });
  });

  it('leaves no part of a page that can not be written, as on a full disk, and prints its result', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-docs-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const [, example = ''] = (await shell('sluice replay --help')).out.split('\nExample:\n');
    // At most 1 KiB for each file that is written.
    const { code, out, err } = await shell(`ulimit -f 1\n${example.trimEnd()} --html report.html`, folder);
    expect({ code, out }).toEqual({ code: 2, out: expect.stringContaining('1 request,') as string });
    expect(err).toContain("The file report.html can't be written: EFBIG");
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('the page about the command line', () => {
  const page = 'docs/command-line.md';

  /** Runs a command that the page shows, in a folder with files, and returns its output. */
  const printed = async (command: string, files: Readonly<Record<string, string>>, setup = ''): Promise<string> => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-docs-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    return (await shell(`${setup}\n${command}`, folder)).out;
  };

  const orders = {
    'limits.yaml': 'Orders: { count: 300, period: 3h, idFormat: accountId }\n',
    'overrides.yaml': '- Orders: { count: 600, period: 3h, ids: [12345678] }\n',
  };

  it('shows what check prints', async () => {
    const limits = 'NewOrdersPerAccount: { count: 300, period: 3h, idFormat: accountId }\n';
    const overrides =
      '- NewOrdersPerAccount:\n    count: 600\n    period: 3h\n    ids:\n      - 12345678\n      - 12345678\n';
    // The page shows the id itself, without the `- ` before it.
    const { command, output } = shownFor(page, 'sluice check');
    expect(await printed(command, { 'limits.yaml': limits, 'overrides.yaml': overrides })).toBe(output);
  });

  it('shows what explain prints', async () => {
    const { command, output } = shownFor(page, 'sluice explain');
    expect(await printed(command, orders)).toBe(output);
  });

  it('shows what top prints', async () => {
    const server = await redisServer();
    const charge = (id: string, cost: number): string =>
      `sluice charge limits.yaml overrides.yaml Orders ${id} --cost ${cost} > charged`;
    const setup = [`export SLUICE_REDIS_URL=${server.url}`, charge('12345678', 588), charge('87654321', 13)].join('\n');
    const seconds = / \d+ s$/m;
    const { command, output } = shownFor(page, 'sluice top');
    expect((await printed(command, orders, setup)).replace(seconds, '')).toBe(output.replace(seconds, ''));
  });

  it('shows what log prints', async () => {
    const server = await redisServer();
    const charge =
      "sluice charge --log --by mia --reason 'ticket 4711' limits.yaml Orders 12345678 --cost 13 > charged";
    const time = /^\S+/gm;
    const { command, output } = shownFor(page, 'sluice log');
    const out = await printed(command, orders, `export SLUICE_REDIS_URL=${server.url}\n${charge}`);
    expect(out.replace(time, '')).toBe(output.replace(time, ''));
  });

  it('shows what peek prints', async () => {
    const server = await redisServer();
    const setup = `export SLUICE_REDIS_URL=${server.url}\nsluice charge limits.yaml overrides.yaml Orders 12345678 --cost 313 > charged`;
    const { command, output } = shownFor(page, 'sluice peek');
    expect(await printed(command, orders, setup)).toBe(output);
  });

  it.each(['replay', 'suggest'])('shows what %s prints of the log of an afternoon', async (name) => {
    const { command, output, isCut } = shownFor(page, `sluice ${name}`);
    const log = { 'access.log': `${exampleLog().join('\n')}\n` };
    const out = await printed(command, {
      ...log,
      'limits.yaml': 'PerAddress: { count: 1, period: 1s, burst: 30, idFormat: ipAddress }\n',
    });
    expect({ out: out.slice(0, output.length), isCut }).toEqual({ out: output, isCut: true });
  });
});
