import { IncomingMessage, ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import type { Framework, Options } from '../framework.ts';
import { lateStore, stillLimiter, timed, userKey } from '../limiters.ts';
import { start, type App } from '../start.ts';

/** Requests that come over no connection of Node's: those of serverless adapters and of tests. */
export function mockExchangeCases(framework: Framework): void {
  test.each([
    ['a plain object', () => ({ remoteAddress: '192.0.2.7', readable: false, destroy: noop })],
    ['left out', () => undefined],
    ['null', () => null],
  ])('a request whose socket is %s is limited and settled', async (_what, socket) => {
    const limiter = stillLimiter({ limits: { PerUser: { key: userKey, count: 6, period: '1h' } } });
    const trueCosts = [1, 3];
    const settle = framework.settle(() => trueCosts.shift()!);
    const app = await start(framework, {
      limits: [{ limiter, limits: [{ limit: 'PerUser', cost: 3, settle }] }] as Options[],
    });
    const remaining = async (): Promise<number> => (await limiter.check([{ limit: 'PerUser', id: 'ann' }])).remaining;
    expect(await serverless(app, socket())).toBe(200);
    await expect.poll(remaining).toBe(5);
    expect(await serverless(app, socket())).toBe(200);
    await expect.poll(() => trueCosts).toEqual([]);
    expect(await serverless(app, socket())).toBe(429);
    expect(app.errors).toEqual([]);
  });

  test.each([undefined, null])(
    'a limit by address: a request whose socket is %s is an error for the error handler',
    async (socket) => {
      for (const store of [timed().store, lateStore()]) {
        const app = await start(framework, { limits: [{ name: 'PerAddress', count: 1, period: '1h', store }] });
        expect(await serverless(app, socket)).toBe(500);
        expect(app.errors).toMatchObject([{ code: 'ERR_NO_CLIENT_ADDRESS' }]);
      }
    },
  );

  test.each([undefined, null])('a request whose socket is %s waits for an asynchronous decision', async (socket) => {
    const limits = { PerUser: { key: userKey, count: 1, period: '1h' } };
    const app = await start(framework, { limits: [{ limiter: stillLimiter({ limits, store: lateStore() }) }] });
    expect([await serverless(app, socket), await serverless(app, socket)]).toEqual([200, 429]);
    expect(app.errors).toEqual([]);
  });

  test('a limit by address goes by the remoteAddress of a plain object', async () => {
    const app = await start(framework, {
      limits: [{ name: 'PerAddress', count: 1, period: '1h', store: timed().store }],
    });
    const statuses: number[] = [];
    for (const remoteAddress of ['192.0.2.7', '192.0.2.7', '192.0.2.8']) {
      statuses.push(await serverless(app, { remoteAddress, destroy: noop }));
    }
    expect(statuses).toEqual([200, 429, 200]);
  });
}

/** Hands a request to the server as serverless adapters do, and gives the status. */
async function serverless(app: App, socket: object | null | undefined): Promise<number> {
  const incoming = new IncomingMessage(socket as never);
  Object.assign(incoming, { method: 'GET', url: '/', httpVersion: '1.1', headers: { host: 'x', 'x-user': 'ann' } });
  incoming.push(null);
  const outgoing = new ServerResponse(incoming);
  const finished = new Promise((resolve) => outgoing.once('finish', resolve));
  outgoing.assignSocket(new Sink() as never);
  app.server.emit('request', incoming, outgoing);
  await finished;
  return outgoing.statusCode;
}

/** What serverless adapters give a response to write to: a plain object, which emits nothing. */
class Sink {
  readonly _writableState = {};
  readonly writable = true;
  readonly on = noop;
  readonly once = noop;
  readonly removeListener = noop;
  readonly destroy = noop;
  readonly cork = noop;
  readonly uncork = noop;

  write(_data: unknown, encoding: unknown, done: unknown): boolean {
    const callback = typeof encoding === 'function' ? encoding : done;
    if (typeof callback === 'function') callback();
    return true;
  }
}

function noop(): void {}
