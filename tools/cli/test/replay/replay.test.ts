import { describe, expect, it } from 'vitest';
import { run } from '../run.ts';
import { combinedLine, files, logOf, NOON, pinoLine, seededRandom, type Logged } from './logs.ts';
import { replayReport } from './report.ts';
import { sized } from '../../../../test/sized.ts';

const LIMITS = 'PerAddress: { count: 60, period: 1m, burst: 3, idFormat: ipAddress }\n';
const ADDRESS = '203.0.113.7';

/** Requests at distances in milliseconds. */
function requestsAt(...ms: readonly number[]): Logged[] {
  return ms.map((each) => ({ ms: NOON + each, address: ADDRESS }));
}

/** The rule as it is in a textbook: a bucket of tokens, in whole thousandths of a token. */
function deniedByTextbook(
  requests: readonly Logged[],
  { burst, msPerToken }: { burst: number; msPerToken: number },
): number {
  const buckets = new Map<string, { left: number; ms: number }>();
  let denied = 0;
  for (const { ms, address } of requests) {
    const bucket = buckets.get(address) ?? { left: burst * msPerToken, ms };
    bucket.left = Math.min(burst * msPerToken, bucket.left + ms - bucket.ms);
    bucket.ms = ms;
    buckets.set(address, bucket);
    if (bucket.left >= msPerToken) bucket.left -= msPerToken;
    else denied++;
  }
  return denied;
}

describe('sluice replay', () => {
  it('reports who would have been denied, and which of these requests had succeeded', async () => {
    const requests = [...requestsAt(0, 1, 2, 3, 4), ...requestsAt(5, 6).map((each) => ({ ...each, status: 500 }))];
    const { limits, log } = files({
      limits: LIMITS,
      log: logOf(pinoLine, [...requests, { ms: NOON + 7, address: '::1' }]),
    });
    const report = await replayReport([log, '--limits', limits]);
    expect(report.totals).toMatchObject({
      requests: 8,
      denied: { low: 4, high: 4 },
      deniedSuccesses: { low: 2, high: 2 },
    });
    expect(report.limits).toMatchObject([
      {
        name: 'PerAddress',
        kind: 'rate',
        burst: 3,
        requests: 8,
        ids: 2,
        deniedIds: { low: 1, high: 1 },
        denied: { low: 4 },
      },
    ]);
    expect(report).toMatchObject({ passes: ['as logged'], partial: [], input: { lines: 8, requests: 8, late: 0 } });
  });

  it.each([1, 2, 3, 4, 5])(
    'denies as many requests as a textbook bucket does, with random arrivals %i',
    async (seed) => {
      const random = seededRandom(seed);
      let ms = NOON;
      const requests = Array.from({ length: 400 }, () => {
        ms += Math.floor(random() ** 3 * 1500);
        return { ms, address: `10.0.0.${Math.floor(random() * 4)}` };
      });
      const { limits } = files({ limits: LIMITS });
      const report = await replayReport(['-', '--limits', limits], { stdin: logOf(pinoLine, requests) });
      const denied = deniedByTextbook(requests, { burst: 3, msPerToken: 1000 });
      expect(denied).toBeGreaterThan(0);
      expect(report.totals.denied).toEqual({ low: denied, high: denied });
    },
  );

  it('counts all requests of a denied client in its timeline, from its first denial', async () => {
    const log = logOf(pinoLine, [...requestsAt(0, 1), ...requestsAt(4000, 4001, 4002, 4003, 4004, 5500, 9000)]);
    const { limits } = files({ limits: LIMITS });
    const { mostDenied } = await replayReport(['-', '--limits', limits], { stdin: log });
    expect(mostDenied).toMatchObject([{ requests: 9, denied: { low: 2, high: 2 } }]);
    expect(mostDenied.at(0)?.timeline).toEqual({
      startMs: NOON + 4000,
      stepMs: 1000,
      counts: [
        [2, 1, 0, 0, 0, 1],
        [2, 0, 0, 0, 0, 0],
      ],
    });
  });

  it('replays a log of whole seconds twice, and shows both outcomes as a band', async () => {
    // One of four at the start of a second passes. Spread over it, they are as far apart as tokens come back.
    const requests = [0, 1].flatMap((second) => requestsAt(...Array.from({ length: 4 }, () => second * 1000)));
    const limits = 'PerAddress: { count: 4, period: 1s, burst: 1, idFormat: ipAddress }\n';
    const written = files({ limits, log: logOf(combinedLine, requests) });
    const report = await replayReport([written.log, '--limits', written.limits]);
    expect(report.passes).toEqual(['at the start of the second', 'spread over the second']);
    // All of eight at noon and a second later can pass, or only one.
    expect(report.totals.denied).toEqual({ low: 0, high: 7 });
    expect(report.totals.allowedPeakPerSecond).toEqual({ low: 1, high: 4 });
    expect(report.input.time).toEqual({ field: '$time_local', resolution: 'second', moment: 'end of the request' });
  });

  it('decides at the arrival of a request when the log has its duration', async () => {
    const format = '$msec $request_time $remote_addr "$request" $status';
    // Logged in the order of their ends; they arrived a second apart.
    const lines = ['7.000 3.000', '7.001 2.001', '7.002 1.002', '7.003 0.003', '8.000 0.000'].map((text) => {
      const [end, duration] = text.split(' ');
      return `${NOON / 1000 + Number(end)} ${duration} ${ADDRESS} "GET / HTTP/1.1" 200\n`;
    });
    const { limits, log } = files({ limits: LIMITS.replace('burst: 3', 'burst: 1'), log: lines.join('') });
    const report = await replayReport([log, '--limits', limits, '--format', format]);
    expect(report.totals).toMatchObject({ requests: 5, denied: { low: 0, high: 0 } });
    expect(report.input.time).toEqual({ field: '$msec − $request_time', resolution: 'fraction', moment: 'arrival' });
  });

  it('shows for each burst how many ids would ever be denied, exactly as a replay with that burst', async () => {
    const requests = Array.from({ length: 300 }, (_, i) => ({
      ms: NOON + ((i * 37) % 401),
      address: `10.0.0.${Math.floor(Math.sqrt(i))}`,
    }));
    const log = logOf(
      pinoLine,
      requests.toSorted((a, b) => a.ms - b.ms),
    );
    const report = await replayReport(['-', '--limits', files({ limits: LIMITS }).limits], { stdin: log });
    const points = report.limits[0]?.curve?.points ?? [];
    expect(points.length).toBeGreaterThan(3);
    expect(points.at(-1)?.deniedIds.high).toBe(0);
    for (const { burst, deniedIds } of points) {
      const { limits } = files({ limits: LIMITS.replace('burst: 3', `burst: ${burst}`) });
      const again = await replayReport(['-', '--limits', limits], { stdin: log });
      expect({ burst, ...again.limits[0]?.deniedIds }).toEqual({ burst, ...deniedIds });
    }
  });

  it('counts quotas by the calendar of the log', async () => {
    const limits = 'Daily: { count: 2, per: day, idFormat: ipAddress }\n';
    const night = Date.UTC(2026, 10, 23, 23, 59, 58);
    const requests = [0, 1, 2, 2001, 2002, 2003].map((ms) => ({ ms: night + ms, address: ADDRESS }));
    const report = await replayReport(['-', '--limits', files({ limits }).limits], {
      stdin: logOf(pinoLine, requests),
    });
    expect(report.limits).toMatchObject([{ kind: 'quota', denied: { low: 2, high: 2 } }]);
    expect(report.limits[0]?.curve?.points).toMatchObject([{ burst: 3, deniedIds: { high: 0 } }]);
  });

  it('uses overrides, and leaves their ids out of the curve', async () => {
    const { limits, overrides, log } = files({
      limits: LIMITS,
      overrides: `- PerAddress: { unlimited: true, ids: [${ADDRESS}] }\n- PerAddress: { blocked: true, ids: [10.0.0.1] }\n`,
      log: logOf(pinoLine, [
        ...requestsAt(0, 0, 0, 0, 0),
        { ms: NOON, address: '10.0.0.1' },
        { ms: NOON, address: '10.0.0.2' },
      ]),
    });
    const report = await replayReport([log, '--limits', limits, '--overrides', overrides]);
    expect(report.totals.denied).toEqual({ low: 1, high: 1 });
    expect(report.limits[0]).toMatchObject({
      overridden: 6,
      curve: { points: [{ burst: 1, deniedIds: { high: 0 } }] },
    });
  });

  it('gets ids from a field of JSON, and does not apply a limit to requests without it', async () => {
    const requests = ['7', '7', undefined, '8'].map((user): Logged => ({
      ms: NOON,
      address: ADDRESS,
      ...(user !== undefined && { user }),
    }));
    const { limits, log } = files({
      limits: 'Orders: { count: 1, period: 1m, idFormat: accountId }\n',
      log: logOf(pinoLine, requests),
    });
    const report = await replayReport([log, '--limits', limits, '--key', 'Orders=json:user.id', '--show-ids']);
    expect(report.limits).toMatchObject([
      { requests: 3, ids: 2, denied: { high: 1 }, withoutId: 1, key: 'json:user.id' },
    ]);
    expect(report.mostDenied).toMatchObject([{ limit: 'Orders', id: '7', requests: 2, denied: { high: 1 } }]);
    expect(report.notes).toContainEqual('25 % of the requests have no json:user.id: Orders does not apply to them.');
  });

  it('finds clients behind trusted proxies as a server does', async () => {
    const format = '$remote_addr "$http_x_forwarded_for" $msec "$request"';
    const log = ['1.2.3.4', '6.6.6.6, 1.2.3.5', '1.2.3.4'].map(
      (xff) => `10.0.0.1 "${xff}" ${NOON / 1000}.000 "GET / HTTP/1.1"\n`,
    );
    const { limits } = files({ limits: LIMITS });
    const args = ['-', '--limits', limits, '--format', format];
    expect((await replayReport(args, { stdin: log.join('') })).limits).toMatchObject([{ ids: 1 }]);
    expect((await replayReport([...args, '--trust', 'private'], { stdin: log.join('') })).limits).toMatchObject([
      { ids: 2 },
    ]);
  });

  it('takes keys, costs and the requests of a limit as the server has them', async () => {
    const keys = `export const keys = { Orders: { format: { name: 'user', canonical: (text) => text }, idOf: ({ request }) => request.headers['x-user'] ?? request.log.user?.id ?? null } };`;
    const {
      limits,
      log,
      'keys.mjs': module,
    } = files({
      limits: 'Orders: { count: 10, period: 1m }\n',
      log: logOf(pinoLine, [
        { ms: NOON, address: ADDRESS, user: 'a', method: 'POST', path: '/orders?x=1' },
        { ms: NOON, address: ADDRESS, user: 'a', method: 'POST', path: '/orders' },
        { ms: NOON, address: ADDRESS, user: 'a', path: '/orders' },
        { ms: NOON, address: ADDRESS, user: 'a', method: 'POST', path: '/orders' },
      ]),
      'keys.mjs': keys,
    });
    const rules = ['--cost', 'POST /orders=5', '--only', 'Orders=POST /orders', '--route', 'POST /orders'];
    const report = await replayReport([log, '--limits', limits, '--keys', module, ...rules]);
    expect(report.limits).toMatchObject([{ requests: 3, denied: { high: 1 }, ids: 1 }]);
    expect(report.routes).toEqual([
      {
        route: 'POST /orders',
        requests: 3,
        denied: { low: 1, high: 1 },
        limits: [{ limit: 'Orders', denied: { low: 1, high: 1 }, deniedIds: { low: 1, high: 1 } }],
      },
      { route: 'other', requests: 1, denied: { low: 0, high: 0 }, limits: [] },
    ]);
  });

  it.each([
    ['$remote_addr [$time_local] "$request" $status "$http_x_tenant"', (tenant: string) => combinedStart(tenant)],
    ['json', (tenant: string) => `{"time":${NOON},"ip":"${ADDRESS}","headers":{"X-Tenant":"${tenant}"}}\n`],
  ])('gives a key function all headers that a log of %s has', async (format, line) => {
    const keys = `export const keys = { Orders: { format: { name: 'tenant', canonical: String }, idOf: ({ request }) => request.headers['x-tenant'] ?? null } };`;
    const written = files({
      limits: 'Orders: { count: 1, period: 1m }\n',
      log: ['a', 'b', 'a', '-'].map(line).join(''),
      'keys.mjs': keys,
    });
    const args = ['--limits', written.limits, '--keys', written['keys.mjs'], '--format', format, '--show-ids'];
    const report = await replayReport([written.log, ...args]);
    expect(report.limits).toMatchObject([{ requests: format === 'json' ? 4 : 3, denied: { high: 1 } }]);
    expect(report.mostDenied).toMatchObject([{ id: 'a' }]);
  });

  it('groups paths without ids, and tells at most 200 routes apart', async () => {
    const requests = Array.from({ length: 400 }, (_, i) => ({
      ms: NOON,
      address: ADDRESS,
      path:
        i < 100
          ? `/users/${i}/orders/3f2a9c1e-0b7d-4c4e-9a55-0d9a2b7c1e11?x`
          : `/page-${String.fromCharCode(97 + (i % 26))}x${i}`,
    }));
    const report = await replayReport(['-', '--limits', files({ limits: LIMITS }).limits], {
      stdin: logOf(pinoLine, requests),
    });
    expect(report.routes).toHaveLength(200);
    expect(report.routes).toContainEqual(
      expect.objectContaining({ route: 'GET /users/:id/orders/:id', requests: 100 }),
    );
    expect(report.routes.reduce((sum, { requests: count }) => sum + count, 0)).toBe(400);
  });

  it('hides ids unless they are asked for', async () => {
    const { limits } = files({ limits: LIMITS });
    const stdin = logOf(pinoLine, requestsAt(0, 0, 0, 0));
    for (const json of [[], ['--json']]) {
      const { out } = await run(['replay', '-', '--limits', limits, ...json], { stdin });
      expect(out).toMatch(/client-[0-9a-f]{10}/);
      expect(out).not.toContain(ADDRESS);
      expect((await run(['replay', '-', '--limits', limits, ...json, '--show-ids'], { stdin })).out).toContain(ADDRESS);
    }
  });

  it('decides the logs of several servers in the order of time', async () => {
    const count = sized(1000, 4000);
    const all = Array.from({ length: count }, (_, i) => ({ ms: NOON + i * 100, address: `10.0.0.${(i * i) % 7}` }));
    const one = files({
      limits: LIMITS,
      all: logOf(pinoLine, all),
      web1: logOf(
        pinoLine,
        all.filter((_, i) => i % 3 === 0),
      ),
      web2: logOf(
        combinedFraction,
        all.filter((_, i) => i % 3 !== 0),
      ),
    });
    const [together, apart] = [
      await replayReport([one.all, '--limits', one.limits]),
      await replayReport([one.web2, one.web1, '--limits', one.limits]),
    ];
    expect(apart.totals).toEqual(together.totals);
    expect(apart.input).toMatchObject({ requests: count, late: 0, files: [{ format: 'pino' }, { format: 'json' }] });
    expect(together.totals.denied.high).toBeGreaterThan(0);
  });

  it('reports load and concurrency limits as left out', async () => {
    const limits = `${LIMITS}Busy: { load: {} }\nInFlight: { concurrency: 3, idFormat: ipAddress }\n`;
    const report = await replayReport(['-', '--limits', files({ limits }).limits], {
      stdin: logOf(pinoLine, requestsAt(0)),
    });
    expect(report.limits.map(({ name }) => name)).toEqual(['PerAddress']);
    expect(report.leftOut.map(({ limit }) => limit)).toEqual(['Busy', 'InFlight']);
  });

  it('reports a limits file with errors as the server does', async () => {
    const { limits, log } = files({ limits: LIMITS.replace('60', '0'), log: logOf(pinoLine, requestsAt(0)) });
    const { code, err } = await run(['replay', log, '--limits', limits]);
    expect(code).toBe(1);
    expect(err).toContain(`${limits}:1:22: \`PerAddress.count\` must be a whole number`);
  });
});

function combinedStart(tenant: string): string {
  return `${ADDRESS} [23/Nov/2026:13:05:59 +0000] "GET / HTTP/1.1" 200 "${tenant}"\n`;
}

function combinedFraction({ ms, address }: Logged): string {
  return JSON.stringify({
    msec: (ms / 1000).toFixed(3),
    remote_addr: address,
    request: 'GET / HTTP/1.1',
    status: '200',
  });
}
