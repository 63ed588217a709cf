import { describe, expect, it } from 'vitest';
import { run } from '../run.ts';
import { replayed } from './decisions.ts';
import { files, NOON, seededRandom } from './logs.ts';
import { replayReport } from './report.ts';
import { sized } from '../../../../test/sized.ts';

/** A request from its arrival to its end, in milliseconds since 1970. */
interface Timed {
  readonly start: number;
  readonly end: number;
  readonly address: string;
}

/** Requests at random of one test. */
const MANY = sized(600, 2000);
const LIMITS = 'InFlight: { concurrency: 3, idFormat: ipAddress }\n';

/** Requests of a few clients, often several at once, in the order of their arrivals. */
function randomRequests(seed: number, count: number): Timed[] {
  const random = seededRandom(seed);
  let start = NOON;
  return Array.from({ length: count }, () => {
    start += Math.floor(random() ** 2 * 40);
    const end = start + Math.floor(random() ** 4 * 2000);
    return { start, end, address: `10.0.0.${Math.floor(random() ** 2 * 6)}` };
  });
}

function byEnd(requests: readonly Timed[]): Timed[] {
  return requests.toSorted((a, b) => a.end - b.end);
}

/**
 * Whether each request is allowed, in the order of arrivals: by counting those of its client that are allowed and have not
 * ended. Requests that arrive at the same time are in the order of the log, which is that of their ends.
 */
function allowedByCounting(requests: readonly Timed[], most: number): boolean[] {
  const allowed: Timed[] = [];
  const arrivals = byEnd(requests).toSorted((a, b) => a.start - b.start);
  return arrivals.map((request) => {
    const { start, address } = request;
    const inProgress = allowed.filter((other) => other.address === address && other.end > start);
    if (inProgress.length >= most) return false;
    allowed.push(request);
    return true;
  });
}

const seconds = (ms: number): string => (ms / 1000).toFixed(3);

/** Lines as each server writes them: when a request ends. */
const LINES = {
  json: ({ start, end, address }: Timed) => ({
    msec: seconds(end),
    request_time: seconds(end - start),
    remote_addr: address,
  }),
  pino: ({ start, end, address }: Timed) => ({ time: end, responseTime: end - start, req: { remoteAddress: address } }),
  caddy: ({ start, end, address }: Timed) => ({
    ts: end / 1000,
    duration: (end - start) / 1000,
    request: { remote_ip: address, method: 'GET', uri: '/' },
    status: 200,
  }),
  traefik: ({ start, end, address }: Timed) => ({
    time: new Date(end).toISOString(),
    StartUTC: new Date(start).toISOString(),
    Duration: (end - start) * 1e6,
    ClientHost: address,
    RequestMethod: 'GET',
    RequestPath: '/',
    DownstreamStatus: 200,
  }),
  envoy: ({ start, end, address }: Timed) => ({
    start_time: new Date(start).toISOString(),
    duration: end - start,
    downstream_remote_address: `${address}:4711`,
    method: 'GET',
    path: '/',
    response_code: 200,
  }),
};

function jsonLog(requests: readonly Timed[], line: (request: Timed) => object = LINES.json): string {
  return requests.map((request) => `${JSON.stringify(line(request))}\n`).join('');
}

/** A line of AWS' load balancer, which has the start and the end of a request. */
function albLine({ start, end, address }: Timed): string {
  const [ended, started] = [new Date(end).toISOString(), new Date(start).toISOString()];
  return `https ${ended} app/a ${address}:4711 10.1.0.1:80 0 0 0 200 200 1 1 "GET https://a:443/ HTTP/1.1" "curl" - - arn "Root=1" "a" "-" 0 ${started} "forward" "-" "-" "-" "-" "-" "-"\n`;
}

describe('a concurrency limit in a replay', () => {
  it.each([1, 2, 3])('decides as counting the requests in progress does, with random requests %i', async (seed) => {
    const requests = randomRequests(seed, MANY);
    const paths = files({ limits: LIMITS, log: jsonLog(byEnd(requests)) });
    const { decisions, report } = await replayed(paths);
    const allowed = allowedByCounting(requests, 3);
    expect(allowed.filter((each) => !each).length).toBeGreaterThan(MANY / 20);
    expect(decisions.map((decision) => decision?.allowed)).toEqual(allowed);
    expect(report.limits).toMatchObject([
      { kind: 'concurrency', burst: 3, requests: MANY, denied: { high: allowed.filter((each) => !each).length } },
    ]);
    expect(report.leftOut).toEqual([]);
  });

  it.each(Object.entries(LINES))('finds how long requests took from a log of %s', async (format, line) => {
    const requests = randomRequests(7, 300);
    const paths = files({ limits: LIMITS, log: jsonLog(byEnd(requests), line) });
    const { decisions } = await replayed(paths, { format });
    expect(decisions.map((decision) => decision?.allowed)).toEqual(allowedByCounting(requests, 3));
  });

  it('finds how long requests took from their start and end', async () => {
    const requests = randomRequests(8, 300);
    const paths = files({ limits: LIMITS, log: byEnd(requests).map(albLine).join('') });
    const { decisions, report } = await replayed(paths);
    expect(report.input.files).toMatchObject([{ format: 'alb' }]);
    expect(decisions.map((decision) => decision?.allowed)).toEqual(allowedByCounting(requests, 3));
  });

  it('takes no slot for a request that another limit denies, and counts both', async () => {
    const limits = `PerAddress: { count: 1, period: 1s, burst: 2, idFormat: ipAddress }\n${LIMITS.replace('3', '2')}`;
    const at = (start: number, end: number): Timed => ({ start: NOON + start, end: NOON + end, address: '10.0.0.1' });
    // The second to fourth wait for tokens or slots; the fifth has a token and a slot again.
    const requests = [at(0, 1500), at(1, 1500), at(2, 1500), at(1400, 3000), at(1500, 2000), at(1501, 2000)];
    const { decisions, report } = await replayed(files({ limits, log: jsonLog(byEnd(requests)) }));
    expect(decisions.map((decision) => decision?.results.map(({ allowed }) => allowed))).toEqual([
      [true, true],
      [true, true],
      [false, false],
      [true, false],
      [true, true],
      [false, true],
    ]);
    expect(report.limits.map(({ name, denied }) => [name, denied.high])).toEqual([
      ['PerAddress', 2],
      ['InFlight', 2],
    ]);
  });

  it('counts a request that waits for its turn until the later end that it then has', async () => {
    const limits = `Slow: { count: 1, period: 1s, burst: 1, maxWait: 5s, idFormat: ipAddress }\n${LIMITS.replace('3', '2')}`;
    const at = (start: number, end: number): Timed => ({ start: NOON + start, end: NOON + end, address: '10.0.0.1' });
    // The second waits until 1000 and ends at 1100, so the third finds only one slot in use, and the fourth two.
    const requests = [at(0, 1), at(1, 101), at(500, 600), at(501, 602), at(2700, 2701)];
    const { decisions } = await replayed(files({ limits, log: jsonLog(requests) }));
    expect(decisions.map((decision) => decision?.allowed)).toEqual([true, true, true, false, true]);
  });

  it('counts a request for as long as it takes, even longer than the longest expiry', async () => {
    const hour = 3_600_000;
    const long = { start: NOON, end: NOON + 5 * hour, address: '10.0.0.1' };
    const short = [1, 4.9, 5, 5.1].map((hours) => {
      return { start: NOON + hours * hour, end: NOON + hours * hour + 1, address: '10.0.0.1' };
    });
    // In the order of arrivals, as a log that was sorted.
    const log = jsonLog([long, ...short], LINES.envoy);
    const limits = LIMITS.replace('3', '1, expiry: 1s');
    const { decisions, report } = await replayed(files({ limits, log }));
    expect(report.input.late).toBe(0);
    expect(decisions.map((decision) => decision?.allowed)).toEqual([true, false, false, true, true]);
  });

  it('decides the limits of each process as one process', async () => {
    const requests = randomRequests(9, 500);
    const log = jsonLog(byEnd(requests));
    const expected = allowedByCounting(requests, 3);
    const local = await replayed(files({ limits: LIMITS.replace('3', '3, scope: process'), log }));
    expect(local.decisions.map((decision) => decision?.allowed)).toEqual(expected);
    expect(local.report.notes.join('\n')).toContain('Each process counts InFlight by itself');
  });

  it('takes as many slots as a request costs, and applies overrides', async () => {
    const at = (start: number, address: string): Timed => ({ start: NOON + start, end: NOON + 100 + start, address });
    const log = [at(0, '10.0.0.1'), at(1, '10.0.0.1'), at(2, '10.0.0.2'), at(3, '10.0.0.2'), at(4, '10.0.0.2')]
      .map((request) => `${JSON.stringify({ ...LINES.json(request), request: 'POST /a HTTP/1.1' })}\n`)
      .join('');
    const overrides = '- InFlight: { concurrency: 4, ids: [10.0.0.2] }\n';
    const { decisions } = await replayed(files({ limits: LIMITS, overrides, log }), { costs: ['POST /a=2'] });
    expect(decisions.map((decision) => decision?.allowed)).toEqual([true, false, true, true, false]);
  });

  it('shows for each number of slots how many ids would ever be denied, exactly as a replay with it', async () => {
    const log = jsonLog(byEnd(randomRequests(5, sized(400, 1500))));
    const { limits } = files({ limits: LIMITS });
    const report = await replayReport(['-', '--limits', limits], { stdin: log });
    const points = report.limits[0]?.curve?.points ?? [];
    expect(points.length).toBeGreaterThan(3);
    for (const { burst, deniedIds } of points) {
      const again = files({ limits: LIMITS.replace('3', `${burst}`) });
      const other = await replayReport(['-', '--limits', again.limits], { stdin: log });
      expect({ burst, ...other.limits[0]?.deniedIds }).toEqual({ burst, ...deniedIds });
    }
  });

  it('is described in the report, with what it suggests', async () => {
    const paths = files({ limits: LIMITS, log: jsonLog(byEnd(randomRequests(5, sized(400, 1500)))) });
    const { out } = await run(['replay', paths.log, '--limits', paths.limits]);
    expect(out).toContain('InFlight  3 at the same time, by ipAddress');
    expect(out).toMatch(/smallest {2}concurrency that denies at most 0\.1 % of ids: \d+, which denies none\n/);
  });

  it.each([
    ['the times of the log are whole seconds', (line: string) => line.replace(/(?<=\d)\.\d\d\d"/g, '"')],
    ['the log has no durations of requests', (line: string) => line.replaceAll('request_time', 'other')],
  ])('is left out if %s', async (reason, changed) => {
    const limits = `PerAddress: { count: 9, period: 1s, idFormat: ipAddress }\n${LIMITS}`;
    const paths = files({ limits, log: changed(jsonLog(byEnd(randomRequests(6, 100)))) });
    const { report } = await replayed(paths);
    expect(report.limits.map(({ name }) => name)).toEqual(['PerAddress']);
    expect(report.leftOut).toMatchObject([{ limit: 'InFlight', reason: expect.stringContaining(reason) as string }]);
  });

  it('counts requests without a duration as ended when they arrive, and notes it', async () => {
    const requests = randomRequests(6, 200);
    const lines = byEnd(requests).map((request, i) => ({
      ...LINES.json(request),
      ...(i % 4 === 3 && { msec: seconds(request.start), request_time: '-' }),
    }));
    const paths = files({ limits: LIMITS, log: lines.map((line) => `${JSON.stringify(line)}\n`).join('') });
    const { report, decisions } = await replayed(paths);
    expect(report.notes.join('\n')).toContain('50 requests have no duration');
    const ended = byEnd(requests).map((request, i) => (i % 4 === 3 ? { ...request, end: request.start } : request));
    expect(decisions.filter((decision) => decision?.allowed === false)).toHaveLength(
      allowedByCounting(ended, 3).filter((each) => !each).length,
    );
  });

  it('releases slots early when more requests are in progress than fit into memory, and notes it', async () => {
    const requests = Array.from({ length: 20_020 }, (_, i) => {
      return { start: NOON + Math.floor(i / 10), end: NOON + 40_000 + (i % 7), address: `10.${i & 255}.${i >> 8}.1` };
    });
    const paths = files({ limits: LIMITS, log: jsonLog(requests) });
    const { report } = await replayed(paths);
    expect(report.totals.denied.high).toBe(0);
    expect(report.notes.join('\n')).toContain('More than 20,000 requests held slots at once: 20 released theirs');
  });
});
