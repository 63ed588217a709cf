import { accountId, clientNetwork } from '@sluice/core';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import type { Framework, Options } from '../framework.ts';
import { as, lateStore, timed, userKey } from '../limiters.ts';
import { start } from '../start.ts';

/** Who a client is, and what clients can send. */
export function clientCases(framework: Framework): void {
  const perAddress = (options: object = {}): Options =>
    ({ name: 'PerAddress', count: 1, period: '1m', store: timed().store, log: false, ...options }) as never;
  const from = (address: string) => ({ headers: { 'X-Forwarded-For': address } });

  test.each([false, true])(
    "a client gains nothing by writing X-Forwarded-For, whatever the framework's own setting: %s",
    async (trustsEveryProxy) => {
      const app = await start(framework, { trustsEveryProxy, limits: [perAddress()] });
      const statuses: number[] = [];
      for (let i = 0; i < 20; i++) statuses.push((await app.get('/', from(`203.0.113.${i}`))).status);
      expect(statuses).toEqual([200, ...Array(19).fill(429)]);
    },
  );

  test.each([false, true])(
    "a trusted proxy's word is taken, its client's is not (framework trusts: %s)",
    async (trustsEveryProxy) => {
      const app = await start(framework, { trustsEveryProxy, limits: [perAddress({ trustedProxies: ['loopback'] })] });
      expect((await app.get('/', from('203.0.113.7'))).status).toBe(200);
      expect((await app.get('/', from('198.51.100.1, 203.0.113.7'))).status).toBe(429);
      expect((await app.get('/', from('203.0.113.8'))).status).toBe(200);
    },
  );

  test('a key whose ids are IPv6 addresses is warned of, once, with the remedy', async () => {
    const lines: string[] = [];
    const log = (line: string) => lines.push(line);
    const app = await start(framework, { limits: [perAddress({ key: userKey, log })] });
    for (let i = 0; i < 5; i++) expect((await app.get('/', as(`2001:db8::${i}`))).status).toBe(200);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('key: clientNetwork()');
  });

  test('a proxy in front without trustedProxies is warned of, once', async () => {
    const lines: string[] = [];
    const app = await start(framework, { limits: [perAddress({ log: (line: string) => lines.push(line) })] });
    await app.statuses(3, '/', from('203.0.113.7'));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain("trustedProxies: ['loopback']");
  });

  test.each([
    ['an empty one', ''],
    ['commas', ',,,,'],
    ['no address', 'unknown, <script>, 999.1.1.1, 1.2.3'],
    ['a long one', '1.1.1.1,'.repeat(900)],
    ['other notations', '0x7f.1, 2130706433, 017700000001'],
    ['bytes above ASCII', '\u00ff\u00fe'],
    ['a zone', 'fe80::1%eth0'],
    ['unclosed brackets', '[2001:db8::1, [::]:99999'],
  ])('no X-Forwarded-For makes a request fail: %s', async (_what, text) => {
    for (const trustedProxies of [undefined, [], ['loopback', 'private', '0.0.0.0/1']]) {
      const app = await start(framework, { limits: [perAddress({ trustedProxies, count: 100 })] });
      expect((await app.get('/', from(text))).status).toBe(200);
      expect(app.errors).toEqual([]);
    }
  });

  test.each(['/%', '/%00', '//', '/../..', '/?%zz', '/a%2fb', `/${'x'.repeat(4000)}`, '/\u00e9', '/#', '*'])(
    'no path makes the limiter fail: %s',
    async (path) => {
      const app = await start(framework, { limits: [perAddress({ count: 100 })] });
      const statuses = await app.statuses(1, '/').then(() => raw(app.port, `GET ${path} HTTP/1.1`));
      expect(Number(/^HTTP\/1\.1 (\d+)/.exec(statuses)?.[1])).toBeLessThan(500);
    },
  );

  test.each(['__proto__', 'constructor', 'toString', '{x}1', 'a:b', '%', '\u00e9', "'; DROP TABLE", 'a'.repeat(256)])(
    'an id is only text: %s',
    async (id) => {
      const app = await start(framework, { limits: [perAddress({ key: userKey })] });
      const options = { headers: { 'X-User': Buffer.from(id).toString('latin1') } };
      if (Buffer.from(id).length > 256) return;
      expect(await app.statuses(2, '/', options)).toEqual([200, 429]);
      expect(app.errors).toEqual([]);
    },
  );

  test('clients that reset their connection at any moment do not affect others', async () => {
    const later = accountId(async () => null).or(clientNetwork());
    for (const more of [{}, { store: lateStore() }, { key: later }, { key: later, store: lateStore() }]) {
      const app = await start(framework, { limits: [perAddress({ count: 1000, ...more })] });
      await Promise.all(
        Array.from({ length: 30 }, async (_, i) => {
          const socket = connect(app.port, '127.0.0.1');
          socket.on('error', () => undefined);
          await new Promise((resolve) => socket.once('connect', resolve));
          socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\n'.slice(0, 5 + i * 2));
          if (i % 3 > 0) await new Promise((resolve) => setImmediate(resolve));
          socket.resetAndDestroy();
        }),
      );
      expect((await app.get()).status).toBe(200);
      expect(app.errors.filter((error) => (error as { code?: string }).code === 'ERR_NO_CLIENT_ADDRESS')).toEqual([]);
    }
  });
}

/** Sends a request line as it stands, and gives what comes back. */
function raw(port: number, line: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    socket.on('close', () => resolve(text));
    socket.end(`${line}\r\nHost: x\r\nConnection: close\r\n\r\n`, 'latin1');
  });
}
