// A Worker whose store and overrides are behind a service, which hangs at times. `worker/driver.mjs` sends it requests.
import { accountId, createLimiter, everyone, memoryStore } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { quota } from '@sluice/core/quota';
import { storeGuard } from '@sluice/core/store';
import { limitFetch } from '@sluice/fetch';
import { rateLimit } from '@sluice/hono';
import { Hono } from 'hono';

const askService = () => fetch('http://service/');

function serviceStore() {
  const buckets = memoryStore();
  const run = async (operation) => {
    await askService();
    return buckets.run(operation);
  };
  return { guard: storeGuard, traits: { slots: true, periods: true }, run, close: async () => {} };
}

const failure = { deadlineMs: 50, onFailure: 'local' };
const key = accountId(() => 'one');
const limited = (limit, more = {}, options = {}) =>
  limitFetch({
    limiter: createLimiter({
      limits: { Limit: { key, ...limit } },
      store: serviceStore(),
      failure,
      log: false,
      ...more,
    }),
    address: () => null,
    ...options,
  });
const plenty = { count: 1_000_000, period: '1h' };
const overrides = async () => {
  await askService();
  return { ...plenty, count: 2_000_000 };
};
const ready = createLimiter({
  limits: { Ready: { key: everyone(), ...plenty } },
  store: { ...serviceStore(), ready: askService },
});
const onError = (error) => new Response(error.code, { status: 500 });

/** Handlers by their paths, all of limiters that were created while the module was loaded. */
const handlers = {
  '/rate': limited(plenty),
  '/quota': limited(quota({ key, count: 1_000_000, per: 'month' })),
  '/slots': limited(concurrency({ key, concurrency: 3, expiry: '1s' })),
  '/one-slot': limited(concurrency({ key, concurrency: 1, expiry: '1h' })),
  '/own-slots': limited(concurrency({ key, concurrency: 3, scope: 'process', expiry: '1s' })),
  '/closed': limited(plenty, { failure: { ...failure, onFailure: 'closed' } }),
  '/overrides': limited(plenty, { overrides }),
  '/settled': limited(plenty, {}, { limits: [{ limit: 'Limit', cost: 2, settle: () => 1 }] }),
  '/queued': limited({ burst: 1, count: 1, period: '1s', maxWait: '10s' }, {}, { onError }),
};
/** The ends of the sockets, by the requests that opened them. */
const closed = new WeakMap();

function echo(request) {
  const [client, server] = Object.values(new WebSocketPair());
  server.accept();
  closed.set(request, new Promise((resolve) => server.addEventListener('close', resolve)));
  server.addEventListener('close', () => server.close());
  return new Response(null, { status: 101, webSocket: client });
}

const sockets = concurrency({ key, concurrency: 1, expiry: '1s' });
const routes = Object.fromEntries(
  Object.entries(handlers).map(([path, limit]) => [path, limit(() => new Response('hello'))]),
);
routes['/socket'] = limited(sockets, {}, { onError })(echo);
routes['/held-socket'] = limited(sockets, {}, { onError, slotsUntil: (request) => closed.get(request) })(echo);
const app = new Hono();
app.use(
  rateLimit({
    limit: concurrency({ key, concurrency: 1 }),
    name: 'Slots',
    store: serviceStore(),
    failure,
    log: false,
    address: () => null,
  }),
);
app.get('/hono-slots', (c) => c.text('hello'));

export default {
  async fetch(request, env, context) {
    const { pathname } = new URL(request.url);
    if (pathname === '/hono-slots') return app.fetch(request, env, context);
    if (pathname !== '/ready') return routes[pathname](request, env, context);
    const outcome = await ready.ready({ timeoutMs: 50 }).then(
      () => 'ready',
      ({ code }) => code,
    );
    return new Response(outcome);
  },
};
