/** @import { FastifyReply, FastifyRequest } from 'fastify' */
import { loadLimits } from '@sluice/config';
import { accountId, createLimiter, ipAddress, ipv6RangeCIDR } from '@sluice/core';
import { rateLimit } from '@sluice/fastify';
import Fastify from 'fastify';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const accounts = new Map([
  ['Bearer alice-token', { id: '1001' }],
  ['Bearer bob-token', { id: '1002' }],
]);
const accountOf = (/** @type {FastifyRequest} */ request) => accounts.get(request.headers.authorization ?? '');

/** The name as the login looks it up. A body without one gets 400: '' is not an id, and null would be no limit. */
const nameOf = (/** @type {FastifyRequest} */ request) => {
  const { name } = /** @type {{ name?: unknown }} */ (request.body ?? {});
  return typeof name === 'string' ? name.toLowerCase() : '';
};

// Names and keys are code, numbers are in the file: a mistake in either is an error here, before anything is served.
const loaded = await loadLimits({
  defaults: join(import.meta.dirname, 'limits.yaml'),
  keys: {
    RequestsPerIPAddress: ipAddress(),
    RequestsPerIPv6Range: ipv6RangeCIDR(),
    WorkPerAccount: accountId((/** @type {FastifyRequest} */ request) => accountOf(request)?.id ?? null),
    FailedLoginsPerName: accountId(nameOf),
  },
});
const limiter = createLimiter({ ...loaded });

const perClient = ['RequestsPerIPAddress', 'RequestsPerIPv6Range'];
const app = Fastify();

// Holds for every route without a `config.rateLimit` of its own, and for what no route answers.
await app.register(rateLimit, { limiter, limits: perClient });

app.get('/', () => 'hello\n');

// Decided together: a request that one limit refuses takes nothing from the others.
const cheap = { rateLimit: { limits: [...perClient, 'WorkPerAccount'] } };
app.get('/orders', { config: cheap, preHandler: requireAccount }, () => ({ orders: [] }));

const expensive = { rateLimit: { limits: [...perClient, { limit: 'WorkPerAccount', cost: 8 }] } };
app.get('/report', { config: expensive, preHandler: requireAccount }, () => ({ report: 'a lot of work' }));

/**
 * Takes a token before the password is checked, and gives it back unless the login fails: of 200 guesses sent at once,
 * five are checked. Logins with the right password take nothing, however many follow each other.
 */
const failedLogins = {
  limit: 'FailedLoginsPerName',
  settle: (/** @type {FastifyRequest} */ _request, /** @type {FastifyReply} */ reply) =>
    reply.statusCode === 401 ? 1 : 0,
};
// The name is in the body, which no hook before preValidation has.
const logins = { rateLimit: { limits: [...perClient, failedLogins], hook: /** @type {const} */ ('preHandler') } };
app.post('/login', { config: logins }, async (request, reply) => {
  const { password } = /** @type {{ password?: unknown }} */ (request.body ?? {});
  const succeeded = (await isPassword(password)) && nameOf(request) === 'alice';
  return reply.code(succeeded ? 200 : 401).send({ succeeded });
});

app.addHook('onClose', () => limiter.close());

/** Compares with a hash in a real service. That takes a while, in which other guesses arrive. */
async function isPassword(/** @type {unknown} */ password) {
  await delay(50);
  return password === 'open sesame';
}

/** @type {(request: FastifyRequest, reply: FastifyReply) => Promise<void>} */
async function requireAccount(request, reply) {
  if (accountOf(request) === undefined) await reply.code(401).send('send Authorization: Bearer alice-token\n');
}

try {
  await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT ?? 3000) });
} catch (error) {
  const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
  console.error(code === 'EADDRINUSE' ? `${message}. Choose another port: PORT=3001 node server.js` : message);
  process.exit(1);
}

const { port } = /** @type {import('node:net').AddressInfo} */ (app.server.address());
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

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => app.close());
