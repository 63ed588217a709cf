import { describe, expect, it } from 'vitest';
import type { ReplayReport } from '../../src/replay/counting/report.ts';
import { run } from '../run.ts';
import { files, logOf, NOON, pinoLine } from './logs.ts';
import { replayReport } from './report.ts';

const LIMITS = 'PerAddress: { count: 60, period: 1m, burst: 2, idFormat: ipAddress }\n';

/** Replays lines of JSON. */
async function replayed(lines: readonly object[], limits: string = LIMITS): Promise<ReplayReport> {
  const written = files({ limits, log: lines.map((line) => `${JSON.stringify(line)}\n`).join('') });
  return replayReport([written.log, '--limits', written.limits, '--format', 'json', '--show-ids']);
}

const LINE = { time: NOON, ip: '10.0.0.1', method: 'GET', path: '/a', status: 200 };

describe('sluice replay of odd lines', () => {
  it('replays lines without a method or a valid status, and does not count a success that it can not see', async () => {
    const odd = [
      { method: undefined },
      { status: 'ok' },
      { status: 99 },
      { status: 700 },
      { status: 2 },
      { path: null },
    ];
    const report = await replayed(odd.map((each) => ({ ...LINE, ...each })));
    expect(report.totals).toMatchObject({ requests: 6, denied: { high: 4 }, deniedSuccesses: { high: 1 } });
    expect(report.routes.map(({ route }) => route)).toEqual(['GET /a', '? /a', '? ']);
  });

  it('decides a request that took minutes at most a minute late, and leaves none out', async () => {
    const usual = Array.from({ length: 300 }, (_, i) => ({ ...LINE, time: NOON + 1000 * i, ip: '10.0.0.2' }));
    const long = { ...LINE, time: NOON + 300_000, duration: 280 };
    const report = await replayed([...usual, { ...LINE, time: NOON + 250_000 }, long, long, long]);
    expect(report.input).toMatchObject({ requests: 304, late: 0 });
    expect(report.notes).toContain('3 requests took longer than 58 s: they are decided 58 s before their end.');
    expect(report.mostDenied).toMatchObject([{ id: '10.0.0.1', requests: 4 }]);
  });

  it('takes the end of a request as its time if its duration is not a number or negative', async () => {
    const report = await replayed([{ duration: 'long' }, { duration: -5 }].map((each) => ({ ...LINE, ...each })));
    expect(report.input).toMatchObject({ fromMs: NOON, toMs: NOON, time: { moment: 'end of the request' } });
  });

  it.each(['ip', 'method', 'path', 'status'])(
    'counts the same with a limit whose ids come from %s, which other fields come from too',
    async (path) => {
      const written = files({
        limits: `${LIMITS}Orders: { count: 60, period: 1m, burst: 9, idFormat: accountId }\n`,
        log: `${JSON.stringify(LINE)}\n`.repeat(3),
      });
      const report = await replayReport([written.log, '--limits', written.limits, '--key', `Orders=json:${path}`]);
      expect(report.limits).toMatchObject([
        { name: 'PerAddress', requests: 3, ids: 1, denied: { high: 1 } },
        { name: 'Orders', requests: 3, ids: 1 },
      ]);
      expect(report.totals.deniedSuccesses.high).toBe(1);
      expect(report.routes).toMatchObject([{ route: 'GET /a', requests: 3 }]);
    },
  );

  it('skips a line with an array that is not valid, also where an id is looked for', async () => {
    const { limits, log } = files({
      limits: 'Orders: { count: 60, period: 1m, idFormat: accountId }\n',
      log: `{"time":${NOON},"user":[},"path":"/"}\n{"time":${NOON},"user":["a"]}\n`,
    });
    const report = await replayReport([log, '--limits', limits, '--key', 'json:user', '--format', 'json']);
    expect(report.input).toMatchObject({ requests: 1, skipped: { 'another format': 1 } });
    expect(report.limits).toMatchObject([{ requests: 1, ids: 1 }]);
  });

  it.each([86_401, 2_000_000_000, 1e300, 1e308])(
    'takes a duration of %d seconds as unknown, and notes it',
    async (duration) => {
      const report = await replayed([LINE, { ...LINE, duration: 86_400 }, { ...LINE, duration }]);
      expect(report.input).toMatchObject({ requests: 3, fromMs: NOON - 58_000, toMs: NOON });
      expect(report.notes).toContain('1 requests have a duration above a day, which is taken as unknown.');
    },
  );

  it('replays lines from 1970 to 2199, and skips those with dates that do not exist', async () => {
    const times = [
      '1970-01-01T00:00:00+14:00',
      '2199-12-31T23:59:59.5-12:00',
      '2026-02-30T00:00:00Z',
      '9999-12-31T23:59:59Z',
    ];
    const report = await replayed(times.map((time) => ({ ...LINE, time })));
    expect(report.input).toMatchObject({ requests: 2, skipped: { 'no valid time': 2 } });
  });

  it('skips lines without a time', async () => {
    const report = await replayed([LINE, { ...LINE, time: undefined }, { ...LINE, time: 'now' }]);
    expect(report.input).toMatchObject({ requests: 1, skipped: { 'no valid time': 2 } });
  });

  it('counts only the limit that denied, with blocked and unlimited ids beside it', async () => {
    const limits = `${LIMITS}PerUser: { count: 60, period: 1m, burst: 1, idFormat: accountId }\n`;
    const written = files({
      limits,
      overrides: '- PerAddress: { unlimited: true, ids: [10.0.0.9] }\n- PerUser: { blocked: true, ids: [bad] }\n',
      log: logOf(pinoLine, [
        { ms: NOON, address: '10.0.0.1', user: 'a' },
        { ms: NOON, address: '10.0.0.1', user: 'a' },
        { ms: NOON, address: '10.0.0.9', user: 'b' },
        { ms: NOON, address: '10.0.0.9', user: 'bad' },
        { ms: NOON, address: '10.0.0.9' },
      ]),
    });
    const args = ['--limits', written.limits, '--overrides', written.overrides, '--key', 'PerUser=json:user.id'];
    const report = await replayReport([written.log, ...args]);
    expect(report.limits).toMatchObject([
      { name: 'PerAddress', requests: 5, denied: { high: 0 } },
      { name: 'PerUser', requests: 4, denied: { high: 2 }, withoutId: 1 },
    ]);
    expect(report.limits[0]?.overridden).toBeGreaterThan(0);
  });

  it('leaves out a pool, and shows no curve for the limit that borrows from it', async () => {
    const limits =
      'Pool: { count: 60, period: 1m, burst: 9, idFormat: everyone }\nPerAddress: { count: 60, period: 1m, burst: 2, idFormat: ipAddress, borrow: { from: Pool, ceiling: { count: 120, period: 1m, burst: 4 } } }\n';
    const report = await replayed([LINE, LINE, LINE], limits);
    expect(report.leftOut).toMatchObject([{ limit: 'Pool', reason: expect.stringContaining('a pool') as string }]);
    expect(report.limits).toMatchObject([{ name: 'PerAddress', curve: null, suggestion: null }]);
  });

  it('reads a log of empty lines as one without requests, and one line without its end', async () => {
    const { limits, empty, line, other } = files({
      limits: LIMITS,
      empty: '\n\r\n\n',
      line: JSON.stringify(LINE),
      other: 'a b c',
    });
    expect((await replayReport([empty, '--limits', limits])).input).toMatchObject({ requests: 0, lines: 0 });
    expect((await replayReport([line, '--limits', limits])).input).toMatchObject({ requests: 1 });
    const { err } = await run(['replay', other, '--limits', limits, '--format', 'json']);
    expect(err).toContain("has not the format 'json'. Its first line is: a b c");
  });
});
