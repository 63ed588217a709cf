import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { run } from '../run.ts';
import { files } from './logs.ts';
import { replayReport } from './report.ts';

const LIMITS = 'PerAddress: { count: 1, period: 1d, burst: 1, idFormat: ipAddress }\n';

function sample(name: string): string {
  return readFileSync(new URL(`samples/${name}.log`, import.meta.url), 'utf8');
}

/** What a replay shall find in a sample of which each line is there twice. */
interface Expected {
  readonly format: string;
  /** The time of the first request. */
  readonly from: string;
  readonly field: string;
  /** The addresses, most requests first, with how many. */
  readonly ids: Readonly<Record<string, number>>;
  readonly routes: readonly string[];
  /** How many denied requests had succeeded. */
  readonly deniedSuccesses: number;
  readonly withoutId?: number;
}

const LOCAL = { '127.0.0.1': 4, '::1': 4 };
const NGINX = { ids: LOCAL, routes: ['GET /a', 'GET /%22x%20y'], deniedSuccesses: 6, from: '2026-11-27T04:55:51.000Z' };
const APACHE = {
  ids: { '127.0.0.1': 10, '::1': 4 },
  routes: ['GET /index.html', 'GET /%22x%20y', '? ', 'GET /"x', 'GET /a'],
  deniedSuccesses: 2,
  from: '2026-11-27T04:58:58.000Z',
};
const HAPROXY = { ...NGINX, from: '2026-11-27T04:55:51.645Z', field: '%tr' };
const CADDY = { ...NGINX, format: 'caddy', field: 'ts − duration', from: '2026-11-27T04:55:52.269Z' };
const GATEWAY = {
  field: 'start_time',
  from: '2024-08-08T00:21:14.929Z',
  ids: { '172.19.0.1': 2, '2001:db8::7': 2 },
  routes: ['HEAD /a', 'GET /a'],
  deniedSuccesses: 1,
};

/**
 * Logs of real servers: of nginx 1.22, Apache 2.4, HAProxy 2.6 and Caddy 2.6, which test/proxies/logs.test.ts runs too; and as
 * the documentations of AWS, IIS, Envoy, Istio and Traefik have them. The prefixes are those of Kubernetes, Docker and syslog.
 */
const SAMPLES: Readonly<Record<string, Expected>> = {
  'nginx-combined': { ...NGINX, format: 'combined', field: '$time_local' },
  'nginx-main': { ...NGINX, format: 'main', field: '$time_local' },
  'nginx-host-port': { ...NGINX, format: 'vhost_combined', field: '%t' },
  'nginx-address-port': { ...NGINX, format: 'combined', field: '$time_local' },
  'nginx-json': {
    ...NGINX,
    format: 'json',
    field: 'msec − request_time',
    from: '2026-11-27T04:55:51.361Z',
  },
  'nginx-json-port': { ...NGINX, format: 'json', field: '@timestamp − request_time' },
  'nginx-syslog': { ...NGINX, format: 'combined after a prefix', field: '$time_local' },
  'syslog-5424': { ...NGINX, format: 'combined after a prefix', field: '$time_local' },
  'cri-nginx': { ...NGINX, format: 'combined after a prefix', field: '$time_local' },
  'compose-nginx': { ...NGINX, format: 'combined after a prefix', field: '$time_local' },
  'kubectl-nginx': { ...NGINX, format: 'combined after a prefix', field: '$time_local' },
  'docker-nginx': { ...NGINX, format: 'combined in JSON', field: '$time_local' },
  'fluent-bit-cri': { ...NGINX, format: 'combined after a prefix in JSON', field: '$time_local' },
  'apache-combined': { ...APACHE, format: 'combined', field: '$time_local' },
  'apache-common': { ...APACHE, format: 'combined', field: '$time_local' },
  'apache-vhost_combined': { ...APACHE, format: 'vhost_combined', field: '%t' },
  // The address is the last one of X-Forwarded-For, and only 2 of 7 requests came through a proxy.
  'apache-xff': {
    ...APACHE,
    format: 'combined',
    field: '$time_local',
    ids: { '10.0.0.7': 4 },
    deniedSuccesses: 3,
    withoutId: 10,
  },
  'haproxy-httplog': {
    ...HAPROXY,
    format: 'haproxy',
    ids: { '127.0.0.1': 10, '::1': 4 },
    routes: ['GET /a', 'GET /%22x%20y', '? <BADREQ>', 'GET /#22x'],
    deniedSuccesses: 8,
  },
  'haproxy-no-captures': {
    ...HAPROXY,
    format: 'haproxy',
    from: '2026-11-27T04:55:52.782Z',
    ids: { '127.0.0.1': 10 },
    routes: ['? <BADREQ>', 'GET /a', 'GET /%22x%20y', 'GET /#22x'],
    deniedSuccesses: 5,
  },
  'haproxy-syslog': { ...HAPROXY, format: 'haproxy after a prefix' },
  'rsyslog-haproxy': { ...HAPROXY, format: 'haproxy after a prefix' },
  'haproxy-clf': {
    ...NGINX,
    format: 'combined',
    field: '$time_local',
    from: '2026-11-27T04:55:52.000Z',
    ids: { '127.0.0.1': 4 },
    deniedSuccesses: 3,
  },
  caddy: CADDY,
  'cri-caddy': { ...CADDY, format: 'caddy after a prefix' },
  'traefik-clf': {
    format: 'traefik',
    field: '%t',
    from: '2026-11-23T13:05:59.000Z',
    ids: { '192.168.1.5': 2, '2001:db8::7': 2 },
    routes: ['GET /a', 'GET /b'],
    deniedSuccesses: 1,
  },
  traefik: {
    format: 'traefik',
    field: 'StartUTC',
    from: '2026-11-23T13:05:59.123Z',
    ids: { '192.168.1.5': 2 },
    routes: ['GET /a'],
    deniedSuccesses: 1,
  },
  'envoy-text': {
    format: 'envoy',
    field: '%START_TIME%',
    from: '2016-04-15T20:17:00.310Z',
    ids: { '10.0.35.28': 4 },
    routes: ['POST /api/v1/locations', 'GET /a'],
    deniedSuccesses: 3,
  },
  'istio-text': {
    format: 'envoy',
    field: '%START_TIME%',
    from: '2020-11-25T21:26:18.409Z',
    ids: { '10.44.1.23': 4 },
    routes: ['GET /status/:id'],
    deniedSuccesses: 0,
  },
  'envoy-gateway': { ...GATEWAY, format: 'envoy' },
  'docker-envoy-gateway': { ...GATEWAY, format: 'envoy in JSON' },
  'aws-alb': {
    format: 'alb',
    field: '$request_creation_time',
    from: '2018-07-02T22:22:48.364Z',
    ids: { '192.168.131.39': 6, '10.0.1.252': 2, '10.0.0.140': 2 },
    routes: ['GET /'],
    deniedSuccesses: 4,
  },
  'aws-elb': {
    format: 'elb',
    field: '$timestamp',
    from: '2015-05-13T23:39:43.945Z',
    ids: { '192.168.131.39': 4, '2001:db8::7': 2 },
    routes: ['GET /'],
    deniedSuccesses: 3,
  },
  'aws-cloudfront': {
    format: 'w3c',
    field: 'date time − time-taken',
    from: '2019-12-04T21:02:30.750Z',
    ids: { '192.0.2.100': 2, '2001:db8::7': 2 },
    routes: ['GET /index.html'],
    deniedSuccesses: 2,
  },
  iis: {
    format: 'w3c',
    field: 'date time − time-taken',
    from: '2026-03-17T08:01:11.477Z',
    ids: { '10.0.1.50': 4, '10.0.1.51': 2 },
    routes: ['POST /Admin/EditUser.aspx', 'GET /Dashboard.aspx', 'GET /style.css'],
    deniedSuccesses: 3,
  },
};

/** Replays a log of which each line is there twice, so that all its addresses are denied. */
async function replayed(text: string, args: readonly string[] = []): Promise<Expected> {
  const { limits } = files({ limits: LIMITS });
  const stdin = text.replace(/^[^#\n][^\n]*\n/gm, '$&$&');
  const report = await replayReport(['-', '--limits', limits, '--show-ids', ...args], { stdin });
  const { files: logs, skipped, late, time, fromMs } = report.input;
  const { withoutId } = report.limits[0]!;
  expect({ skipped: Object.values(skipped), late, partial: report.partial }).toEqual({
    skipped: [0, 0, 0, 0],
    late: 0,
    partial: [],
  });
  return {
    format: logs[0]!.format,
    field: time.field,
    from: new Date(Math.floor(fromMs!)).toISOString(),
    ids: Object.fromEntries(report.mostDenied.map(({ id, requests }) => [id, requests])),
    // Without the bytes of a TLS handshake.
    routes: report.routes.map(({ route }) => route.replaceAll(/\p{Cc}/gu, '')).toSorted(),
    deniedSuccesses: report.totals.deniedSuccesses.high,
    ...(withoutId > 0 && { withoutId }),
  };
}

describe('sluice replay', () => {
  it.each(Object.entries(SAMPLES))('reads %s without being told its format', async (name, { routes, ...expected }) => {
    expect(await replayed(sample(name))).toEqual({ ...expected, routes: routes.toSorted() });
  });

  it.each([
    ['nginx-host-port', '$host:$server_port $remote_addr - $remote_user [$time_local] "$request" $status', NGINX],
    ['nginx-address-port', '$remote_addr:$remote_port - $remote_user [$time_local] "$request" $status', NGINX],
    [
      'nginx-msec',
      'log_format msec escape=json "$msec $remote_addr $request_method $request_uri $status $request_time";',
      { ...NGINX, from: '2026-11-27T04:55:51.361Z' },
    ],
    [
      'nginx-key-value',
      'time=$time_iso8601 addr=$remote_addr port=$remote_port method=$request_method uri="$request_uri" status=$status rt=$request_time',
      NGINX,
    ],
    [
      'nginx-forwarded',
      '$http_x_forwarded_for - $remote_user [$time_local] "$request" $status',
      { ...NGINX, ids: { '10.0.0.7': 4 }, deniedSuccesses: 3, withoutId: 4 },
    ],
    ['apache-port', String.raw`%a:%{remote}p %t "%r" %>s %D`, APACHE],
    ['apache-port', String.raw`LogFormat "%a:%{remote}p %t \"%r\" %>s %D" port`, APACHE],
    [
      'apache-iso',
      '%{%Y-%m-%dT%H:%M:%S}t.%{msec_frac}t%{%z}t %a %m %U%q %>s %{ms}T',
      {
        ...APACHE,
        from: '2026-11-27T04:58:58.122Z',
        routes: ['GET /index.html', String.raw`GET /\"x y`, '?', 'GET /"x', 'GET /a'],
      },
    ],
    [
      'haproxy-syslog',
      'log-format "%ci:%cp [%tr] %ft %b/%s %TR/%Tw/%Tc/%Tr/%Ta %ST %B %CC %CS %tsc %ac/%fc/%bc/%sc/%rc %sq/%bq %hr %hs %{+Q}r"',
      HAPROXY,
    ],
  ])('reads %s by the text of its format: %s', async (name, text, { from, ids, deniedSuccesses, ...rest }) => {
    const withoutId = 'withoutId' in rest ? { withoutId: rest.withoutId } : {};
    expect(await replayed(sample(name), ['--format', text])).toMatchObject({
      from,
      ids,
      deniedSuccesses,
      ...withoutId,
    });
  });

  it('steps from the last address of a list to the first that is not a trusted proxy', async () => {
    expect((await replayed(sample('apache-xff'), ['--trust', '10.0.0.0/8'])).ids).toEqual({ '203.0.113.9': 4 });
    expect((await replayed(sample('envoy-text'), ['--trust', '10.0.0.0/8'])).ids).toEqual({
      '10.0.35.28': 2,
      '203.0.113.9': 2,
    });
    expect((await replayed(sample('aws-cloudfront'), ['--trust', '192.0.2.0/24'])).ids).toEqual({
      '203.0.113.9': 2,
      '2001:db8::7': 2,
    });
    expect((await replayed(sample('iis'), ['--trust', '10.0.0.0/8'])).ids).toMatchObject({ '203.0.113.9': 2 });
  });

  it.each([
    ['haproxy-tcplog', 'a log of connections, not of requests. In HAProxy, use mode http with option httplog.'],
    ['caddy-console', 'a log for people. In Caddy, use format json.'],
    [
      '2026/11/27 04:55:51 [error] 29447#29447: *1 open() "/x" failed\n',
      'a log of errors, which has no line for each request. Give the access log.',
    ],
    ['[Fri Nov 27 04:58:56.072993 2026] [core:error] [pid 1:tid 1] AH00126: Invalid URI\n', 'a log of errors'],
    ['2026-03-17 08:01:15 10.0.2.10 GET /a - 80 - 10.0.1.50 - 200 0 0 1250\n', 'whose line #Fields: is missing'],
    [
      'tls 2.0 2018-12-20T02:59:40 net/my-lb/c6e7 g3d4 72.21.218.154:51341 172.100.100.185:443 5 2 98 246 - arn\n',
      'a log of connections, not of requests: that of a Network Load Balancer.',
    ],
    [
      '2026-10-04T17:05:15.514108Z 192.0.2.1 36280 443 TLSv1.2 ECDHE-RSA-AES128-GCM-SHA256 4.036 - - - - - TID_3180\n',
      'a log of connections, not of requests: that of an Application Load Balancer. Give its access log.',
    ],
    [
      '2026-10-04T17:05:15.514108Z 192.0.2.1 36280 80 - - - - - - - - TID_3180\n',
      'a log of connections, not of requests: that of an Application Load Balancer. Give its access log.',
    ],
    [
      '#Software: Microsoft IIS\n#Date: 2026-03-17 08:01:15\n#Fields: time c-ip cs-method sc-status\n08:01:15 192.0.2.1 GET 200\n',
      'a W3C log whose lines have no date and time',
    ],
    ['BZh91AY&SY\n', 'compressed with bzip2. Decompress it first: bzcat file.bz2 | sluice replay - …'],
  ])('refuses %s, says what it is, and what to do', async (name, reason) => {
    const { limits } = files({ limits: LIMITS });
    const stdin = name.endsWith('\n') ? name : sample(name);
    const { code, err } = await run(['replay', '-', '--limits', limits], { stdin });
    expect({ code, err: err.replaceAll(/\s+/g, ' ') }).toEqual({
      code: 2,
      err: expect.stringContaining(reason) as string,
    });
  });

  it('shows at its top that more than 1 % of the ids are not valid, and exits with 1', async () => {
    const { limits } = files({ limits: LIMITS });
    const line = (address: string): string => `${address} - - [23/Nov/2026:13:05:59 +0000] "GET / HTTP/1.1" 200 1\n`;
    const good = line('203.0.113.7').repeat(98);
    const found = await run(['replay', '-', '--limits', limits], { stdin: good + line('host.example.com').repeat(2) });
    expect(found.code).toBe(1);
    const [first = ''] = found.out.split('\n75')[0]!.split('\n100 requests');
    expect(first.replaceAll(/\s+/g, ' ')).toContain(
      "PART OF THE LOG: 2 of 100 requests (2.0 %) have an invalid id for PerAddress, which does not apply to them: 'host.example.com' is not an IP address.",
    );
    const fine = await run(['replay', '-', '--limits', limits], { stdin: good.repeat(2) + line('host.example.com') });
    expect(fine.code).toBe(0);
    expect(fine.out.replaceAll(/\s+/g, ' ')).toContain('1 requests have an invalid id for PerAddress');
  });
});
