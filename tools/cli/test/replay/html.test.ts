import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { PAGE_STYLE } from '../../src/pages/page-style.ts';
import { STYLE } from '../../src/replay/html/style.ts';
import { contrastOf } from '../contrast.ts';
import { combinedLine, logOf, NOON, pinoLine, type Logged } from './logs.ts';
import { cellsOf, dataOf, pageOf, tagsOf, textOf } from './page-parts.ts';

const LIMITS = 'PerAddress: { count: 60, period: 1m, burst: 3, idFormat: ipAddress }\n';

/** Ten requests of one client in the first second, of which a burst of 3 passes, and one in the next second. */
const REQUESTS: readonly Logged[] = [
  ...Array.from({ length: 10 }, (_, i) => ({ ms: NOON + i, address: '10.0.0.1', status: i < 5 ? 200 : 404 })),
  { ms: NOON + 1000, address: '10.0.0.2', path: '/other' },
];
const LOG = logOf(pinoLine, REQUESTS);

describe('the page of sluice replay --html', () => {
  it('counts the requests that a queue would have delayed', async () => {
    const queue = 'PerAddress: { count: 60, period: 1m, burst: 3, maxWait: 2s, idFormat: ipAddress }\n';
    const { page } = await pageOf({ limits: queue, log: LOG });
    expect(textOf(page).replaceAll('\n', '')).toContain('requests delayed218 % of 11');
  });

  it('has the figures of the report: denied requests and clients, by limit and by route', async () => {
    const { page } = await pageOf({ limits: LIMITS, log: LOG });
    const text = textOf(page).replaceAll('\n', '');
    expect(text).toContain('clients denied at least once1 of 250 % of them');
    expect(text).toContain('requests denied764 % of 11');
    expect(text).toContain('denied requests of one client100 %7 of 7, of the client that was denied most');
    expect(text).toContain(
      'denied requests that had succeeded229 % of the denied requests had a response of status 200',
    );
    expect(cellsOf(page, 'limits')).toEqual([['PerAddress', '2', '1', '50 %', '11', '7', '64 %', '29 %']]);
    expect(cellsOf(page, 'routes')).toEqual([['GET /', '10', '7', '70 %', '1 client']]);
    expect(cellsOf(page, 'rates')).toEqual([
      ['without the limits', '11', '10'],
      ['with the limits', '4', '3'],
    ]);
    expect(cellsOf(page, 'curve-PerAddress')).toEqual([
      ['1', '1', '10'],
      ['10', '0', '0'],
    ]);
    expect(textOf(page)).toMatch(/PerAddress client-[0-9a-f]{10}: 7 of 10 \(70 %\) denied/);
    expect(text).toContain(
      'Smallest burst at this rate that denies at most 0.1 % of clients: 10, which denies none.How many',
    );
  });

  it('begins with the denied clients of the limit that denies most of them, not with a sum over limits', async () => {
    const limits = `${LIMITS}PerUser: { count: 1, period: 1h, idFormat: accountId }\n`;
    const requests = ['a', 'a', 'b', 'b', 'c', 'c'].map((user) => ({ ms: NOON, address: '10.0.0.1', user }));
    const { page } = await pageOf({ limits, log: logOf(pinoLine, requests) }, ['--key', 'PerUser=json:user.id']);
    expect(cellsOf(page, 'limits').map((row) => row.slice(0, 4))).toEqual([
      ['PerAddress', '1', '1', '100 %'],
      ['PerUser', '3', '3', '100 %'],
    ]);
    const text = textOf(page).replaceAll('\n', '');
    expect(text).toContain('clients denied at least once3 of 3100 % of them, by PerUser, the most of all limits');
  });

  it('has no figure of one client if none was denied', async () => {
    const { page } = await pageOf({ limits: LIMITS, log: logOf(pinoLine, REQUESTS.slice(-1)) });
    const text = textOf(page).replaceAll('\n', '');
    expect(text).toContain('clients denied at least once0 of 10 % of them');
    expect(text).not.toMatch(/of one client|had succeeded may be/);
  });

  it('has the smallest burst as a comparison, and not as advice', async () => {
    const log = logOf(pinoLine, REQUESTS.slice(-1));
    const { page } = await pageOf({ limits: LIMITS, log });
    expect(textOf(page)).toContain(
      'at most 0.1 % of clients: 1, which denies none. The 3 of this limit leave room for busier days.',
    );
  });

  it('has no smallest burst where the rate is too low, and draws none', async () => {
    const limits = 'PerAddress: { count: 10, period: 1h, burst: 5, idFormat: ipAddress }\n';
    const log = (count: number): string =>
      logOf(
        pinoLine,
        Array.from({ length: count }, (_, i) => ({ ms: NOON + i, address: '10.0.0.1' })),
      );
    const [most, more] = [await pageOf({ limits, log: log(50) }), await pageOf({ limits, log: log(51) })];
    expect(textOf(most.page)).toContain('Smallest burst at this rate that denies at most 0.1 % of clients: 50,');
    expect(most.page).toContain('<line class="suggested"');
    expect(textOf(more.page)).toContain(
      'at most 0.1 % of clients: not shown, because it would be far too large: some of them need a higher rate.',
    );
    expect(more.page).not.toContain('<line class="suggested"');
    // Many times the burst, but tokens of a second only.
    const fast = await pageOf({
      limits: 'PerAddress: { count: 99, period: 1s, burst: 1, idFormat: ipAddress }',
      log: log(50),
    });
    expect(textOf(fast.page)).toMatch(/at most 0\.1 % of clients: [1-9]\d, which denies none\./);
    expect(more.report.limits[0]?.suggestion).toMatchObject({ burst: 51, denyAtMost: 0.001 });
  });

  it('has no smallest count of a quota if the log is shorter than its period', async () => {
    const limits = 'PerAddress: { count: 9, per: hour, idFormat: ipAddress }\n';
    const log = (minutes: number): string =>
      logOf(
        pinoLine,
        [0, 1, 2, minutes].map((minute) => ({ ms: NOON + minute * 60_000, address: '10.0.0.1' })),
      );
    const [short, long] = [await pageOf({ limits, log: log(53) }), await pageOf({ limits, log: log(54) })];
    expect(textOf(short.page)).toContain(
      'Smallest count that denies at most 0.1 % of clients: not known, because the log is shorter than an hour.',
    );
    expect(short.page).not.toMatch(/<line class="(?:suggested|knee)"/);
    expect(textOf(short.page)).not.toContain('leave room');
    expect(textOf(long.page)).toContain(
      'at most 0.1 % of clients: 4, which denies none. The 9 of this limit leave room for busier days.',
    );
    expect(long.page).toContain('<line class="suggested"');
  });

  it('has the whole report as data', async () => {
    const { page, report } = await pageOf({ limits: LIMITS, log: LOG });
    expect(dataOf(page)).toEqual(report);
  });

  it('draws denied requests above allowed ones, in requests per second', async () => {
    const { page } = await pageOf({ limits: LIMITS, log: LOG });
    const [, denied, allowed] = /<path class="denied" d="(.*?)"\/><path class="allowed" d="(.*?)"\/>/.exec(page) ?? [];
    expect(textOf(page)).toContain('of all clients together: each bar is one second.');
    // The scale ends at 10: 10 and 1 requests, and 3 and 1 allowed ones.
    expect(denied).toBe('M0 1000V0H500V900H1000V1000Z');
    expect(allowed).toBe('M0 1000V700H500V900H1000V1000Z');
    expect(page).toContain(
      'from 2026-11-23 12:00:00 to 2026-11-23 12:00:02 (UTC): at most 10 requests per second, of which at most 3 are allowed',
    );
  });

  it('draws requests per second also where a step is longer than a second', async () => {
    const requests = Array.from({ length: 960 }, (_, i) => ({ ms: NOON + 500 * i, address: '10.0.0.1' }));
    const { page, report } = await pageOf({
      limits: 'PerAddress: { count: 1, period: 1s, idFormat: ipAddress }\n',
      log: logOf(pinoLine, requests),
    });
    expect(report.timeline.stepMs).toBe(2000);
    expect(textOf(page)).toContain('of all clients together: each bar is the mean of 2 s.');
    expect(page).toContain('at most 2 requests per second, of which at most 1 are allowed, in means over 2 s');
  });

  it('draws the curve of a limit with its present and its suggested burst on logarithmic axes', async () => {
    const log = logOf(pinoLine, [
      ...REQUESTS.slice(0, 10),
      ...[1, 2, 3, 4].map(() => ({ ms: NOON + 20, address: '10.0.0.3' })),
      { ms: NOON + 30, address: '10.0.0.4' },
    ]);
    const { page } = await pageOf({ limits: LIMITS, log });
    // Two ids are denied with burst 1, one with burst 4 (log 4 / log 10 and log 2 / log 3), none with burst 10.
    expect(page).toContain('<path class="curve" d="M0 0L0 0L602.1 0L602.1 369.1L1000 369.1L1000 1000"/>');
    expect(page).toContain(`<line class="now" x1="47.7%" x2="47.7%"`);
    expect(page).toContain(`<line class="suggested" x1="100%" x2="100%"`);
  });

  it('shows both outcomes for a log of whole seconds, and says why', async () => {
    const limits = 'PerAddress: { count: 4, period: 1s, burst: 1, idFormat: ipAddress }\n';
    const log = logOf(
      combinedLine,
      [0, 0, 0, 0, 1000, 1000, 1000, 1000].map((ms) => ({ ms: NOON + ms, address: '10.0.0.1' })),
    );
    const { page } = await pageOf({ limits, log });
    expect(cellsOf(page, 'limits')[0]).toContain('0 to 7');
    expect(textOf(page)).toContain('12 to 15');
    // One outcome allows all four requests of each second, and the other one.
    const [, between, allowed] =
      /<path class="between" d="(.*?)"\/><path class="allowed" d="(.*?)"\/>/.exec(page) ?? [];
    expect(between).toBe('M0 1000V0H500V0H1000V1000Z');
    expect(allowed).toBe('M0 1000V750H500V750H1000V1000Z');
    expect(textOf(page)).toContain('times: $time_local, the end of the request, in whole seconds');
  });

  it('is marked as a part if the log was not read to its end', async () => {
    const zipped = gzipSync(LOG.repeat(2000));
    const part = await pageOf({ limits: LIMITS, log: zipped.subarray(0, zipped.length / 2) });
    expect(part.page).toContain('<title>Part of the log: ');
    expect(textOf(part.page)).toMatch(/about a part of the log only:\s+\S+log: the compressed file ends too early/);
    expect(cellsOf(part.page, 'files')[0]?.at(-1)).toBe('the compressed file ends too early');
    expect((await pageOf({ limits: LIMITS, log: LOG })).page).not.toMatch(/part of the log/i);
  });

  it('lists the first lines that were skipped', async () => {
    const { page } = await pageOf({ limits: LIMITS, log: `${LOG}no request\n` });
    const place = expect.stringMatching(/log:12$/) as string;
    expect(cellsOf(page, 'skipped')).toEqual([[place, 'another format', 'no request']]);
    expect(textOf(page)).toContain('skipped: 1 lines (another format)');
  });

  it('shows no text of a log as markup, and no tag more than for a harmless log', async () => {
    const hostile = [
      '"><img src=x onerror=alert(1)>',
      "'><svg/onload=alert(1)>",
      '</script><script>alert(1)</script>',
      '<!--<script>',
      ']]>&lt;b&gt;{{1}}${1}\u202E',
    ];
    const harmless = hostile.map((_, i) => `harmless${i}`);
    const pages = await Promise.all(
      [hostile, harmless].map((texts) => {
        const requests = texts.flatMap((text, n) =>
          Array.from({ length: 8 - n }, (_, i) => ({
            ms: NOON + i,
            address: '10.0.0.1',
            path: `/${text}\u0007`,
            user: text,
          })),
        );
        const log = `${logOf(
          pinoLine,
          requests.toSorted((a, b) => a.ms - b.ms),
        )}{"time":"${texts.at(0)!.replaceAll('"', '')}"}\n`;
        const limits = 'PerUser: { count: 60, period: 1m, burst: 3, idFormat: accountId }\n';
        return pageOf({ limits, log }, ['--key', 'PerUser=json:user.id', '--show-ids']);
      }),
    );
    const [bad, good] = [pages.at(0)!, pages.at(1)!];
    expect(bad.report.mostDenied.map(({ id }) => id)).toContain(hostile[2]);
    expect(bad.report.routes.map(({ route }) => route).join(' ')).toContain('<');
    expect(tagsOf(bad.page)).toEqual(tagsOf(good.page));
    for (const unseen of ['\u0007', '\u202E']) expect(bad.page).not.toContain(unseen);
    expect(dataOf(bad.page)).toEqual(bad.report);
    expect(textOf(bad.page)).toContain(hostile[0]);
  });

  it('runs no script and loads nothing, and its policy allows its own style only', async () => {
    const { page } = await pageOf({ limits: LIMITS, log: LOG });
    const [, style = ''] = /<style>(.*?)<\/style>/s.exec(page) ?? [];
    const hash = createHash('sha256').update(style).digest('base64');
    const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
    expect(textOf(/http-equiv="Content-Security-Policy" content="(.*?)"/.exec(page)?.at(1) ?? '')).toBe(policy);
    expect(page.match(/<script[^>]*>/g)).toEqual(['<script type="application/json" id="report">']);
    expect(page).not.toMatch(/<[^>]* (?:on\w+|style|href|src)=/);
  });

  it('has a language, a title, headings without gaps, captions, and no id twice', async () => {
    const { page } = await pageOf({ limits: LIMITS, log: LOG });
    expect(page).toMatch(/^<!doctype html>\n<html lang="en">/);
    expect(page).toContain(
      '<title>What the limits would have done, 2026-11-23 12:00:00 to 2026-11-23 12:00:01 (UTC)</title>',
    );
    const levels = [...page.matchAll(/<h(\d)>/g)].map(([, level]) => Number(level));
    expect(levels[0]).toBe(1);
    for (const [i, level] of levels.entries()) expect(level - (levels[i - 1] ?? 0)).toBeLessThanOrEqual(1);
    expect(page.match(/<table>/g)).toHaveLength(page.match(/<caption /g)!.length);
    const ids = [...page.matchAll(/ id="(.*?)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('reports a log without requests', async () => {
    const { page, code } = await pageOf({ limits: LIMITS, log: '' });
    expect(code).toBe(1);
    expect(textOf(page)).toContain('The log has no requests');
  });
});

describe('the colours of the page', () => {
  it.each([
    ['light', 0],
    ['dark', 1],
  ] as const)('have enough contrast in the %s scheme', (_, scheme) => {
    const colours = new Map<string, string>();
    for (const style of [PAGE_STYLE, STYLE])
      for (const [, block = ''] of [...style.matchAll(/:root \{(.*?)\}/gs)].slice(0, scheme + 1))
        for (const [, name = '', colour = ''] of block.matchAll(/--(\w+): (#\w{6});/g)) colours.set(name, colour);
    const contrast = (a: string, b: string): number => contrastOf(colours.get(a)!, colours.get(b)!);
    for (const ground of ['ground', 'panel']) {
      for (const text of ['ink', 'quiet']) expect(contrast(text, ground)).toBeGreaterThanOrEqual(4.5);
    }
    expect(contrast('ink', 'warning')).toBeGreaterThanOrEqual(4.5);
    for (const shape of ['allowed', 'denied', 'curve']) expect(contrast(shape, 'ground')).toBeGreaterThanOrEqual(3);
  });
});
