import { createServer } from 'node:http';
import { rateLimit } from '@sluice/express';
import express from 'express';
import { rateLimit as expressRateLimit } from 'express-rate-limit';
import { PROBLEM, problem, tenLines } from './ten-lines.mjs';

/** @typedef {import('./numbers.mjs').Numbers} Numbers */

/** @type {Readonly<Record<string, (numbers: Numbers) => import('express').RequestHandler[]>>} */
const LIMITERS = {
  'no limiter': () => [],
  'ten-line GCRA': (numbers) => [tenLineMiddleware(numbers)],
  Sluice: ({ count, periodMs }) => [rateLimit({ count, period: periodMs })],
  'express-rate-limit': ({ count, periodMs }) => [expressRateLimit({ limit: count, windowMs: periodMs })],
};

/** @type {import('./framework.ts').Framework} */
export const framework = {
  limiters: Object.keys(LIMITERS),
  async server(limiter, numbers) {
    const app = express();
    for (const middleware of LIMITERS[limiter]?.(numbers) ?? []) app.use(middleware);
    app.get('/', (_req, res) => {
      res.send('hello');
    });
    return createServer(app);
  },
};

/**
 * @param {Numbers} numbers
 * @returns {import('express').RequestHandler}
 */
function tenLineMiddleware(numbers) {
  const decide = tenLines(numbers);
  return (req, res, next) => {
    const { policy, state, retryAfter } = decide(req.socket.remoteAddress ?? '');
    res.setHeader('RateLimit-Policy', policy);
    res.setHeader('RateLimit', state);
    if (retryAfter === 0) next();
    else refuse(res, retryAfter);
  };
}

/**
 * @param {import('express').Response} res
 * @param {number} retryAfter
 */
function refuse(res, retryAfter) {
  const body = problem(retryAfter);
  res.writeHead(429, { ...PROBLEM, 'Retry-After': retryAfter, 'Content-Length': Buffer.byteLength(body) }).end(body);
}
