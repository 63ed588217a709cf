// A Worker on hono-rate-limiter with `nodejs_compat`, with the store of that library and with ours, in memory and behind a
// service. `worker/drop-in-driver.mjs` sends it requests.
import { memoryStore } from '@sluice/core';
import { storeGuard } from '@sluice/core/store';
import { rateLimitStore } from '@sluice/drop-in/express-rate-limit';
import { Hono } from 'hono';
import { rateLimiter, webSocketLimiter } from 'hono-rate-limiter';
import { upgradeWebSocket } from 'hono/cloudflare-workers';

function serviceStore() {
  const buckets = memoryStore();
  const run = async (operation) => {
    await fetch('http://service/');
    return buckets.run(operation);
  };
  return { guard: storeGuard, run, close: async () => {} };
}

const failure = { onFailure: 'closed', deadlineMs: 20_000 };
const STORES = {
  own: () => ({}),
  memory: () => ({ store: rateLimitStore({ log: false }) }),
  service: () => ({ store: rateLimitStore({ store: serviceStore(), failure, log: false }) }),
};
const USAGES = { plain: {}, failed: { skipFailedRequests: true }, successful: { skipSuccessfulRequests: true } };

function appOf(stores) {
  const app = new Hono();
  for (const [usage, options] of Object.entries(USAGES)) {
    const limits = { windowMs: 3_600_000, limit: 2, keyGenerator: () => 'k', ...options };
    app.use(`/${usage}/*`, rateLimiter({ ...limits, ...stores() }));
    const limited = webSocketLimiter({ ...limits, ...stores() });
    const echo = { onMessage: (event, socket) => socket.send(event.data), onClose: (_event, socket) => socket.close() };
    app.get(`/socket/${usage}`, upgradeWebSocket(limited(() => echo)));
  }
  app.get('/:usage/:status', (c) => c.text('hello', Number(c.req.param('status'))));
  app.onError((error, c) => c.text(error.message, 500));
  return app;
}

// While the module is loaded. The own memory store sets a timer, which a Worker must not do before its first request.
const { own, ...ours } = STORES;
const apps = Object.fromEntries(Object.entries(ours).map(([name, stores]) => [name, appOf(stores)]));

export default {
  fetch(request, env, context) {
    const [, store, ...path] = new URL(request.url).pathname.split('/');
    apps.own ??= appOf(own);
    return apps[store].fetch(new Request(`http://limited/${path.join('/')}`, request), env, context);
  },
};
