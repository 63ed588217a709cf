// A process with servers of HTTP/1.1 and HTTP/2 whose requests are limited, which says what it has in memory. Its parent
// starts it with the name of a store and its address, and asks for figures.
import { accountId, createLimiter, memoryStore, type Limiter, type Store } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { quota } from '@sluice/core/quota';
import { rateLimit as rateLimitExpress } from '@sluice/express';
import { hostStore } from '@sluice/host';
import { rateLimit as rateLimitKoa } from '@sluice/koa';
import { postgresStore } from '@sluice/postgres';
import { redisStore } from '@sluice/redis';
import express from 'express5';
import Koa from 'koa3';
import { EventEmitter, once } from 'node:events';
import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createServer2, Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { Socket, type AddressInfo, type Server } from 'node:net';
import * as v8 from 'node:v8';
import { Pool } from 'pg';
import { realDelay } from '../real-delay.ts';

/** What a process has, after all that can be collected was collected. */
export interface Held {
  readonly heapBytes: number;
  /** Live objects of requests and connections, and timers, also those that keep no process alive. */
  readonly objects: Readonly<Record<string, number>>;
  /** Listeners of the process, the servers and the client of the store. */
  readonly listeners: number;
  readonly connections: number;
  /** Slots that do not expire. */
  readonly slots: number;
}

const [kind = 'memory', address = '', table = ''] = process.argv.slice(2);
/** What the store is built on. */
const emitters: EventEmitter[] = [];

function storeOf(): Store {
  if (kind === 'redis') return redisStore({ url: address, log: false });
  if (kind === 'host') return hostStore({ socket: address, log: false });
  if (kind !== 'postgres') return memoryStore();
  const pool = new Pool({ connectionString: address, max: 3 });
  pool.on('error', () => {});
  emitters.push(pool);
  return postgresStore({ pool, table });
}

const SLOTS = 100;

type Headed = { readonly headers: Readonly<Record<string, string | string[] | undefined>> };
const user = accountId(({ headers }: Headed) => String(headers['x-user'] ?? 'nobody'));

const limiter = createLimiter({
  limits: {
    Rate: { key: user, burst: 100, count: 100, period: '1s' },
    Quota: quota({ key: user, count: 1_000_000, per: 'day' }),
    Slots: concurrency({ key: user, concurrency: SLOTS }),
    Waiting: { key: user, burst: 1, count: 100, period: '1s', maxWait: '100ms' },
    Settled: { key: user, burst: 1000, count: 1000, period: '1s' },
  },
  store: storeOf(),
  log: false,
});

/** The limits of the paths. */
const USES = {
  '/rate': ['Rate', 'Quota'],
  '/slots': ['Slots', 'Rate'],
  '/waiting': ['Waiting'],
  '/settled': [{ limit: 'Settled', mode: 'check-only', settle: () => 1 }],
} as const;

interface Answering {
  write(text: string): unknown;
  end(text?: string): unknown;
}

/** Answers at once, some turns later, or only in part. */
function answer(query: string, response: Answering): void {
  if (query === 'never') response.write('the first part');
  else if (query === 'late') setImmediate(() => setImmediate(() => response.end('late')));
  else response.end('at once');
}

function expressServer(): Server {
  const app = express();
  for (const [path, limits] of Object.entries(USES)) {
    app.use(path, rateLimitExpress({ limiter: limiter as unknown as Limiter, limits }), (req, res) =>
      answer(req.url.split('?')[1] ?? '', res),
    );
  }
  return createServer(app);
}

function koaServer(): Server {
  const app = new Koa();
  app.silent = true;
  for (const [path, limits] of Object.entries(USES)) {
    const limited = rateLimitKoa({ limiter: limiter as unknown as Limiter, limits });
    app.use((ctx, next) => (ctx.path === path ? limited(ctx as never, next) : next()));
  }
  app.use((ctx) => {
    ctx.respond = false;
    ctx.res.statusCode = 200;
    answer(ctx.querystring, ctx.res);
  });
  return createServer2(app.callback() as never);
}

const servers = [expressServer(), koaServer()];
for (const server of servers) {
  server.on('sessionError', () => {});
  server.listen(0, '127.0.0.1');
  // oxlint-disable-next-line no-await-in-loop -- two of them
  await once(server, 'listening');
}
/** The classes whose objects are counted. */
const known: Record<string, object> = {
  IncomingMessage,
  ServerResponse,
  Socket,
  Http2ServerRequest,
  Http2ServerResponse,
};
// oxlint-disable-next-line no-restricted-globals -- only its class is needed
const timer = setTimeout(() => undefined, 0);
clearTimeout(timer);
known['Timeout'] = timer.constructor;
servers[1]!.once('session', (session: object) => (known['Http2Session'] = session.constructor));
servers[1]!.once('stream', (stream: object) => (known['Http2Stream'] = stream.constructor));
await limiter.ready();

function connectionsOf(server: Server): Promise<number> {
  return new Promise((resolve) => server.getConnections((_error, count) => resolve(count)));
}

async function connections(): Promise<number> {
  const counts = await Promise.all(servers.map(connectionsOf));
  return counts.reduce((sum, count) => sum + count, 0);
}

function listenerCount(): number {
  const all = [process, ...servers, ...emitters];
  return all.reduce((sum, each) => sum + each.eventNames().reduce((n, name) => n + each.listenerCount(name), 0), 0);
}

/** How long a process may take to end what its clients have left, in milliseconds. */
const REST_MS = 3000;

async function held(): Promise<Held> {
  for (let waitedMs = 0; waitedMs < REST_MS && (await connections()) > 0; waitedMs += 50) await realDelay(50); // oxlint-disable-line no-await-in-loop
  let heapBytes = Infinity;
  // The least of some collections: one may not free what finalizers hold.
  for (let i = 0; i < 6; i++) {
    await realDelay(50); // oxlint-disable-line no-await-in-loop
    globalThis.gc!();
    heapBytes = Math.min(heapBytes, process.memoryUsage().heapUsed);
  }
  const objects = Object.fromEntries(Object.entries(known).map(([name, made]) => [name, countOf(made)]));
  return {
    heapBytes,
    objects,
    listeners: listenerCount(),
    connections: await connections(),
    slots: await slotsLeaked(),
  };
}

/** The types of Node lack this function. */
function countOf(made: object): number {
  return (v8 as unknown as { queryObjects(made: object): number }).queryObjects(made);
}

/** Longer than slots last that nobody renews. */
const EXPIRED_MS = 12_000;

/** How many slots some users hold that are renewed: those whose release was lost, as in an outage, are free when they expire. */
async function slotsLeaked(): Promise<number> {
  let slots = await slotsHeld();
  for (let waitedMs = 0; waitedMs < EXPIRED_MS && slots > 0; waitedMs += 500) {
    await realDelay(500); // oxlint-disable-line no-await-in-loop
    slots = await slotsHeld(); // oxlint-disable-line no-await-in-loop
  }
  return slots;
}

/** How many slots some users hold. */
async function slotsHeld(): Promise<number> {
  const users = Array.from({ length: 100 }, (_, i) => `user-${i}`);
  const checks = users.map(async (id) => (await limiter.check([{ limit: 'Slots', id }])).remaining);
  return (await Promise.all(checks)).reduce((sum, remaining) => sum + SLOTS - remaining, 0);
}

process.on('message', (command: string) => {
  if (command === 'end') process.exit();
  void held().then((figures) => process.send!(figures));
});
process.on('disconnect', () => process.exit());
process.send!({ ports: servers.map((server) => (server.address() as AddressInfo).port) });
