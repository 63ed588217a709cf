// WebSockets with one slot on the servers of Node, Bun and Deno. Prints for each server the outcomes of three handshakes, one
// after the other: the first, one while that is open, and one after it was closed.
import { createLimiter, everyone } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { limitFetch } from '@sluice/fetch';

const { Bun, Deno } = globalThis;
const limiterOf = () =>
  createLimiter({
    limits: { Sockets: concurrency({ key: everyone(), concurrency: 1 }) },
    store: undefined,
    log: false,
  });
const limits = ['Sockets'];
const address = () => null;
const WebSocket = globalThis.WebSocket ?? (await import('ws')).WebSocket;

const rows = {};
for (const [name, start] of Object.entries(Bun ? bunServers() : Deno ? denoServers() : nodeServers())) {
  const limiter = limiterOf();
  const { port, errors = [] } = await start(limiter);
  const first = await handshake(port);
  const beside = await handshake(port);
  first.close();
  beside.close();
  await isFree(limiter);
  const after = await handshake(port);
  rows[name] = [first.outcome, beside.outcome, after.outcome, ...new Set(errors)];
}
console.log(JSON.stringify(rows));
process.exit();

/** Opens a WebSocket. One that the server closes at once is refused, too: the handshake of express-ws comes before its limits. */
async function handshake(port) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`);
  const close = () => socket.close();
  const opened = await new Promise((resolve) => {
    socket.addEventListener('open', () => resolve(true));
    socket.addEventListener('error', () => resolve(false));
  });
  if (!opened) return { outcome: 'refused', close: () => {} };
  const echoed = await new Promise((resolve) => {
    socket.addEventListener('message', () => resolve(true));
    socket.addEventListener('close', () => resolve(false));
    socket.send('hello');
  });
  return { outcome: echoed ? 'open' : 'refused', close };
}

async function isFree(limiter) {
  while (!(await limiter.check([{ limit: 'Sockets', id: 'everyone' }])).allowed)
    await new Promise((resolve) => setTimeout(resolve, 5));
}

function nodeServers() {
  const echo = (socket) => socket.on('message', (data) => socket.send(String(data)));
  const listening = (server) =>
    new Promise((resolve) => {
      server.listen(0, '127.0.0.1', () => resolve({ port: server.address().port }));
    });
  const served = async (fetch, socketServer, { serve } = {}) => {
    ({ serve } = await import('@hono/node-server'));
    return new Promise((resolve) => {
      serve({ fetch, port: 0, hostname: '127.0.0.1', websocket: { server: socketServer } }, resolve);
    });
  };
  const honoApp = async (...middlewares) => {
    const { Hono } = await import('hono');
    const { upgradeWebSocket } = await import('@hono/node-server');
    const app = new Hono();
    app.use(...middlewares, (_c, next) => next());
    return app.get(
      '/',
      upgradeWebSocket(() => ({ onMessage: ({ data }, socket) => socket.send(data) })),
    );
  };
  const socketServer = async () => new (await import('ws')).WebSocketServer({ noServer: true });
  return {
    hono: async (limiter) => {
      const { rateLimit } = await import('@sluice/hono');
      const app = await honoApp(rateLimit({ limiter, limits, address }));
      return served(app.fetch, await socketServer());
    },
    fetch: async (limiter) => {
      const app = await honoApp();
      return served(limitFetch({ limiter, limits, address })(app.fetch), await socketServer());
    },
    fastify: async (limiter) => {
      const app = (await import('fastify')).fastify();
      await app.register((await import('@fastify/websocket')).default);
      await app.register((await import('@sluice/fastify')).rateLimit, { limiter, limits });
      app.get('/', { websocket: true }, echo);
      await app.listen({ port: 0, host: '127.0.0.1' });
      return { port: app.server.address().port };
    },
    express: async (limiter) => {
      const app = (await import('express')).default();
      (await import('express-ws')).default(app);
      app.use((await import('@sluice/express')).rateLimit({ limiter, limits }));
      app.ws('/', echo);
      return new Promise((resolve) => {
        const server = app.listen(0, '127.0.0.1', () => resolve({ port: server.address().port }));
      });
    },
    koa: async (limiter) => {
      const Koa = (await import('koa')).default;
      const app = (await import('koa-websocket')).default(new Koa());
      app.ws.use((await import('@sluice/koa')).rateLimit({ limiter, limits }));
      app.ws.use((ctx) => echo(ctx.websocket));
      return new Promise((resolve) => {
        const server = app.listen(0, '127.0.0.1', () => resolve({ port: server.address().port }));
      });
    },
    limitUpgrade: async (limiter) => {
      const server = (await import('node:http')).createServer();
      const sockets = await socketServer();
      const accept = (...upgrade) => sockets.handleUpgrade(...upgrade, echo);
      server.on('upgrade', (await import('@sluice/node')).limitUpgrade(limiter, { limits, accept }));
      return listening(server);
    },
  };
}

function bunServers() {
  const websocket = { message: (socket, message) => void socket.send(message) };
  const started = (limiter, options, handler) => {
    const fetch = limitFetch({ limiter, limits, address, ...options })(handler);
    return Bun.serve({ port: 0, hostname: '127.0.0.1', fetch, websocket });
  };
  return {
    fetch: (limiter) => started(limiter, {}, (request, server) => void server.upgrade(request)),
    hono: async (limiter) => {
      const { Hono } = await import('hono');
      const { upgradeWebSocket, websocket: ofHono } = await import('hono/bun');
      const { rateLimit } = await import('@sluice/hono');
      const app = new Hono().use(rateLimit({ limiter, limits, address }));
      app.get(
        '/',
        upgradeWebSocket(() => ({ onMessage: ({ data }, socket) => socket.send(data) })),
      );
      return Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: app.fetch, websocket: ofHono });
    },
    'a server that is not passed on': (limiter) => {
      const errors = [];
      const onError = ({ code }) => {
        errors.push(code);
        return new Response(null, { status: 500 });
      };
      let server;
      const fetch = limitFetch({ limiter, limits, address, onError })((request) => void server.upgrade(request));
      server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => fetch(request), websocket });
      return { port: server.port, errors };
    },
  };
}

function denoServers() {
  const started = (limiter, options, onOpen = () => {}) => {
    const errors = [];
    const onError = ({ code }) => {
      errors.push(code);
      return new Response(null, { status: 500 });
    };
    const handler = limitFetch({ limiter, limits, address, onError, ...options })((request) => {
      const { socket, response } = Deno.upgradeWebSocket(request);
      onOpen(request, socket);
      socket.addEventListener('message', ({ data }) => socket.send(data));
      return response;
    });
    const { port } = Deno.serve({ port: 0, hostname: '127.0.0.1', onListen() {} }, handler).addr;
    return { port, errors };
  };
  const closed = new WeakMap();
  const watch = (request, socket) =>
    closed.set(request, new Promise((resolve) => socket.addEventListener('close', resolve)));
  return {
    fetch: (limiter) => started(limiter, {}),
    'fetch with slotsUntil': (limiter) => started(limiter, { slotsUntil: (request) => closed.get(request) }, watch),
  };
}
