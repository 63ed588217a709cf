import { createLimiter, everyone, memoryStore } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import express from 'express5';
import Koa from 'koa3';
import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { expressFramework } from '../contract/http/express.ts';
import { fastifyFramework } from '../contract/http/fastify.ts';
import type { Framework, Handler, NativeRequest } from '../contract/http/framework.ts';
import { koaFramework } from '../contract/http/koa.ts';
import { lateStore, userKey } from '../contract/http/limiters.ts';
import { start } from '../contract/http/start.ts';
import { sized } from '../sized.ts';

/** Each framework and store has so many: `SLUICE_ABORTED=20000 npx vitest run --project=aborts` aborts more. */
const ABORTED = Number(process.env['SLUICE_ABORTED'] ?? sized(2000, 5000));
/** Connections that are open at the same time. */
const BATCH = 300;
/** The requests of a batch. */
const REQUESTS = 2.5 * BATCH;
const USERS = 10;

const frameworks: readonly Framework[] = [
  expressFramework('Express 5', express),
  koaFramework('Koa 3', Koa),
  fastifyFramework(),
];

/** Never answers, or only in part, so that each request that is let through ends when its client leaves. */
const unanswered: Handler = ({ incoming, outgoing }) => {
  if (incoming.url!.length % 2 === 0) outgoing.write('the first part');
  return undefined;
};

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** One to four requests in one packet. */
function packetOf(i: number): string {
  const count = 1 + (i % 4);
  return Array.from({ length: count }, (_, n) => {
    return `GET /${'?'.repeat(n)} HTTP/1.1\r\nHost: x\r\nX-User: user-${(i + n) % USERS}\r\n\r\n`;
  }).join('');
}

function opened(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket));
    socket.once('error', reject).on('error', () => undefined).resume(); // prettier-ignore
  });
}

/** A reset leaves no port behind that the system keeps for a minute. */
function leave(socket: Socket, i: number): void {
  if (i % 50 === 0) socket.destroy();
  else socket.resetAndDestroy();
}

test.each(frameworks.flatMap((framework) => [false, true].map((isLate) => ({ framework, isLate }))))(
  `$framework.name: ${ABORTED} requests whose clients leave hold no slots afterwards (late store: $isLate)`,
  async ({ framework, isLate }) => {
    const store = memoryStore();
    const limiter = createLimiter<NativeRequest>({
      limits: {
        PerUser: concurrency({ key: userKey, concurrency: 60 }),
        Here: concurrency({ key: userKey, concurrency: 60, scope: 'process' }),
        Fleet: concurrency({ key: everyone(), concurrency: 500 }),
      },
      store: isLate ? lateStore(store) : store,
      log: false,
    });
    const outcomes = { allowed: 0, denied: 0, unavailable: 0 };
    let most = 0;
    const { port, server } = await start(framework, {
      limits: [
        {
          limiter,
          limits: ['PerUser', 'Here', 'Fleet'],
          onDecision({ outcome }) {
            outcomes[outcome]++;
            most = Math.max(most, store.stats().slots['Fleet'] ?? 0);
          },
        },
      ],
      routes: { '/': { handle: unanswered } },
    });
    const connections = (): Promise<number> =>
      new Promise((resolve) => server.getConnections((_error, count) => resolve(count)));
    let printed = 0;
    const decided = (): number => outcomes.allowed + outcomes.denied;
    for (let batch = 0; outcomes.allowed < ABORTED; batch++) {
      const before = decided();
      const sockets = await Promise.all(Array.from({ length: BATCH }, () => opened(port)));
      for (const [n, socket] of sockets.entries()) socket.write(packetOf(n));
      // All clients of every second batch leave while their requests are in progress. Some of the others leave before
      // the server has read their requests, and some while these are decided.
      const expected = batch % 2 === 0 ? before + REQUESTS : before;
      while (decided() < expected) await turn();
      for (const [n, socket] of sockets.entries()) {
        if (n % 30 === 0) await turn();
        leave(socket, n);
      }
      while ((await connections()) > 0) await turn();
      if (outcomes.allowed < printed + 10_000) continue;
      printed = outcomes.allowed;
      console.log(`${framework.name}, late store: ${isLate}: ${outcomes.allowed} aborted, ${outcomes.denied} denied`);
    }
    await expect.poll(() => store.stats().slots).toEqual({});
    for (let user = 0; user < USERS; user++) {
      const [here] = (await limiter.check([{ limit: 'Here', id: `user-${user}` }])).results;
      expect(here!.remaining).toBe(60);
    }
    expect(outcomes.unavailable).toBe(0);
    // Requests were in progress together.
    expect(most).toBe(500);
    expect(outcomes.denied).toBeGreaterThan(0);
  },
);
