import fastifyRateLimit from '@fastify/rate-limit';
import type { FieldsDialect } from '@sluice/core';
import type { FakeTime } from '@sluice/core/testing';
import { rateLimit as ours } from '@sluice/express';
import express, { type RequestHandler } from 'express';
import { rateLimit as theirs, type Options } from 'express-rate-limit';
import { fastify } from 'fastify';
import type { AddressInfo } from 'node:net';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';

/** The limit of every server: so many requests in each window. */
export const COUNT = 100;
export const WINDOW_MS = 10_000;

/** A kind of server. */
export interface Peer {
  /** How long its denials last: a token bucket has more in a second at the latest. */
  readonly denialMs: number;
  start(time: FakeTime): Promise<PeerServer>;
}

/** A server that listens. */
export interface PeerServer {
  readonly port: number;
  close(): Promise<void>;
}

const ofWindows = (start: () => Promise<PeerServer>): Peer => ({ denialMs: WINDOW_MS, start });
const ofOurs = (fields: FieldsDialect): Peer => ({
  denialMs: 1000,
  start: (time) => expressServer(ourLimit(fields, time)),
});

/** The servers that limit us: of other libraries, and of ours. */
export const PEERS: Readonly<Record<string, Peer>> = {
  'express-rate-limit with draft-8': ofWindows(() => expressServer(expressRateLimit('draft-8'))),
  'express-rate-limit with draft-7': ofWindows(() => expressServer(expressRateLimit('draft-7'))),
  'express-rate-limit with draft-6': ofWindows(() => expressServer(expressRateLimit('draft-6'))),
  'express-rate-limit with X-RateLimit': ofWindows(() => expressServer(expressRateLimit(false))),
  '@fastify/rate-limit': ofWindows(() => fastifyServer(false)),
  '@fastify/rate-limit with a draft': ofWindows(() => fastifyServer(true)),
  'rate-limiter-flexible': ofWindows(() => expressServer(rateLimiterFlexible())),
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
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function expressRateLimit(standardHeaders: Options['standardHeaders']): RequestHandler {
  return theirs({ windowMs: WINDOW_MS, limit: COUNT, standardHeaders, legacyHeaders: standardHeaders === false });
}

/** As in its README, "Express middleware" with headers. */
function rateLimiterFlexible(): RequestHandler {
  const limiter = new RateLimiterMemory({ points: COUNT, duration: WINDOW_MS / 1000 });
  return async ({ ip }, response, next) => {
    const reply = await limiter.consume(ip!).catch((denial: unknown) => denial as RateLimiterRes);
    response.set({
      'Retry-After': String(reply.msBeforeNext / 1000),
      'X-RateLimit-Limit': String(COUNT),
      'X-RateLimit-Remaining': String(reply.remainingPoints),
      'X-RateLimit-Reset': String(Math.ceil((Date.now() + reply.msBeforeNext) / 1000)),
    });
    if (reply.consumedPoints <= COUNT) next();
    else response.status(429).send('Too Many Requests');
  };
}

function ourLimit(fields: FieldsDialect, time: FakeTime): RequestHandler {
  return ours({ count: COUNT, period: `${WINDOW_MS}ms`, fields, time });
}

async function fastifyServer(enableDraftSpec: boolean): Promise<PeerServer> {
  const app = fastify({ forceCloseConnections: true });
  app.addHook('onRequest', async (_request, reply) => void reply.header('date', new Date().toUTCString()));
  await app.register(fastifyRateLimit, { max: COUNT, timeWindow: WINDOW_MS, enableDraftSpec });
  app.get('/', () => 'ok');
  await app.listen({ port: 0, host: '127.0.0.1' });
  return { port: (app.server.address() as AddressInfo).port, close: () => app.close() };
}
