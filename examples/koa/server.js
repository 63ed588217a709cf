/** @import { Context, Next } from 'koa' */
import { bodyParser } from '@koa/bodyparser';
import { Router } from '@koa/router';
import { loadLimits } from '@sluice/config';
import { accountId, createLimiter, ipAddress, ipv6RangeCIDR } from '@sluice/core';
import { rateLimit } from '@sluice/koa';
import Koa from 'koa';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const accounts = new Map([
  ['Bearer alice-token', { id: '1001' }],
  ['Bearer bob-token', { id: '1002' }],
]);
const accountOf = (/** @type {Context} */ ctx) => accounts.get(ctx.get('Authorization'));

/** The name as the login looks it up. A body without one gets 400: '' is not an id, and null would be no limit. */
const nameOf = (/** @type {Context} */ ctx) => {
  const { name } = /** @type {{ name?: unknown }} */ (ctx.request.body ?? {});
  return typeof name === 'string' ? name.toLowerCase() : '';
};

// Names and keys are code, numbers are in the file: a mistake in either is an error here, before anything is served.
const loaded = await loadLimits({
  defaults: join(import.meta.dirname, 'limits.yaml'),
  keys: {
    RequestsPerIPAddress: ipAddress(),
    RequestsPerIPv6Range: ipv6RangeCIDR(),
    WorkPerAccount: accountId((/** @type {Context} */ ctx) => accountOf(ctx)?.id ?? null),
    FailedLoginsPerName: accountId(nameOf),
  },
});
const limiter = createLimiter({ ...loaded });

const perClient = ['RequestsPerIPAddress', 'RequestsPerIPv6Range'];
const router = new Router();

router.get('/', rateLimit({ limiter, limits: perClient }), (ctx) => {
  ctx.body = 'hello\n';
});

// Decided together: a request that one limit refuses takes nothing from the others.
router.get('/orders', rateLimit({ limiter, limits: [...perClient, 'WorkPerAccount'] }), requireAccount, (ctx) => {
  ctx.body = { orders: [] };
});

const expensive = { limit: 'WorkPerAccount', cost: 8 };
router.get('/report', rateLimit({ limiter, limits: [...perClient, expensive] }), requireAccount, (ctx) => {
  ctx.body = { report: 'a lot of work' };
});

/**
 * Takes a token before the password is checked, and gives it back unless the login fails: of 200 guesses sent at once,
 * five are checked. Logins with the right password take nothing, however many follow each other.
 */
const failedLogins = {
  limit: 'FailedLoginsPerName',
  settle: (/** @type {Context} */ ctx) => (ctx.status === 401 ? 1 : 0),
};
router.post('/login', bodyParser(), rateLimit({ limiter, limits: [...perClient, failedLogins] }), async (ctx) => {
  const { password } = /** @type {{ password?: unknown }} */ (ctx.request.body ?? {});
  const succeeded = (await isPassword(password)) && nameOf(ctx) === 'alice';
  ctx.status = succeeded ? 200 : 401;
  ctx.body = { succeeded };
});

const app = new Koa();
app.use(router.routes());

// What no route answers is limited too.
app.use(rateLimit({ limiter, limits: perClient }));

/** Compares with a hash in a real service. That takes a while, in which other guesses arrive. */
async function isPassword(/** @type {unknown} */ password) {
  await delay(50);
  return password === 'open sesame';
}

/** @type {(ctx: Context, next: Next) => Promise<void>} */
function requireAccount(ctx, next) {
  if (accountOf(ctx) === undefined) ctx.throw(401, 'send Authorization: Bearer alice-token');
  return next();
}

const server = createServer(app.callback()).listen(Number(process.env.PORT ?? 3000), '127.0.0.1');

server.on('listening', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const url = `http://127.0.0.1:${port}`;
  console.log(`Listening on ${url}

One request, with its rate limit fields:
  curl -i ${url}/
Three reports of cost 8 from an account that has 20 tokens. The third is denied:
  curl -i -H "Authorization: Bearer alice-token" "${url}/report?[1-3]"
Six failed logins where five are allowed. The sixth is denied:
  curl -i -H "Content-Type: application/json" -d '{"name":"alice","password":"guess"}' "${url}/login?[1-6]"
More requests than the burst of 20. The last ones are denied; after Retry-After seconds one is allowed again:
  curl -i "${url}/?[1-25]"
`);
});

server.on('error', (/** @type {NodeJS.ErrnoException} */ error) => {
  console.error(
    error.code === 'EADDRINUSE' ? `${error.message}. Choose another port: PORT=3001 node server.js` : error.message,
  );
  process.exitCode = 1;
});

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => server.close(() => limiter.close()));
