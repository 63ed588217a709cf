import { createLimiter, everyone, memoryStore } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { rateLimit } from '@sluice/fastify';
import { fastify, type FastifyInstance, type RouteHandlerMethod } from 'fastify';
import { connect, type AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';

/** Serves one slot that is held until the handler ends. */
async function serve(add: (app: FastifyInstance) => void, options: { readonly early?: RouteHandlerMethod } = {}) {
  const store = memoryStore();
  const limiter = createLimiter({
    limits: { InFlight: concurrency({ key: everyone(), concurrency: 5 }) },
    store,
    log: false,
  });
  const app = fastify();
  onTestFinished(() => app.close());
  if (options.early !== undefined) app.get('/early', options.early);
  await app.register(rateLimit, { limiter, slotsUntil: 'handler' });
  add(app);
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const held = (): number => store.stats().slots['InFlight'] ?? 0;
  /** Sends a request, and returns a function that closes its connection. */
  const visit = (path = '/'): (() => void) => {
    const socket = connect(port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => undefined).write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    return () => socket.resetAndDestroy();
  };
  return { app, held, visit };
}

/** A promise, and the function that resolves it. */
function later(): { readonly promise: Promise<void>; readonly end: () => void } {
  let end = (): void => undefined;
  const promise = new Promise<void>((resolve) => (end = resolve));
  return { promise, end };
}

/** Lets a client leave while its handler works, which keeps its slot. */
async function leaveAmid({ held, visit }: Pick<Awaited<ReturnType<typeof serve>>, 'held' | 'visit'>): Promise<void> {
  const leave = visit();
  await expect.poll(held).toBe(1);
  leave();
  await turns();
  expect(held()).toBe(1);
}

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
};

test('an async handler that returns nothing after its client has left frees its slot', async () => {
  const { promise, end } = later();
  const { held, visit } = await serve((app) => app.get('/', async () => promise));
  await leaveAmid({ held, visit });
  end();
  await expect.poll(held).toBe(0);
});

test('an async handler that has sent its reply holds the slot until it ends', async () => {
  const { promise, end } = later();
  const { app, held } = await serve((instance) =>
    instance.get('/', async (_request, reply) => {
      void reply.send('ok');
      await promise;
    }),
  );
  expect((await app.inject('/')).body).toBe('ok');
  expect(held()).toBe(1);
  end();
  await expect.poll(held).toBe(0);
});

test('a handler without a promise frees its slot when it sends its reply, also after its client has left', async () => {
  const { promise, end } = later();
  const { held, visit } = await serve((app) => {
    app.get('/', (_request, reply) => void promise.then(() => reply.send('ok')));
  });
  await leaveAmid({ held, visit });
  end();
  await expect.poll(held).toBe(0);
});

test.each<[string, RouteHandlerMethod]>([
  ['sends at once', (_request, reply) => void reply.send('ok')],
  ['returns its reply', (_request, reply) => reply.send('ok')],
  ['throws', () => { throw new Error('boom'); }], // prettier-ignore
  ['rejects', async () => Promise.reject(new Error('boom'))],
  ['sends by hand', (_request, reply) => void reply.hijack().raw.end('ok')],
])('a handler that %s frees its slot', async (_how, handler) => {
  const { app, held } = await serve((instance) => instance.get('/', handler));
  await app.inject('/');
  await expect.poll(held).toBe(0);
  await app.inject({ url: '/', method: 'HEAD' });
  await expect.poll(held).toBe(0);
});

test('the thenable of a query builder runs once', async () => {
  let runs = 0;
  // oxlint-disable-next-line unicorn/no-thenable -- it is what is tried
  const query = { then: (done: (rows: string) => void) => (runs++, done('rows')) };
  const { app, held } = await serve((instance) => instance.get('/', () => query));
  expect((await app.inject('/')).body).toBe('rows');
  expect(runs).toBe(1);
  await expect.poll(held).toBe(0);
});

test('a request that a later hook answers, one without a route, and one of an earlier route free their slots', async () => {
  const { app, held } = await serve(
    (instance) => instance.get('/', { preHandler: async (_request, reply) => reply.code(401).send('no') }, () => 'ok'),
    { early: async () => 'early' },
  );
  const statuses = [];
  for (const url of ['/', '/none', '/early']) statuses.push((await app.inject(url)).statusCode);
  expect(statuses).toEqual([401, 404, 200]);
  await expect.poll(held).toBe(0);
});

test('several registrations release their slots at the same end', async () => {
  const { promise, end } = later();
  const { app, held, visit } = await serve((instance) => {
    void instance.register(async (child) => {
      const other = createLimiter({ limits: { Here: concurrency({ key: everyone(), concurrency: 1 }) }, log: false });
      await child.register(rateLimit, { limiter: other, slotsUntil: 'handler' });
      child.get('/', async () => promise);
    });
  });
  const leave = visit();
  await expect.poll(held).toBe(1);
  leave();
  expect((await app.inject('/')).statusCode).toBe(503);
  end();
  await expect.poll(held).toBe(0);
  expect((await app.inject('/')).statusCode).toBe(200);
});
