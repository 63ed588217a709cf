import fastifyRateLimit from '@fastify/rate-limit';
import type { FieldsDialect, Time } from '@sluice/core';
import { rateLimit as ours } from '@sluice/express';
import express, { type RequestHandler } from 'express';
import { rateLimit as theirs, type Options } from 'express-rate-limit';
import { fastify } from 'fastify';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';

/** The limit of a server: so many requests in each window, a whole number of seconds. */
export interface PeerLimit {
  readonly count: number;
  readonly windowMs: number;
}

/** A kind of server. */
export interface Peer {
  /** Whether it counts by windows, each of which begins with its first request. Ours is a token bucket. */
  readonly hasWindows: boolean;
  /** @param time - Of our servers. Others have that of the platform. */
  start(limit: PeerLimit, time?: Time): Promise<PeerServer>;
}

/** A server that listens. */
export interface PeerServer {
  readonly port: number;
  readonly server: Server;
  close(): Promise<void>;
}

/** Returns how long a denial of a peer lasts at most: a token bucket has more in a second. */
export function denialMsOf({ hasWindows }: Peer, { windowMs }: PeerLimit): number {
  return hasWindows ? windowMs : 1000;
}

const ofWindows = (start: Peer['start']): Peer => ({ hasWindows: true, start });
const ofOurs = (fields: FieldsDialect): Peer => ({
  hasWindows: false,
  start: ({ count, windowMs }, time) => expressServer(ours({ count, period: `${windowMs}ms`, fields, time })),
});

/** The servers that limit us: of other libraries, and of ours. */
export const PEERS: Readonly<Record<string, Peer>> = {
  'express-rate-limit with draft-8': ofWindows((limit) => expressServer(expressRateLimit(limit, 'draft-8'))),
  'express-rate-limit with draft-7': ofWindows((limit) => expressServer(expressRateLimit(limit, 'draft-7'))),
  'express-rate-limit with draft-6': ofWindows((limit) => expressServer(expressRateLimit(limit, 'draft-6'))),
  'express-rate-limit with X-RateLimit': ofWindows((limit) => expressServer(expressRateLimit(limit, false))),
  '@fastify/rate-limit': ofWindows((limit) => fastifyServer(limit, false)),
  '@fastify/rate-limit with a draft': ofWindows((limit) => fastifyServer(limit, true)),
  'rate-limiter-flexible': ofWindows((limit) => expressServer(rateLimiterFlexible(limit))),
  'our own with draft-11': ofOurs('draft-11'),
  'our own with legacy': ofOurs('legacy'),
};

/** The date is written by the clock of the test, which Node does not read for it. */
const writeDate: RequestHandler = (_request, response, next) => {
  response.setHeader('date', new Date().toUTCString());
  next();
};

async function expressServer(limit: RequestHandler): Promise<PeerServer> {
  const app = express();
  app.get('/', writeDate, limit, (_request, response) => void response.send('ok'));
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return listening(server, async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
}

function listening(server: Server, close: () => Promise<void>): PeerServer {
  return { port: (server.address() as AddressInfo).port, server, close };
}

function expressRateLimit({ windowMs, count }: PeerLimit, standardHeaders: Options['standardHeaders']): RequestHandler {
  return theirs({ windowMs, limit: count, standardHeaders, legacyHeaders: standardHeaders === false });
}

/** As in its README, "Express middleware" with headers. */
function rateLimiterFlexible({ count, windowMs }: PeerLimit): RequestHandler {
  const limiter = new RateLimiterMemory({ points: count, duration: windowMs / 1000 });
  return async ({ ip }, response, next) => {
    const reply = await limiter.consume(ip!).catch((denial: unknown) => denial as RateLimiterRes);
    response.set({
      'Retry-After': String(reply.msBeforeNext / 1000),
      'X-RateLimit-Limit': String(count),
      'X-RateLimit-Remaining': String(reply.remainingPoints),
      'X-RateLimit-Reset': String(Math.ceil((Date.now() + reply.msBeforeNext) / 1000)),
    });
    if (reply.consumedPoints <= count) next();
    else response.status(429).send('Too Many Requests');
  };
}

async function fastifyServer({ count, windowMs }: PeerLimit, enableDraftSpec: boolean): Promise<PeerServer> {
  const app = fastify({ forceCloseConnections: true });
  app.addHook('onRequest', async (_request, reply) => void reply.header('date', new Date().toUTCString()));
  await app.register(fastifyRateLimit, { max: count, timeWindow: windowMs, enableDraftSpec });
  app.get('/', () => 'ok');
  await app.listen({ port: 0, host: '127.0.0.1' });
  return listening(app.server, () => app.close());
}
