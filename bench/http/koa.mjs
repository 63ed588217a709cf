import { createServer } from 'node:http';
import { rateLimit } from '@sluice/koa';
import Koa from 'koa';
import ratelimit from 'koa-ratelimit';
import { PROBLEM, problem, tenLines } from './ten-lines.mjs';

/** @typedef {import('./numbers.mjs').Numbers} Numbers */

/** @type {Readonly<Record<string, (numbers: Numbers) => Koa.Middleware[]>>} */
const LIMITERS = {
  'no limiter': () => [],
  'ten-line GCRA': (numbers) => [tenLineMiddleware(numbers)],
  Sluice: ({ count, periodMs }) => [rateLimit({ count, period: periodMs })],
  'koa-ratelimit': ({ count, periodMs }) => [
    ratelimit({ driver: 'memory', db: new Map(), max: count, duration: periodMs }),
  ],
};

/** @type {import('./framework.ts').Framework} */
export const framework = {
  limiters: Object.keys(LIMITERS),
  async server(limiter, numbers) {
    const app = new Koa();
    for (const middleware of LIMITERS[limiter]?.(numbers) ?? []) app.use(middleware);
    app.use((ctx) => {
      ctx.body = 'hello';
    });
    return createServer(app.callback());
  },
};

/**
 * @param {Numbers} numbers
 * @returns {Koa.Middleware}
 */
function tenLineMiddleware(numbers) {
  const decide = tenLines(numbers);
  return (ctx, next) => {
    const { policy, state, retryAfter } = decide(ctx.req.socket.remoteAddress ?? '');
    ctx.set('RateLimit-Policy', policy);
    ctx.set('RateLimit', state);
    return retryAfter === 0 ? next() : refuse(ctx, retryAfter);
  };
}

/**
 * @param {Koa.Context} ctx
 * @param {number} retryAfter
 */
function refuse(ctx, retryAfter) {
  ctx.status = 429;
  ctx.set({ ...PROBLEM, 'Retry-After': String(retryAfter) });
  ctx.body = problem(retryAfter);
}
