import { rateLimit } from '@sluice/fastify';
import Fastify from 'fastify';
import { answer, billed } from './answer.js';
import { IN_ADVANCE, limiter } from './limits.js';

const app = Fastify();

await app.register(rateLimit, {
  limiter,
  limits: [{ limit: 'TokensPerClient', cost: IN_ADVANCE, settle: billed }],
});
app.get('/', (_request, reply) => reply.type('text/plain').send(answer()));

// Fastify runs this when all requests in flight were answered.
app.addHook('onClose', () => limiter.close({ store: true }));

await app.listen({ port: Number(process.env.PORT ?? 3000) });
const { port } = /** @type {import('node:net').AddressInfo} */ (app.server.address());
console.log(`Listening on http://127.0.0.1:${port}`);

process.once('SIGTERM', () => {
  void app.close();
  // Clients keep their connections: Fastify ends busy ones with a 503, and idle ones are closed here.
  setInterval(() => app.server.closeIdleConnections(), 100).unref();
});
