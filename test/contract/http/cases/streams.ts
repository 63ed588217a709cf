import { accountId, clientNetwork, type Limiter } from '@sluice/core';
import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import { expect, onTestFinished, test } from 'vitest';
import type { Framework, Handler, NativeRequest, Options } from '../framework.ts';
import { gate } from '../gate.ts';
import { stillLimiter, userKey } from '../limiters.ts';
import { start } from '../start.ts';

/** Settling on streams of HTTP/2, which a client can reset, or leave without room for the response. */
export function streamCases(framework: Framework): void {
  const limits = { PerUser: { key: userKey, count: 5, period: '1h' } };
  const remaining = async (limiter: Limiter<NativeRequest>): Promise<number> =>
    (await limiter.check([{ limit: 'PerUser', id: 'ann' }])).remaining;

  /** Serves requests of cost 2 that settle to 0, and opens one session. */
  async function serve({ handle, initialWindowSize = 65_535 }: { handle: Handler; initialWindowSize?: number }) {
    const limiter = stillLimiter({ limits });
    const seen = { asked: 0, over: 0 };
    const settle = framework.settle(() => (seen.asked++, 0));
    const { port } = await start(framework, {
      before: ({ outgoing }) => void outgoing.once('close', () => seen.over++),
      limits: [{ limiter, limits: [{ limit: 'PerUser', cost: 2, settle }] }] as Options[],
      routes: { '/': { handle } },
    });
    const session = connect(`http://127.0.0.1:${port}`, { settings: { initialWindowSize } });
    onTestFinished(() => session.destroy());
    await new Promise((resolve) => session.once('remoteSettings', resolve));
    return { limiter, seen, session };
  }

  function request(session: ClientHttp2Session): ClientHttp2Stream {
    return session.request({ 'X-User': 'ann' }).on('error', () => undefined);
  }

  test.each([
    ['resets the stream', (_session: unknown, stream: ClientHttp2Stream) => stream.close(constants.NGHTTP2_CANCEL)],
    ['closes the connection', (session: ClientHttp2Session) => session.destroy()],
  ])('a client that leaves no room for the response and %s: the full cost stays', async (_how, leave) => {
    const { limiter, seen, session } = await serve({ handle: () => 'ok'.repeat(100), initialWindowSize: 0 });
    const stream = request(session);
    await new Promise((resolve) => stream.once('response', resolve));
    leave(session, stream);
    await expect.poll(() => seen.over).toBe(1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(await remaining(limiter)).toBe(3);
    expect(seen.asked).toBe(0);
  });

  test('a client that leaves no room for the response and resets the stream without an error is settled as one that aborted', async () => {
    const limiter = stillLimiter({ limits });
    const ends: unknown[] = [];
    const settle = framework.settle((_status, end) => (ends.push(end), 1));
    const use = { limit: 'PerUser', mode: 'check-only', settle, settleAborted: true };
    const { port } = await start(framework, {
      limits: [{ limiter, limits: [use] }] as Options[],
      routes: { '/': { handle: () => 'no' } },
    });
    const session = connect(`http://127.0.0.1:${port}`, { settings: { initialWindowSize: 0 } });
    onTestFinished(() => session.destroy());
    for (const left of [4, 3]) {
      const stream = request(session);
      await new Promise((resolve) => stream.once('response', resolve));
      stream.close(constants.NGHTTP2_NO_ERROR);
      await expect.poll(() => remaining(limiter)).toBe(left);
    }
    expect(ends).toEqual([{ finished: false }, { finished: false }]);
  });

  test('a client that resets the stream amid the response: the full cost stays', async () => {
    const handle: Handler = ({ outgoing }) => {
      outgoing.write('the first part');
      return undefined;
    };
    const { limiter, seen, session } = await serve({ handle });
    const stream = request(session);
    await new Promise((resolve) => stream.once('data', resolve));
    stream.close(constants.NGHTTP2_CANCEL);
    await expect.poll(() => seen.over).toBe(1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(await remaining(limiter)).toBe(3);
    expect(seen.asked).toBe(0);
  });

  test.each([
    ['resets the stream', 'a key', 8],
    ['closes the connection', 'a key', 8],
    ['resets the stream', 'a middleware before', 9],
    ['closes the connection', 'a middleware before', 9],
  ] as const)('a client that %s while %s is awaited ends quietly', async (how, what, left) => {
    const doors = gate();
    const key = accountId(async () => (what === 'a key' && (await doors.pass()), null)).or(clientNetwork());
    const limiter = stillLimiter({ limits: { PerClient: { key, count: 9, period: '1h' } } });
    let over = 0;
    const app = await start(framework, {
      before({ outgoing }) {
        outgoing.once('close', () => over++);
        return what === 'a key' ? undefined : doors.pass();
      },
      limits: [{ limiter }],
    });
    const session = connect(`http://127.0.0.1:${app.port}`);
    onTestFinished(() => session.destroy());
    const stream = request(session);
    await expect.poll(() => doors.state.waiting).toBe(1);
    if (how === 'resets the stream') stream.close(constants.NGHTTP2_CANCEL);
    else session.destroy();
    await expect.poll(() => over).toBe(1);
    doors.open();
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    expect((await limiter.check([{ limit: 'PerClient', id: 'clientNetwork:127.0.0.1' }])).remaining).toBe(left);
    expect(app.errors).toEqual([]);
  });

  test('of many streams on one connection each is settled by its own end', async () => {
    let handled = 0;
    const handle: Handler = async ({ incoming, outgoing }) => {
      handled++;
      if (incoming.headers['x-user'] !== 'ann') return 'ok';
      await new Promise((resolve) => outgoing.once('close', resolve));
      return 'too late';
    };
    const { limiter, seen, session } = await serve({ handle });
    const streams = Array.from({ length: 2 }, () => request(session));
    const others = Array.from({ length: 20 }, (_, i) => session.request({ 'X-User': `bob-${i}` }).resume());
    await Promise.all(others.map((stream) => new Promise((resolve) => stream.once('close', resolve))));
    await expect.poll(() => handled).toBe(22);
    for (const stream of streams) stream.close(constants.NGHTTP2_CANCEL);
    await expect.poll(() => seen.over).toBe(22);
    await expect.poll(() => seen.asked).toBe(20);
    expect(await remaining(limiter)).toBe(1);
  });
}
