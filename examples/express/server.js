/** @import { NextFunction, Request, Response } from 'express' */
import { loadLimits } from '@sluice/config';
import { accountId, createLimiter, ipAddress, ipv6RangeCIDR } from '@sluice/core';
import { rateLimit } from '@sluice/express';
import express from 'express';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const accounts = new Map([
  ['Bearer alice-token', { id: '1001' }],
  ['Bearer bob-token', { id: '1002' }],
]);
const accountOf = (/** @type {Request} */ req) => accounts.get(req.headers.authorization ?? '');

/** The name as the login looks it up. A body without one gets 400: '' is not an id, and null would be no limit. */
const nameOf = (/** @type {Request} */ { body }) => (typeof body?.name === 'string' ? body.name.toLowerCase() : '');

// Names and keys are code, numbers are in the file: a mistake in either is an error here, before anything is served.
const loaded = await loadLimits({
  defaults: join(import.meta.dirname, 'limits.yaml'),
  keys: {
    RequestsPerIPAddress: ipAddress(),
    RequestsPerIPv6Range: ipv6RangeCIDR(),
    WorkPerAccount: accountId((/** @type {Request} */ req) => accountOf(req)?.id ?? null),
    FailedLoginsPerName: accountId(nameOf),
  },
});
const limiter = createLimiter({ ...loaded });

const perClient = ['RequestsPerIPAddress', 'RequestsPerIPv6Range'];
const app = express();

app.get('/', rateLimit({ limiter, limits: perClient }), (_req, res) => {
  res.send('hello\n');
});

// Decided together: a request that one limit refuses takes nothing from the others.
app.get('/orders', rateLimit({ limiter, limits: [...perClient, 'WorkPerAccount'] }), requireAccount, (_req, res) => {
  res.json({ orders: [] });
});

const expensive = { limit: 'WorkPerAccount', cost: 8 };
app.get('/report', rateLimit({ limiter, limits: [...perClient, expensive] }), requireAccount, (_req, res) => {
  res.json({ report: 'a lot of work' });
});

/**
 * Takes a token before the password is checked, and gives it back unless the login fails: of 200 guesses sent at once,
 * five are checked. Logins with the right password take nothing, however many follow each other.
 */
const failedLogins = {
  limit: 'FailedLoginsPerName',
  settle: (/** @type {Request} */ _req, /** @type {Response} */ res) => (res.statusCode === 401 ? 1 : 0),
};
app.post('/login', express.json(), rateLimit({ limiter, limits: [...perClient, failedLogins] }), async (req, res) => {
  const { password } = /** @type {{ password?: unknown }} */ (req.body ?? {});
  const succeeded = (await isPassword(password)) && nameOf(req) === 'alice';
  res.status(succeeded ? 200 : 401).json({ succeeded });
});

// What no route answers is limited too.
app.use(rateLimit({ limiter, limits: perClient }));

/** Compares with a hash in a real service. That takes a while, in which other guesses arrive. */
async function isPassword(/** @type {unknown} */ password) {
  await delay(50);
  return password === 'open sesame';
}

/** @type {(req: Request, res: Response, next: NextFunction) => void} */
function requireAccount(req, res, next) {
  if (accountOf(req) === undefined) res.status(401).send('send Authorization: Bearer alice-token\n');
  else next();
}

const server = createServer(app).listen(Number(process.env.PORT ?? 3000), '127.0.0.1');

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
    error.code === 'EADDRINUSE' ? `${error.message}. Choose another port: PORT=3001 npm start` : error.message,
  );
  process.exitCode = 1;
});

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => server.close(() => limiter.close()));
