import { PassThrough, Readable } from 'node:stream';
import { symlinkSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { Terminal } from '../../src/console/terminal.ts';
import { runSluice } from '../../src/program.ts';
import type { ReplayReport } from '../../src/replay/counting/report.ts';
import { run } from '../run.ts';
import { combinedLine, files, logOf, NOON, pinoLine, type Logged } from './logs.ts';
import { replayReport } from './report.ts';
import { sized } from '../../../../test/sized.ts';

const LIMITS = 'PerAddress: { count: 60, period: 1m, burst: 3, idFormat: ipAddress }\n';
const FIRST: Logged = { ms: NOON, address: '10.0.0.0' };
const MANY = sized(6000, 20_000);
const REQUESTS: readonly Logged[] = Array.from({ length: MANY }, (_, i) => ({
  ms: NOON + i * 10,
  address: `10.0.0.${(i * i) % 90}`,
}));

describe('sluice replay of a bad log', () => {
  it('rejects a log that is no log, with its first line and the formats', async () => {
    const { limits, log } = files({ limits: LIMITS, log: 'Dear diary,\n\u001B[31mtoday\u202E was fine.\n' });
    const { code, out, err } = await run(['replay', log, '--limits', limits]);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(
      'has no known format. Its first line is: Dear diary,\nFormats: combined, main, vhost_combined, alb',
    );
  });

  it('rejects a file that does not exist, a folder, and a missing --limits', async () => {
    const { limits, log } = files({ limits: LIMITS, log: '' });
    expect(await run(['replay', '/missing.log', '--limits', limits])).toMatchObject({
      code: 2,
      err: expect.stringContaining("The file /missing.log can't be read: it does not exist.") as string,
    });
    expect((await run(['replay', '/', '--limits', limits])).err).toContain("The file / can't be read: it is a folder.");
    expect((await run(['replay', log])).err).toContain('Give the file of them: --limits limits.yaml.');
  });

  it('exits with 1 if a limit applied to no request', async () => {
    const orders = 'Orders: { count: 60, period: 1m, idFormat: accountId }\n';
    const { limits, log } = files({ limits: LIMITS + orders, log: logOf(pinoLine, REQUESTS.slice(0, 9)) });
    const args = [log, '--limits', limits, '--key', 'Orders=json:user.id'];
    const { code, out } = await run(['replay', ...args]);
    expect([code, out]).toEqual([1, expect.stringContaining('Orders applies to no request')]);
    expect((await run(['replay', log, '--limits', limits, '--key', 'Orders=ip'])).code).toBe(0);
    expect((await run(['suggest', log, '--key', 'json:user.id'])).code).toBe(1);
  });

  it('does not promise bounds for a log of whole seconds, and tells which figures are about one limit alone', async () => {
    const { limits, log } = files({
      limits: `${LIMITS}Burst: { count: 5, period: 1s, burst: 8, idFormat: ipAddress }\n`,
      log: logOf(combinedLine, REQUESTS.slice(0, 99)),
    });
    const notes = (await replayReport([log, '--limits', limits])).notes.join('\n');
    expect(notes).toContain('not bounds');
    expect(notes).toContain('Each curve, knee and smallest burst is about one limit alone.');
  });

  it('rejects a log that is given twice, also by another name', async () => {
    const { limits, log } = files({ limits: LIMITS, log: logOf(pinoLine, REQUESTS.slice(0, 9)) });
    symlinkSync(log, `${log}.link`);
    for (const other of [log, `${log}.link`]) {
      const { code, err } = await run(['replay', log, other, '--limits', limits]);
      expect([code, err]).toEqual([2, expect.stringContaining('is given twice, so its requests would count twice')]);
      expect((await run(['suggest', log, other])).code).toBe(2);
    }
  });

  it('reads the first request of a log that begins with a byte order mark', async () => {
    const { limits, log } = files({ limits: LIMITS, log: `\uFEFF${logOf(combinedLine, REQUESTS.slice(0, 9))}` });
    const report = await replayReport([log, '--limits', limits]);
    expect([report.totals.requests, report.limits]).toMatchObject([9, [{ requests: 9, invalidIds: 0 }]]);
  });

  it('reports an empty log as one without requests, and exits with 1', async () => {
    const { limits, log } = files({ limits: LIMITS, log: '' });
    expect(await replayReport([log, '--limits', limits])).toMatchObject({ totals: { requests: 0 }, limits: [] });
    expect(await run(['replay', log, '--limits', limits])).toEqual({
      code: 1,
      out: 'The log has no requests that could be replayed.\n',
      err: '',
    });
  });

  it('counts lines that it can not read, with the first of them escaped and shortened', async () => {
    const lines = REQUESTS.slice(0, 10).map(combinedLine);
    lines.splice(3, 0, `\u001B[31m${'x'.repeat(500)}`, '', combinedLine(FIRST).replace('Nov', 'Foo'));
    const { limits, log } = files({ limits: LIMITS, log: lines.join('\r\n') });
    const { input } = await replayReport([log, '--limits', limits]);
    expect(input).toMatchObject({ requests: 10, skipped: { 'another format': 1, 'no valid time': 1 } });
    expect(input.examples).toMatchObject([
      { file: log, reason: 'another format', text: expect.stringMatching(/^\\u001b\[31mx{150,160} …$/) as string },
      { reason: 'no valid time' },
    ]);
  });

  it('skips a line of any length without keeping it', async () => {
    const long = Buffer.alloc(50_000_000, 'a');
    const log = Buffer.concat([Buffer.from(`${combinedLine(FIRST)}\n`), long, Buffer.from(`\n${combinedLine(FIRST)}`)]);
    const before = process.memoryUsage().arrayBuffers;
    const written = files({ limits: LIMITS, log });
    const { input } = await replayReport([written.log, '--limits', written.limits]);
    expect(input).toMatchObject({ lines: 3, requests: 2, skipped: { 'too long': 1 } });
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(60_000_000);
  });

  it('reads gzip, also of several members, without the name saying so', async () => {
    const members = [REQUESTS.slice(0, 5000), REQUESTS.slice(5000)].map((part) => gzipSync(logOf(combinedLine, part)));
    const { limits, log, plain } = files({
      limits: LIMITS,
      log: Buffer.concat(members),
      plain: logOf(combinedLine, REQUESTS),
    });
    const [zipped, unzipped] = [
      await replayReport([log, '--limits', limits]),
      await replayReport([plain, '--limits', limits]),
    ];
    expect({ ...zipped.totals, partial: zipped.partial }).toEqual({ ...unzipped.totals, partial: [] });
    expect(zipped.totals.denied.high).toBeGreaterThan(0);
  });

  it('reports what it could read of a truncated gzip, marked as a part', async () => {
    const whole = gzipSync(logOf(combinedLine, REQUESTS));
    const { limits, log } = files({ limits: LIMITS, log: whole.subarray(0, whole.length / 2) });
    const report = await replayReport([log, '--limits', limits]);
    expect(report.partial).toEqual([`${log}: the compressed file ends too early`]);
    expect(report.totals.requests).toBeGreaterThan(0.4 * MANY);
    expect(report.totals.requests).toBeLessThan(0.6 * MANY);
    const { out, code } = await run(['replay', log, '--limits', limits]);
    expect(out).toContain(`PART OF THE LOG: ${log}: the compressed file ends too early`);
    expect([code, (await run(['suggest', log])).code]).toEqual([1, 1]);
  });

  it('reports what it could read of a damaged gzip', async () => {
    const whole = gzipSync(logOf(combinedLine, REQUESTS));
    const middle = whole.length >> 1;
    whole.fill(0xff, middle, middle + 200);
    const { limits, log } = files({ limits: LIMITS, log: whole });
    const { partial } = await replayReport([log, '--limits', limits]);
    expect(partial[0]).toBe(`${log}: the compressed file is damaged`);
  });

  it('sorts lines that are up to 60 s out of order, and leaves out and counts later ones', async () => {
    const shuffled = REQUESTS.map((request, i) => ({ request, at: i * 10 + ((i * 7919) % 50_000) })).toSorted(
      (a, b) => a.at - b.at,
    );
    const { limits, sorted, log } = files({
      limits: LIMITS,
      sorted: logOf(pinoLine, REQUESTS),
      log: logOf(pinoLine, [...shuffled.map(({ request }) => request), { ...FIRST, ms: NOON - 3_600_000 }]),
    });
    const [inOrder, outOfOrder] = [
      await replayReport([sorted, '--limits', limits]),
      await replayReport([log, '--limits', limits]),
    ];
    expect(outOfOrder.totals).toEqual(inOrder.totals);
    expect(outOfOrder.input).toMatchObject({ requests: MANY + 1, late: 1 });
    expect(outOfOrder.notes.join(' ')).toContain('1 requests are more than 60 s older');
  });

  it('prints what was counted before Ctrl-C, marked as a part, and exits with 130, also while a pipe has no more', async () => {
    const { limits } = files({ limits: LIMITS });
    const controller = new AbortController();
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const stdin = Readable.from(
      (async function* () {
        yield Buffer.from(logOf(combinedLine, REQUESTS.slice(0, 1000)));
        setImmediate(() => controller.abort());
        await new Promise(() => undefined);
      })(),
    );
    const terminal = new Terminal({ stdin, stdout, stderr, env: {} }, controller.signal);
    expect(await runSluice(['replay', '-', '--limits', limits, '--json'], terminal)).toBe(130);
    const report = JSON.parse(String(stdout.read())) as ReplayReport;
    expect(report).toMatchObject({ partial: ['interrupted by Ctrl-C'], totals: { requests: 1000 } });
  });

  it('counts ids that are not valid, and does not apply the limit to them', async () => {
    const requests = [...REQUESTS.slice(0, 3), { ms: NOON, address: 'not an address' }];
    const report = await replayReport(['-', '--limits', files({ limits: LIMITS }).limits], {
      stdin: logOf(pinoLine, requests),
    });
    expect(report.limits).toMatchObject([{ requests: 3, invalidIds: 1, invalidExample: expect.any(String) as string }]);
  });

  it.each([
    [['--key', 'Foo=ip'], "`--key` must be the name of a limit and the source of its ids, but was 'Foo=ip'"],
    [['--key', 'PerAddress=ip', '--key', 'PerAddress=json:path'], "`--key` names PerAddress twice, as 'ip' and as"],
    [
      ['--key', 'ip', '--key', 'PerAddress=ip'],
      "`--key` names PerAddress twice, as 'ip' and as 'ip'. Give each limit one",
    ],
    [['--key', 'PerAddress=cookie'], "header:x-api-key or json:user.id, but was 'cookie'."],
    [['--cost', 'POST /orders'], '`--cost` must be a pattern of requests and a whole number'],
    [['--route', 'users'], "A pattern of requests must be a path with an optional method before it, but was 'users'"],
    [['--only', 'Foo=/'], '`--only` must be the name of a limit and a pattern of requests'],
    [['--format', 'iis'], '`--format` must be combined, main, vhost_combined, alb'],
    [['--field', 'foo=bar'], '`--field` must be one of time, started'],
    [['--deny-at-most', '5'], '`--deny-at-most` must be a percentage of the ids'],
    [['--trust', 'everyone'], '`--trust` must be'],
  ])('rejects %s with what is allowed', async (args, message) => {
    const { limits } = files({ limits: LIMITS });
    const { code, err } = await run(['replay', '-', '--limits', limits, ...args], {
      stdin: logOf(pinoLine, REQUESTS.slice(0, 1)),
    });
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(message) as string });
  });

  it('rejects a key function whose promise is rejected with one error only', async () => {
    const idOf = "() => Promise.reject(new Error('no session'))";
    const {
      limits,
      log,
      'keys.mjs': module,
    } = files({
      limits: 'Orders: { count: 3, period: 1m }\n',
      log: pinoLine(FIRST),
      'keys.mjs': `export const keys = { Orders: { format: { name: 'user', canonical: String }, idOf: ${idOf} } };\n`,
    });
    const unhandled: unknown[] = [];
    const listener = (error: unknown): void => void unhandled.push(error);
    process.on('unhandledRejection', listener);
    const { code, err } = await run(['replay', log, '--limits', limits, '--keys', module]);
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', listener);
    expect({ code, unhandled }).toEqual({ code: 2, unhandled: [] });
    expect(err).toContain('The key of the limit Orders returns a promise');
  });

  it('asks for the source of ids that a log does not show by itself', async () => {
    const { limits } = files({ limits: 'Orders: { count: 3, period: 1m, idFormat: accountId }\n' });
    const { code, err } = await run(['replay', '-', '--limits', limits], {
      stdin: logOf(pinoLine, REQUESTS.slice(0, 1)),
    });
    expect(code).toBe(2);
    expect(err).toContain(
      "Orders: it is not known where its ids come from. Give it a --key with ip, network, everyone, header:x-api-key or json:user.id, for example --key 'Orders=json:user.id', or all limits with --keys ./keys.mjs.",
    );
  });
});
