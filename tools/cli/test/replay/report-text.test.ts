import { execFileSync, spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ReplayReport } from '../../src/replay/counting/report.ts';
import type { SuggestReport } from '../../src/replay/suggesting/suggest-report.ts';
import { run, runJson } from '../run.ts';
import { combinedLine, files, logOf, NOON, pinoLine, type Logged } from './logs.ts';
import { replayReport } from './report.ts';

const ADDRESS = '10.0.0.1';

/** So many requests of one client at once. */
function burstOf(count: number, more: Partial<Logged> = {}): Logged[] {
  return Array.from({ length: count }, () => ({ ms: NOON, address: ADDRESS, ...more }));
}

async function textOf(limits: string, requests: readonly Logged[], ...args: readonly string[]): Promise<string> {
  const written = files({ limits, log: logOf(pinoLine, requests) });
  const { code, out, err } = await run(['replay', written.log, '--limits', written.limits, '--show-ids', ...args]);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return out;
}

describe('the text of a replay', () => {
  it('has the numbers of a quota, its routes and its most denied ids', async () => {
    const requests = Array.from({ length: 12 }, (_, i) => burstOf(2, { path: `/route-${'abcdefghijkl'[i]}` })).flat();
    const out = await textOf('Daily: { count: 1, per: day, idFormat: ipAddress }\n', requests);
    expect(out).toContain('Daily  1 per calendar day, by ipAddress');
    expect(out).toContain('denied    23 of 24 (96 %), of which 23 had succeeded');
    expect(out).toContain('GET /route-b: 2 of 2 (100 %), 1 id\n');
    expect(out).toContain(
      'smallest  count that denies at most 0.1 % of ids: not known, because the log is shorter than a day\n',
    );
    expect(out).toContain('and 2 more');
    expect(out).toContain(`Daily ${ADDRESS}: 23 of 24 (96 %)`);
  });

  it('shows routes and ids of the log without the effect of control characters', async () => {
    const path = '/\u001b[31mred\u0007\n  FAKE: 0 of 0';
    const { limits, log } = files({
      limits: 'Orders: { count: 1, period: 1h, idFormat: accountId }\n',
      log: logOf(pinoLine, burstOf(3, { path, user: 'eve\u202edrac' })),
    });
    const { out } = await run(['replay', log, '--limits', limits, '--key', 'Orders=json:user.id', '--show-ids']);
    expect(out).toContain('\n  GET /\\u{1b}[31mred\\u{7}\\u{a}  FAKE: 0 of 0: 2 of 3 (67 %), 1 id\n');
    expect(out).toContain('\n  Orders eve\\u{202e}drac: 2 of 3 (67 %)\n');
  });

  it('shows 100 % for all of them only', async () => {
    const out = await textOf('PerAddress: { count: 1, period: 1d, idFormat: ipAddress }\n', burstOf(2000));
    expect(out).toContain('denied    1,999 of 2,000 (99.9 %), of which');
  });

  it('shows a band, and the knee of a curve, but not of a quota if the log is shorter than its period', async () => {
    // The requests of a client are apart from each other in the log, and so in its second.
    const countOf = (i: number): number => (i < 390 ? 1 + (i % 2) : 20 * (i - 385));
    const clients = Array.from({ length: 400 }, (_, i) => ({
      address: `10.0.${i >> 8}.${i & 255}`,
      count: countOf(i),
    }));
    const rounds = Array.from({ length: 280 }, (_, round) => clients.filter(({ count }) => count > round));
    const requests = rounds.flat().map(({ address }) => ({ ms: NOON, address }));
    const written = files({
      limits: 'PerAddress: { count: 4, period: 1s, burst: 1, idFormat: ipAddress }\n',
      log: logOf(combinedLine, requests),
    });
    const { out } = await run(['replay', written.log, '--limits', written.limits, '--key', 'ip']);
    expect(out).toMatch(/denied {4}[\d,]+ to [\d,]+ of [\d,]+/);
    expect(out).toMatch(/times {5}\$time_local, end of the request, in whole seconds/);
    expect(out).toMatch(/knee {6}burst \d+, the bend of the curve: a larger one helps few more ids\n/);
    expect(out).toContain(', by ip\n');
    const { daily } = files({ daily: 'Daily: { count: 5, per: day, idFormat: ipAddress }\n' });
    const args = ['replay', written.log, '--limits', daily];
    expect(((await runJson(args)) as ReplayReport).limits[0]?.curve?.knee).toBeGreaterThan(0);
    expect((await run(args)).out).not.toContain('knee');
  });

  it('shows what is late, delayed, above the burst, skipped and left out', async () => {
    const limits =
      'Slow: { count: 1, period: 1s, burst: 2, maxWait: 3s, idFormat: ipAddress }\nOff: { count: 1, period: 1s, idFormat: ipAddress, disabled: true }\n';
    const late = { ms: NOON - 600_000, address: ADDRESS };
    const more = Array.from({ length: 3000 }, (_, i) => ({ ms: NOON + i * 100, address: `10.1.0.${i & 255}` }));
    const requests = [...burstOf(4), ...burstOf(1, { path: '/dear' }), ...more, late];
    const out = await textOf(limits, requests, '--cost', '/dear=9');
    expect(out).toContain('1 requests have a cost above the burst');
    expect(out).toContain('The cost of the first is 9, and the burst of Slow 2.');
    expect(out).toContain('late      1 request left out');
    expect(out).toContain('Off is left out: it is disabled');
    expect(out).toMatch(/delayed {3}[1-9]/);
  });

  it('reports limits of which none can be replayed', async () => {
    const { limits, log } = files({ limits: 'Busy: { load: {} }\n', log: '' });
    const { code, err } = await run(['replay', log, '--limits', limits]);
    expect(code).toBe(2);
    expect(err).toContain('no limit that this log can be replayed against. Busy: a log does not show the load');
  });

  it('reads a named pipe once, and does not make suggestions of it', async () => {
    const { limits } = files({ limits: 'PerAddress: { count: 60, period: 1m, burst: 3, idFormat: ipAddress }\n' });
    const pipe = join(dirname(limits), 'pipe');
    execFileSync('mkfifo', [pipe]);
    const { err } = await run(['suggest', pipe]);
    expect(err).toContain(`A suggestion reads its logs several times, and ${pipe} can be read once.`);
    const writer = spawn('sh', ['-c', 'cat > "$0"', pipe]);
    writer.stdin.end(logOf(pinoLine, burstOf(5)));
    expect((await replayReport([pipe, '--limits', limits])).totals).toMatchObject({ requests: 5, denied: { high: 2 } });
  });
});

describe('sluice suggest', () => {
  it('suggests nothing for a log without requests, and counts only those of the limit', async () => {
    const { empty, log } = files({
      empty: '',
      log: logOf(pinoLine, [...burstOf(3, { path: '/a' }), ...burstOf(50, { path: '/b' })]),
    });
    expect(JSON.parse((await run(['suggest', empty, '--json'])).out)).toMatchObject({ ids: 0, suggestions: [] });
    const { out } = await run(['suggest', log, '--only', '/a', '--key', 'json:req.remoteAddress']);
    expect(out).toContain('53 requests of 1 id, by json:req.remoteAddress');
    expect(out).toMatch(/Requests: \{ count: \d+, period: \w+, burst: 3, idFormat: accountId \}/);
    expect(out).toMatch(/Tightest in a minute: at most \d+ requests of a client\n/);
    expect(out).toContain('  denied    no request\n');
  });

  it('notes when the allowed percentage is less than one id', async () => {
    const two = [...burstOf(3), ...burstOf(1, { address: '10.0.0.2' })];
    const { log } = files({ log: logOf(pinoLine, two) });
    const { out } = await run(['suggest', log]);
    expect(out).toContain('- 0.1 % of 2 ids is less than one id');
    expect(out).toContain('--deny-at-most 50%.');
    expect((await run(['suggest', log, '--deny-at-most', '50%'])).out).not.toContain('is less than one id');
  });

  it('suggests only numbers with which an empty bucket fills within the time of the log', async () => {
    const steady = Array.from({ length: 600 }, (_, i) => ({ ms: NOON + 100 * i, address: ADDRESS }));
    const { log } = files({ log: logOf(pinoLine, steady) });
    const { out } = await run(['suggest', log, '--key', 'json:req.remoteAddress', '--json']);
    const { suggestions } = JSON.parse(out) as SuggestReport;
    expect(suggestions.length).toBeGreaterThan(0);
    for (const { burst, count, period } of suggestions) {
      expect((burst / count) * { '1s': 1, '1m': 60, '1h': 3600 }[period]).toBeLessThanOrEqual(60);
    }
  });

  it('counts the ids of the requests of a limit only, so that few of them are not lost among many', async () => {
    const others = Array.from({ length: 500 }, (_, i) => ({ ms: NOON, address: `10.2.${i >> 8}.${i & 255}` }));
    const logins = [12, 3].flatMap((count, i) => burstOf(count, { path: '/login', address: `10.1.0.${i}` }));
    const { log, limits } = files({
      log: logOf(pinoLine, [...others, ...logins]),
      limits: 'Logins: { count: 1, period: 1s, burst: 5, idFormat: ipAddress }\n',
    });
    const words = ['--only', '/login', '--deny-at-most', '50%'];
    const suggested = (await runJson(['suggest', log, ...words])) as SuggestReport;
    expect(suggested.ids).toBe(2);
    expect(suggested.suggestions.map(({ burst }) => burst)).toEqual(suggested.suggestions.map(() => 3));
    const report = await replayReport([log, '--limits', limits, '--only', 'Logins=/login']);
    expect(report.limits).toMatchObject([{ requests: 15, ids: 2, deniedIds: { low: 1, high: 1 } }]);
  });

  it.each([
    { words: ['--key', 'header:x-api-key'], why: 'no request that the limit is for has an id by header:x-api-key' },
    { words: ['--only', '/nothing'], why: 'no request that the limit is for has an id by ip' },
  ])('suggests nothing, with the reason, for $words', async ({ words, why }) => {
    const { log } = files({ log: logOf(pinoLine, burstOf(5)) });
    expect((await run(['suggest', log, ...words])).out).toContain('of 0 ids, by');
    expect((await run(['suggest', log, ...words])).out).toContain(`\nNo suggestion: ${why}`);
    expect(await runJson(['suggest', log, ...words])).toMatchObject({ ids: 0, suggestions: [] });
  });

  it('suggests no burst that a limit can not have', async () => {
    const { limits, log } = files({
      limits: 'PerAddress: { count: 60, period: 1m, idFormat: ipAddress }\n',
      log: logOf(pinoLine, burstOf(6, { path: '/dear' })),
    });
    // With 2 per second an empty bucket fills within ten years, but with 1 per hour it does not.
    const high = await runJson(['suggest', log, '--cost', '/dear=99999999']);
    expect((high as SuggestReport).suggestions).toMatchObject([{ period: '1s', denied: { high: 0 } }]);
    const costs = ['--cost', '/dear=999999999'];
    const { code, out } = await run(['suggest', log, ...costs]);
    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringContaining('No suggestion: the costs are so high') as string,
    });
    expect((await replayReport([log, '--limits', limits, ...costs])).limits).toMatchObject([{ suggestion: null }]);
  });

  it('keeps to --deny-at-most in both passes of a log of whole seconds', async () => {
    // In the pass that spreads requests over their second, those of a client are closer to the next second.
    const others = Array.from({ length: 20 }, (_, i) => ({ ms: NOON, address: `10.1.0.${i}` }));
    const pages = Array.from({ length: 12 }, (_, i) => [
      ...others.map((request) => ({ ...request, ms: NOON + i * 10_000 })),
      { ms: NOON + i * 10_000, address: ADDRESS },
      ...burstOf(5, { ms: NOON + i * 10_000 + 1000 }),
    ]).flat();
    const { log } = files({ log: logOf(combinedLine, pages) });
    const { rates } = (await runJson(['suggest', log, '--deny-at-most', '0%'])) as SuggestReport;
    expect(rates.find(({ count, period }) => count === 1 && period === '1s')?.burst).toBe(6);
    const deniedWith = async (burst: number): Promise<unknown> => {
      const { limits } = files({
        limits: `PerAddress: { count: 1, period: 1s, burst: ${burst}, idFormat: ipAddress }`,
      });
      return (await replayReport([log, '--limits', limits])).limits[0]?.deniedIds;
    };
    expect([await deniedWith(5), await deniedWith(6)]).toEqual([
      { low: 0, high: 1 },
      { low: 0, high: 0 },
    ]);
  });
});
