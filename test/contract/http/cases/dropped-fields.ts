import { clientNetwork, everyone, type Decision, type SluiceError } from '@sluice/core';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import type { Framework, Options } from '../framework.ts';
import { stillLimiter } from '../limiters.ts';
import type { Server as HttpServer } from 'node:http';
import { dropsLines } from '../../../service/drops-lines.ts';
import { start, type App } from '../start.ts';

const KEPT = 1000;
const IS_DROPPED = await dropsLines();
/** The most lines here with which a request reaches the application. */
const MANY = IS_DROPPED ? KEPT + 100 : KEPT;
/** What a proxy writes, after the fields of its client. */
const BY_PROXY = 'X-Forwarded-For: 203.0.113.9\r\n';

/** Sends so many lines in all, those of the proxy last, and returns the status. */
function ask({ port }: App, lines: number, path = '/'): Promise<number> {
  return new Promise((resolve, reject) => {
    const own = 'a:b\r\n'.repeat(lines - 3);
    const socket = connect(port, '127.0.0.1', () =>
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${own}${BY_PROXY}\r\n`),
    );
    let text = '';
    socket.setEncoding('latin1').on('data', (part: string) => (text += part));
    socket.on('error', reject).on('close', () => resolve(Number(text.slice(9, 12))));
  });
}

/**
 * Node 20 drops the lines of a request after the 1,000th without an error, and so what a proxy in front has written. Later
 * versions answer 431 to more lines by themselves.
 */
export function droppedFieldCases(framework: Framework): void {
  const limits = {
    PerClient: { key: clientNetwork(), count: 2, period: '1h' },
    All: { key: everyone(), count: 5, period: '1h' },
  };

  const both = ['PerClient', 'All'];

  async function serve(skip?: () => boolean) {
    const limiter = stillLimiter({ limits, trustedProxies: ['loopback'] });
    const seen = { handled: 0, decisions: [] as Decision[] };
    const app = await start(framework, {
      limits: [
        { limiter, limits: both, onDecision: (decision: Decision) => seen.decisions.push(decision), skip },
      ] as Options[],
      routes: { '/': { handle: () => `${++seen.handled}` } },
    });
    return { app, seen, limiter };
  }

  test('a request with as many lines as the server keeps is refused with 431 where proxies are trusted', async () => {
    const { app, seen } = await serve();
    expect(await ask(app, KEPT)).toBe(431);
    expect(await ask(app, KEPT + 100)).toBe(431);
    expect(seen.handled).toBe(0);
    const codes = app.errors.map((error) => (error as SluiceError).code);
    expect(codes).toEqual(IS_DROPPED ? ['ERR_TOO_MANY_FIELDS', 'ERR_TOO_MANY_FIELDS'] : ['ERR_TOO_MANY_FIELDS']);
    expect(app.errors[0]).toMatchObject({ kind: 'input', status: 431, statusCode: 431, stack: String(app.errors[0]) });
  });

  test('a request with one line less is that of its client', async () => {
    const { app, seen } = await serve();
    expect(await ask(app, KEPT - 1)).toBe(200);
    expect(seen.decisions[0]!.results[0]!.id).toBe('203.0.113.9');
  });

  test('a used-up limit denies a refused request, which the limits without an address count', async () => {
    const { app, limiter } = await serve();
    for (let i = 0; i < 5; i++) expect(await ask(app, MANY)).toBe(431);
    expect(await ask(app, MANY)).toBe(429);
    const [own, proxy] = ['203.0.113.9', '127.0.0.1'].map((id) => limiter.checkSync([{ limit: 'PerClient', id }]));
    expect([own!.remaining, proxy!.remaining]).toEqual([2, 2]);
  });

  test('a refused request is not skipped', async () => {
    let asked = 0;
    const { app, seen } = await serve(() => ++asked > 0);
    expect(await ask(app, KEPT)).toBe(431);
    expect([asked, seen.handled]).toEqual([0, 0]);
  });

  test.each([{ trustedProxies: [] }, { trustedProxies: undefined }])(
    'where no proxy is trusted, a request with many lines is that of its peer: $trustedProxies',
    async ({ trustedProxies }) => {
      const limiter = stillLimiter({ limits, ...(trustedProxies !== undefined && { trustedProxies }) });
      const app = await start(framework, { limits: [{ limiter, limits: both }] as Options[] });
      expect(await ask(app, MANY)).toBe(200);
      expect(limiter.checkSync([{ limit: 'PerClient', id: '127.0.0.1' }]).remaining).toBe(1);
    },
  );

  test('a server that keeps other numbers of lines refuses as many', async () => {
    const { app } = await serve();
    const server = app.server as HttpServer;
    server.maxHeadersCount = 50;
    expect([await ask(app, 49), await ask(app, 50), await ask(app, 60)]).toEqual([200, 431, 431]);
    server.maxHeadersCount = 0;
    expect(await ask(app, KEPT + 100)).toBe(200);
  });
}
