// What the compiler must accept and refuse; `npm run check -- types` reads it, nothing runs it.
import { accountId, createLimiter, type Decision } from '@sluice/core';
import { rateLimit as expressRateLimit } from '@sluice/express';
import { rateLimit as koaRateLimit } from '@sluice/koa';
import { limitNode } from '@sluice/node';
import type { Request as ExpressRequest } from 'express';
import type { Context as KoaContext } from 'koa';
import { createServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';

const limits = { count: 100, period: '1m' } as const;

// @ts-expect-error a limit needs a period
expressRateLimit({ count: 100 });
// @ts-expect-error a limit needs a count
koaRateLimit({ period: '1m' });
// @ts-expect-error a typo is not an option
expressRateLimit({ ...limits, brust: 10 });
// @ts-expect-error `windowMs` is `period` here
koaRateLimit({ count: 100, windowMs: 60_000 });
// @ts-expect-error there are three modes
expressRateLimit({ ...limits, mode: 'peek' });

// Every callback is given what its framework gives.
expressRateLimit({ ...limits, cost: (req) => (req.get('bulk') === undefined ? 1 : 10) });
expressRateLimit({ ...limits, share: async (req) => (req.path === '/checkout' ? 1 : 0.8) });
koaRateLimit({ ...limits, share: (ctx) => (ctx.path === '/checkout' ? 1 : 0.8) });
// @ts-expect-error a share is a number
koaRateLimit({ ...limits, share: '80%' });
expressRateLimit({ ...limits, mode: 'check-only', settle: (_req, res) => (res.statusCode === 401 ? 1 : 0) });
expressRateLimit({ ...limits, onDenied: (_req, res, _next, decision) => res.json({ waitMs: decision.retryAfterMs }) });
koaRateLimit({ ...limits, skip: async (ctx) => ctx.path === '/health' });
koaRateLimit({ ...limits, settle: (ctx) => (ctx.status === 401 ? 1 : 0) });
koaRateLimit({ ...limits, settle: (ctx, { finished }) => (finished ? ctx.length : 100), settleAborted: true });
expressRateLimit({ ...limits, settle: (_req, res, end) => (end.finished ? 1 : res.statusCode) });
// @ts-expect-error the end of a response has no status
expressRateLimit({ ...limits, settle: (_req, _res, end) => end.status });
koaRateLimit({
  ...limits,
  onDenied(ctx, decision) {
    ctx.body = { waitMs: decision.retryAfterMs };
  },
});

// A limiter whose key reads one framework's request does not fit another.
const forExpress = createLimiter({
  limits: { Orders: { key: accountId((req: ExpressRequest) => req.get('account') ?? null), ...limits } },
});
const forKoa = createLimiter({
  limits: { Orders: { key: accountId((ctx: KoaContext) => ctx.get('account')), ...limits } },
});
expressRateLimit({ limiter: forExpress });
koaRateLimit({ limiter: forKoa });
// @ts-expect-error its key reads a Koa context
expressRateLimit({ limiter: forKoa });
// @ts-expect-error its key reads an Express request
koaRateLimit({ limiter: forExpress });

export async function decided(): Promise<Decision> {
  // @ts-expect-error a transaction names its limit
  await forExpress.spend([{ id: '7' }]);
  return forExpress.spend([{ limit: 'Orders', id: '7' }]);
}

// A listener is given what its server gives, and the decision.
createServer(limitNode(limits)((req, res) => res.end(`${req.socket.remoteAddress} ${req.rateLimit?.remaining}`)));
createHttp2Server(limitNode(limits)((req, res) => res.end(`${req.stream.id} ${req.rateLimit?.remaining}`)));
