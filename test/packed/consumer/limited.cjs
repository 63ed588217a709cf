const express = require('express');
const Fastify = require('fastify');
const { Hono } = require('hono');
const Koa = require('koa');
const { createServer } = require('node:http');
const { Controller, Get, Module } = require('@nestjs/common');
const { APP_GUARD, NestFactory } = require('@nestjs/core');

/**
 * One server per framework that lets one request through, asked twice.
 *
 * @param {{ express: typeof import('@sluice/express'), koa: typeof import('@sluice/koa'), fastify: typeof import('@sluice/fastify'), node: typeof import('@sluice/node'), fetch: typeof import('@sluice/fetch'), hono: typeof import('@sluice/hono'), nestjs: typeof import('@sluice/nestjs') }} adapters
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

  const node = createServer(adapters.node.limitNode(one)((_req, res) => res.end('hello')));
  const address = () => '203.0.113.7';
  const handler = adapters.fetch.limitFetch({ ...one, address })(() => new Response('hello'));
  const honoApp = new Hono();
  honoApp.use(adapters.hono.rateLimit({ ...one, address }));
  honoApp.get('/', (c) => c.text('hello'));

  const nestApp = await NestFactory.create(nestModule(adapters.nestjs, one), { logger: false });
  await nestApp.init();

  return {
    nestjs: await askTwice(nestApp.getHttpServer().listen(0, '127.0.0.1')),
    node: await askTwice(node.listen(0, '127.0.0.1')),
    fetch: await callTwice(handler),
    hono: await callTwice((request) => honoApp.fetch(request)),
    express: await askTwice(expressApp.listen(0, '127.0.0.1')),
    koa: await askTwice(koaApp.listen(0, '127.0.0.1')),
    fastify: await askTwice(fastifyApp.server.listen(0, '127.0.0.1')),
  };
}

/**
 * @param {typeof import('@sluice/nestjs')} nestjs
 * @param {{ count: number, period: string }} one
 */
function nestModule({ RateLimitGuard, RateLimitModule }, one) {
  class Hello {
    hello() {
      return 'hello';
    }
  }
  Get()(Hello.prototype, 'hello', Object.getOwnPropertyDescriptor(Hello.prototype, 'hello'));
  Controller()(Hello);
  class App {}
  Module({
    imports: [RateLimitModule.forRoot(one)],
    controllers: [Hello],
    providers: [{ provide: APP_GUARD, useExisting: RateLimitGuard }],
  })(App);
  return App;
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

/**
 * @param {(request: Request) => Response | Promise<Response>} handler
 * @returns {Promise<[number, number]>}
 */
async function callTwice(handler) {
  const first = await handler(new Request('http://localhost/'));
  const second = await handler(new Request('http://localhost/'));
  return [first.status, second.status];
}

module.exports = { statusesOf };
