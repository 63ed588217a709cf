import { accountId, clientNetwork, createLimiter, everyone } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import express4 from 'express4';
import express from 'express5';
import Koa from 'koa3';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { leaversOf } from '../ends/ways.ts';
import { expressFramework } from '../express.ts';
import { fastifyFramework } from '../fastify.ts';
import type { Framework, NativeRequest, Options } from '../framework.ts';
import { honoFramework } from '../hono.ts';
import { koaFramework } from '../koa.ts';
import { userKey } from '../limiters.ts';
import { nestFramework, onExpress, onFastify } from '../nest.ts';
import { nodeFramework } from '../node.ts';
import { END_HEADERS, fieldBlock, frame, TYPE } from '../http2-frames.ts';
import { PROTOCOL_ERRORS, REPORTED_ERRORS } from '../protocol-errors.ts';
import { connected, speakHttp2 } from '../raw-http2.ts';
import { start } from '../start.ts';
import { HOSTILE_HEADS, HOSTILE_STREAMS, ORDINARY } from './heads.ts';
import { expectWithin } from '../../../expect-within.ts';

const FRAMEWORKS: readonly Framework[] = [
  expressFramework('Express 4', express4 as never),
  expressFramework('Express 5', express),
  koaFramework('Koa 3', Koa),
  fastifyFramework(),
  nodeFramework(),
  nestFramework(onExpress),
  nestFramework(onFastify),
  honoFramework,
  koaFramework('Koa 3', Koa, 'HTTP/2'),
  fastifyFramework('HTTP/2'),
  nodeFramework('HTTP/2'),
];

const CONCURRENCY = 500;

describe.each(FRAMEWORKS.map((framework) => ({ framework, title: `${framework.name} over ${framework.protocol}` })))(
  '$title',
  ({ framework }) => {
    async function serve() {
      const limiter = createLimiter<NativeRequest>({
        limits: {
          PerClient: { key: clientNetwork(), count: 1, period: '1d' },
          PerAccount: { key: accountId((request) => accountOf(request)), count: 1, period: '1d' },
          PerUser: { key: userKey, count: CONCURRENCY, period: '1d' },
          Rate: { key: everyone(), count: CONCURRENCY, period: '1d' },
          Open: concurrency({ key: everyone(), concurrency: CONCURRENCY }),
          Queue: { key: everyone(), count: 1, period: '20s', maxWait: '1h' },
        },
        trustedProxies: ['loopback'],
        log: false,
      });
      onTestFinished(async () => limiter.close());
      const seen = { handled: [] as (string | undefined)[], begun: 0, queued: 0 };
      const { port, server } = await start(framework, {
        routes: {
          '/': {
            limits: [{ limiter, limits: ['PerClient', 'PerAccount'] }] as Options[],
            handle: ({ incoming }) => {
              seen.handled.push(incoming.url);
              return 'ok';
            },
          },
          '/queued': {
            limits: [{ limiter, limits: ['Queue'], onDecision: () => seen.queued++ }] as Options[],
          },
          '/held': {
            limits: [{ limiter, limits: ['Open'] }] as Options[],
            handle: () => (seen.begun++, new Promise<never>(() => undefined)),
          },
          '/counted': {
            limits: [{ limiter, limits: ['Rate'] }] as Options[],
            handle: () => (seen.begun++, new Promise<never>(() => undefined)),
          },
        },
      });
      const held = (): number => CONCURRENCY - limiter.checkSync([{ limit: 'Open', id: 'everyone' }]).remaining;
      /** How many tokens are taken. */
      const queue = (): number => {
        const [result] = limiter.checkSync([{ limit: 'Queue', id: 'everyone' }]).results;
        return Math.ceil(result!.resetAfterMs / 20_000);
      };
      const connections = promisify(server.getConnections.bind(server));
      return { port, seen, held, queue, connections };
    }

    /** Sends bytes on a connection of their own, and waits for the answer, or for the end of the connection. */
    async function send(port: number, bytes: Buffer): Promise<void> {
      const socket = await connected(port);
      const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
      if (framework.protocol === 'HTTP/1.1') {
        socket.resume().write(bytes);
        return closed;
      }
      const answers: readonly number[] = [TYPE.headers, TYPE.reset, TYPE.goaway];
      const answered = speakHttp2(socket).arrived(({ type }) => answers.includes(type));
      socket.write(bytes);
      await Promise.race([answered, closed]);
      socket.destroy();
    }

    test('no hostile head passes a limit that is used up', async () => {
      const { port, seen } = await serve();
      const { [ORDINARY]: ordinary, ...hostile } = framework.protocol === 'HTTP/2' ? HOSTILE_STREAMS : HOSTILE_HEADS;
      await send(port, ordinary!);
      expect(seen.handled).toEqual(['/']);
      for (const [name, bytes] of Object.entries(hostile)) {
        await send(port, bytes);
        expect([name, seen.handled]).toEqual([name, ['/']]);
      }
    });

    test('no client that leaves, or makes an error of the protocol, has a slot two seconds later', async () => {
      const { port, seen, held } = await serve();
      const leavers = await leaversOf(framework.protocol, port, '/held', 'all');
      await expect.poll(() => seen.begun).toBe(leavers.length);
      expect(held()).toBe(leavers.length);
      for (const leaver of leavers) leaver.leave();
      await expectWithin(2000, held, 0);
    });

    test('no client that leaves, or makes an error of the protocol, while it waits for its turn, has its place two seconds later', async () => {
      const { port, seen, queue } = await serve();
      const leavers = await leaversOf(framework.protocol, port, '/queued', 'all');
      // The first of them has not waited.
      await expect.poll(() => seen.queued).toBe(leavers.length);
      expect(queue()).toBe(leavers.length);
      for (const leaver of leavers) leaver.leave();
      await expectWithin(2000, queue, 1);
    });

    test.runIf(framework.protocol === 'HTTP/2')(
      'no connection is left two seconds after an error of the protocol, with a request of a rate or without any',
      async () => {
        const { port, seen, connections } = await serve();
        // By its first request, a server becomes known.
        await send(port, HOSTILE_STREAMS[ORDINARY]!);
        const errors = Object.values({ ...PROTOCOL_ERRORS, ...REPORTED_ERRORS });
        const clients = [...errors, ...errors].map(async (error, i) => {
          const client = speakHttp2(await connected(port));
          if (i < errors.length) client.socket.write(frame(TYPE.headers, END_HEADERS, 1, fieldBlock('/counted')));
          return { ...client, error };
        });
        const opened = await Promise.all(clients);
        await expect.poll(() => seen.begun).toBe(errors.length);
        for (const { socket, arrived, error } of opened) {
          // An error of one stream leaves the connection open.
          void arrived(({ type }) => type === TYPE.reset).then(() => socket.destroy());
          socket.write(error);
        }
        await expectWithin(2000, connections, 0);
      },
    );
  },
);

function accountOf(request: NativeRequest): string | null {
  return (request.headers['x-account'] as string | undefined) ?? null;
}
