import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../redis/servers/until.ts';
import { PROXIES } from './proxies.ts';
import { Site } from './site.ts';

const WIDE = 'PerClient: { burst: 100000, count: 100000, period: 10s, idFormat: clientNetwork }\n';
const NARROW = 'PerClient: { burst: 1, count: 1, period: 1h, idFormat: clientNetwork }\n';

describe.each(PROXIES)('$name', (proxy) => {
  let site: Site;
  beforeAll(async () => {
    site = await Site.start(proxy);
    await until('limits hold', async () => (await site.ask()).headers['ratelimit-policy'] !== undefined);
  });
  afterAll(() => site.close());

  const untilWide = () =>
    until('the limits are wide', async () => {
      const { status, headers } = await site.ask();
      return status === 200 && headers['ratelimit-policy'] === '"PerClient";q=100000;w=10';
    });

  test('allowed requests reach the backend as they were, with our fields in the answer', async () => {
    const { status, headers, body } = await site.ask('/a%20b?c=%2Fd');
    expect(status).toBe(200);
    expect(JSON.parse(body)).toMatchObject({ method: 'GET', path: '/a%20b?c=%2Fd', length: 0 });
    expect(headers).toMatchObject({
      ratelimit: expect.stringMatching(/^"PerClient";r=[34];t=\d$/),
      'ratelimit-policy': '"PerClient";q=5;w=10',
    });
  });

  test('a denied request is answered with our 429 verbatim', async () => {
    let denied = await site.ask();
    for (let i = 0; i < 5 && denied.status !== 429; i++) denied = await site.ask();
    expect(denied.status).toBe(429);
    expect(denied.headers).toMatchObject({
      'retry-after': expect.stringMatching(/^[12]$/),
      ratelimit: expect.stringMatching(/^"PerClient";r=0;t=[12]$/),
      'ratelimit-policy': '"PerClient";q=5;w=10',
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
    });
    expect(JSON.parse(denied.body)).toMatchObject({ status: 429, 'violated-policies': ['PerClient'] });
    // A client can't be another one by what it says in its own headers.
    const forged = { 'X-Forwarded-For': '198.51.100.9', 'X-Forwarded-Uri': '/', 'X-Real-IP': '198.51.100.9' };
    expect((await site.ask('/', { headers: forged })).status).toBe(429);
    expect(await site.ask('/', { method: 'HEAD' })).toMatchObject({ status: 429, body: '' });
  });

  test('other limits take effect while the proxy serves, and no request is lost', async () => {
    site.writeLimits(WIDE);
    await untilWide();
    const statuses: number[] = [];
    const load = new AbortController();
    const clients = Array.from({ length: 8 }, async () => {
      // oxlint-disable-next-line no-await-in-loop -- one request after the other
      while (!load.signal.aborted) statuses.push((await site.ask()).status);
    });
    site.writeLimits(NARROW);
    await until('the limits are narrow', () => statuses.includes(429));
    site.writeLimits(WIDE);
    await untilWide();
    load.abort();
    await Promise.all(clients);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
  });

  test('bodies pass: 5 MB, chunked, and with Expect', async () => {
    const body = randomBytes(5_000_000);
    const sha256 = createHash('sha256').update(body).digest('hex');
    const sized = await site.ask('/upload', {
      method: 'PUT',
      headers: { 'Content-Length': String(body.length) },
      body,
    });
    expect(JSON.parse(sized.body)).toMatchObject({ method: 'PUT', length: 5_000_000, sha256 });
    const chunked = await site.ask('/upload', { method: 'POST', headers: { 'Transfer-Encoding': 'chunked' }, body });
    expect(JSON.parse(chunked.body)).toMatchObject({ method: 'POST', sha256 });
    const expected = await site.ask('/', {
      method: 'POST',
      headers: { Expect: '100-continue', 'Content-Length': '3' },
      body: Buffer.from('abc'),
    });
    expect(JSON.parse(expected.body)).toMatchObject({ length: 3 });
  });

  test('an upgraded connection passes', async () => {
    const socket = connect(site.port, '127.0.0.1');
    socket.write('GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
    let received = '';
    socket.on('data', (chunk) => (received += String(chunk)));
    await until('it is upgraded', () => received.includes('\r\n\r\n'));
    expect(received).toContain('HTTP/1.1 101');
    socket.write('hello\n');
    await until('it echoes', () => received.endsWith('hello\n'));
    socket.destroy();
    await once(socket, 'close');
  });

  test('without an answer of the service, requests pass; when it is back, limits hold again', async () => {
    await site.service.stop('SIGKILL');
    for (let i = 0; i < 8; i++) {
      // oxlint-disable-next-line no-await-in-loop -- one request after the other
      const answer = await site.ask(`/${i}`);
      expect([answer.status, answer.headers['ratelimit']]).toEqual([200, undefined]);
    }
    await site.startService();
    await until('limits hold again', async () => (await site.ask()).status === 429);
  });

  test('the proxy can be told to deny instead', async () => {
    await site.stopProxy();
    await site.startProxy([proxy.failsClosedBy]);
    await site.service.stop('SIGKILL');
    const { status } = await site.ask();
    expect([502, 503]).toContain(status);
    await site.startService();
    await until('it answers again', async () => (await site.ask()).status === 200);
  });

  test.each(proxy.answersDeny)(
    'a mistake of the configuration denies, and lets nothing pass: %s',
    async (_what, changes, status) => {
      await site.stopProxy();
      await site.startProxy(changes);
      expect((await site.ask()).status).toBe(status);
      await site.stopProxy();
      await site.startProxy();
    },
  );

  test('a service that is told to end answers what is there, and no client notices', async () => {
    site.writeLimits(WIDE);
    await untilWide();
    await site.stopProxy();
    await site.startProxy();
    const statuses: number[] = [];
    const load = new AbortController();
    const clients = Array.from({ length: 8 }, async () => {
      // oxlint-disable-next-line no-await-in-loop -- one request after the other
      while (!load.signal.aborted) statuses.push((await site.ask()).status);
    });
    await until('there is traffic', () => statuses.length > 50);
    expect(await site.service.stop('SIGTERM')).toBe(0);
    const before = statuses.length;
    await until('it goes on', () => statuses.length > before + 50);
    load.abort();
    await Promise.all(clients);
    expect([...new Set(statuses)]).toEqual([200]);
    await site.startService();
  });
});
