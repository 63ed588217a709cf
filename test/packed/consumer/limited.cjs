const express = require('express');
const Fastify = require('fastify');
const Koa = require('koa');

/**
 * One server per framework that lets one request through, asked twice.
 *
 * @param {{ express: typeof import('@sluice/express'), koa: typeof import('@sluice/koa'), fastify: typeof import('@sluice/fastify') }} adapters
 * @returns {Promise<Record<string, [first: number, second: number]>>} the statuses that came back
 */
async function statusesOf(adapters) {
  const one = { count: 1, period: '1h' };

  const expressApp = express();
  expressApp.use(adapters.express.rateLimit(one));
  expressApp.get('/', (_req, res) => res.end('hello'));

  const koaApp = new Koa();
  koaApp.use(adapters.koa.rateLimit(one));
  koaApp.use((ctx) => (ctx.body = 'hello'));

  const fastifyApp = Fastify();
  await fastifyApp.register(adapters.fastify.rateLimit, one);
  fastifyApp.get('/', () => 'hello');
  await fastifyApp.ready();

  return {
    express: await askTwice(expressApp.listen(0, '127.0.0.1')),
    koa: await askTwice(koaApp.listen(0, '127.0.0.1')),
    fastify: await askTwice(fastifyApp.server.listen(0, '127.0.0.1')),
  };
}

/**
 * @param {import('node:http').Server} server
 * @returns {Promise<[number, number]>}
 */
async function askTwice(server) {
  if (!server.listening) await new Promise((resolve) => server.once('listening', resolve));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const first = await fetch(`http://127.0.0.1:${port}/`);
  const second = await fetch(`http://127.0.0.1:${port}/`);
  server.close();
  server.closeAllConnections();
  return [first.status, second.status];
}

module.exports = { statusesOf };
