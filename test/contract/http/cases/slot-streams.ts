import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import { connect as connectSocket, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { Framework, Handler } from '../framework.ts';
import { userKey } from '../limiters.ts';
import { serveSlots, type SlotApp } from '../slots.ts';
import { sized } from '../../../sized.ts';
import { expectWithin } from '../../../expect-within.ts';
import { concurrency } from '@sluice/core/concurrency';

/** In this order, so that the first two have each of both. */
const STORES = [
  { isLate: false, scope: 'process' },
  { isLate: true, scope: 'store' },
  { isLate: false, scope: 'store' },
  { isLate: true, scope: 'process' },
] as const;

const forever: Handler = () => new Promise(() => undefined);

/** Slots of streams of HTTP/2, many of which share a connection. */
export function slotStreamCases(framework: Framework): void {
  const limits = { InFlight: concurrency({ key: userKey, concurrency: 5 }) };

  async function sessionOf({ app }: SlotApp, initialWindowSize = 65_535, socket?: Socket): Promise<ClientHttp2Session> {
    const session = connect(`http://127.0.0.1:${app.port}`, {
      settings: { initialWindowSize },
      ...(socket !== undefined && { createConnection: () => socket }),
    });
    session.on('error', () => undefined);
    onTestFinished(() => session.destroy());
    await new Promise((resolve) => session.once('remoteSettings', resolve));
    return session;
  }

  const send = (session: ClientHttp2Session): ClientHttp2Stream =>
    session.request({ 'X-User': 'ann' }).on('error', () => undefined);

  const ways: [string, (session: ClientHttp2Session, streams: readonly ClientHttp2Stream[]) => void][] = [
    ['resets its streams', (_session, streams) => streams.forEach((stream) => stream.close(constants.NGHTTP2_CANCEL))],
    [
      'resets its streams without an error',
      (_session, streams) => streams.forEach((stream) => stream.close(constants.NGHTTP2_NO_ERROR)),
    ],
    ['closes its connection', (session) => session.destroy()],
  ];

  for (const [how, leave] of ways) {
    test.each([false, true])(
      `a client that ${how} while handlers work releases them (late store: %s)`,
      async (late) => {
        const served = await serveSlots(framework, { isLate: late, limits });
        const session = await sessionOf(served);
        const streams = Array.from({ length: 8 }, () => send(session));
        await expect.poll(() => served.decisions.length).toBe(8);
        await expect.poll(() => served.seen.inProgress).toBe(5);
        expect(served.counts.held).toBe(5);
        leave(session, streams);
        await expect.poll(() => served.counts.held).toBe(0);
        served.open();
        await expect.poll(() => served.seen.inProgress).toBe(0);
        await served.allReleased();
        expect(served.counts.taken).toBe(5);
      },
    );

    test(`a client without room for the response that ${how} releases its slot, and not before`, async () => {
      const handle: Handler = () => 'ok'.repeat(100);
      const served = await serveSlots(framework, { limits, handle });
      const session = await sessionOf(served, 0);
      const stream = send(session);
      await new Promise((resolve) => stream.once('response', resolve));
      await expect.poll(() => served.seen.handled).toBe(1);
      expect(served.counts.held).toBe(1);
      leave(session, [stream]);
      await served.allReleased();
    });
  }

  interface Client {
    readonly socket: Socket;
    readonly session: ClientHttp2Session;
    readonly stream: ClientHttp2Stream;
  }
  const ends: Record<string, (client: Client) => unknown> = {
    'a GOAWAY': ({ session }) => session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM),
    'the end of the session': ({ session }) => session.destroy(),
    'an error of the session': ({ session }) => session.destroy(undefined, constants.NGHTTP2_PROTOCOL_ERROR),
    'the end of the connection': ({ socket }) => socket.destroy(),
    'a reset of the connection': ({ socket }) => socket.resetAndDestroy(),
  };
  for (let code = 0; code <= 13; code++) ends[`a reset with ${code}`] = ({ stream }) => stream.close(code);

  const moments: Record<string, { readonly handle: Handler; readonly window: number; readonly until: string }> = {
    'before its headers': { handle: forever, window: 0, until: 'decided' },
    'between its headers and its data': { handle: () => 'ok'.repeat(100), window: 0, until: 'response' },
    'amid its data': { handle: () => 'ok'.repeat(100), window: 10, until: 'data' },
    'after its last byte': { handle: () => 'ok', window: 65_535, until: 'end' },
  };

  test.each(Object.keys(moments))('a stream that ends %s releases its slot, whichever way it ends', async (moment) => {
    const { handle, window, until } = moments[moment]!;
    for (const { isLate, scope } of STORES.slice(0, sized(2, 4))) {
      const InFlight = concurrency({ key: userKey, concurrency: 50, scope });
      const served = await serveSlots(framework, { isLate, limits: { InFlight }, handle });
      served.open();
      const leaves = await Promise.all(
        Object.values(ends).map(async (leave) => {
          const socket = connectSocket(served.app.port, '127.0.0.1');
          const session = await sessionOf(served, window, socket);
          const stream = send(session);
          if (until === 'end') stream.resume();
          if (until !== 'decided') await new Promise((resolve) => stream.once(until, resolve));
          return () => leave({ socket, session, stream });
        }),
      );
      await expect.poll(() => served.decisions.filter(({ allowed }) => allowed).length).toBe(leaves.length);
      for (const leave of leaves) leave();
      const free = async () => (await served.limiter.check([{ limit: 'InFlight', id: 'ann' }])).remaining;
      await expectWithin(2000, free, 50);
      await served.limiter.close();
    }
  });

  test('of many streams on one connection each releases its own', async () => {
    const handle: Handler = async ({ outgoing }) => {
      if (served.seen.inProgress > 1) return 'ok';
      await new Promise((resolve) => outgoing.once('close', resolve));
      return 'too late';
    };
    const served: SlotApp = await serveSlots(framework, { limits, handle });
    const session = await sessionOf(served);
    const first = send(session);
    await expect.poll(() => served.seen.inProgress).toBe(1);
    for (let i = 0; i < 10; i++) {
      const stream = send(session).resume();
      await new Promise((resolve) => stream.once('close', resolve));
      await expect.poll(() => served.counts.held).toBe(1);
    }
    first.close(constants.NGHTTP2_CANCEL);
    await served.allReleased();
    expect(served.counts.taken).toBe(11);
  });

  test('a client that never ends its request holds none after the response was sent', async () => {
    const handle: Handler = async ({ incoming }) => {
      await new Promise((resolve) => incoming.once('data', resolve));
      return 'enough';
    };
    const served = await serveSlots(framework, { limits, handle });
    const session = await sessionOf(served);
    const stream = session.request({ ':method': 'POST', 'X-User': 'ann' }).resume();
    stream.on('error', () => undefined).write('the first part');
    await new Promise((resolve) => stream.once('end', resolve));
    expect(stream.closed).toBe(false);
    await served.allReleased();
    expect(served.counts.taken).toBe(1);
  });
}
