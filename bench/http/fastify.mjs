import fastifyRateLimit from '@fastify/rate-limit';
import { rateLimit } from '@sluice/fastify';
import Fastify from 'fastify';
import { PROBLEM, problem, tenLines } from './ten-lines.mjs';

/**
 * @typedef {import('./numbers.mjs').Numbers} Numbers
 * @typedef {import('fastify').FastifyInstance} Instance
 */

/** @type {Readonly<Record<string, (app: Instance, numbers: Numbers) => unknown>>} */
const LIMITERS = {
  'no limiter': () => undefined,
  'ten-line GCRA': (app, numbers) => app.addHook('onRequest', tenLineHook(numbers)),
  Sluice: (app, { count, periodMs }) => app.register(rateLimit, { count, period: periodMs }),
  '@fastify/rate-limit': (app, { count, periodMs }) =>
    app.register(fastifyRateLimit, { max: count, timeWindow: periodMs }),
};

/** @type {import('./framework.ts').Framework} */
export const framework = {
  limiters: Object.keys(LIMITERS),
  async server(limiter, numbers) {
    const app = Fastify();
    await LIMITERS[limiter]?.(app, numbers);
    app.get('/', async () => 'hello');
    await app.ready();
    return app.server;
  },
};

/**
 * @param {Numbers} numbers
 * @returns {import('fastify').onRequestHookHandler}
 */
function tenLineHook(numbers) {
  const decide = tenLines(numbers);
  return (request, reply, done) => {
    const { policy, state, retryAfter } = decide(request.socket.remoteAddress ?? '');
    reply.header('RateLimit-Policy', policy);
    reply.header('RateLimit', state);
    if (retryAfter === 0) return done();
    reply
      .code(429)
      .headers({ ...PROBLEM, 'Retry-After': retryAfter })
      .send(problem(retryAfter));
  };
}
