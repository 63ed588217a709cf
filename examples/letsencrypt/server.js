/** @import { NextFunction, Request, Response } from 'express' */
import { IpAddress, SluiceError } from '@sluice/core';
import express from 'express';
import { createServer } from 'node:http';
import { bucketsOf, limiter, watch } from './order-limits.js';

const accounts = new Map([
  ['Bearer alice-token', '1001'],
  ['Bearer host-token', '1002'],
  ['Bearer loop-token', '1003'],
]);

const app = express();
// Of addresses that the loopback vouches for, the last one that is not loopback. It lets curl play any client here.
app.set('trust proxy', 'loopback');
app.use(express.json());

app.post('/orders', async (req, res) => {
  const order = orderOf(req);
  // Takes a token from every bucket or from none.
  const decision = await limiter.spend(bucketsOf(order));
  if (!decision.allowed) return refuse(res, decision);

  if (!(await controls(order))) {
    // No certificate came of it: all of its tokens go back.
    await limiter.refund(decision);
    return problem(res, 422, 'unauthorized', 'The account does not control all names. The order counts for no limit.');
  }
  res.status(201).json({ status: 'valid', names: order.names });
});

/** What an order of these names would meet now: takes nothing. */
app.get('/limits', async (req, res) => {
  const { names } = req.query;
  const { results } = await limiter.check(bucketsOf(orderOf(req, typeof names === 'string' ? names.split(',') : null)));
  res.json(results.map(({ limit, id, remaining, burst }) => ({ limit, id, remaining, burst })));
});

/** @param {Request} req */
function orderOf(req, names = req.body?.names) {
  const account = accounts.get(req.headers.authorization ?? '');
  if (account === undefined) throw new BadOrder(401, 'Send Authorization: Bearer alice-token.');
  const address = IpAddress.parse(req.ip ?? '');
  if (address === undefined) throw new BadOrder(400, 'The client has no address.');
  const isList = Array.isArray(names) && names.length > 0 && names.length <= 100;
  if (!isList || !names.every((name) => typeof name === 'string')) {
    throw new BadOrder(400, 'An order names 1 to 100 domains: { "names": ["example.com"] }.');
  }
  return { address, account, names };
}

/**
 * Stands in for the challenges of a real authority: nobody controls a name that starts with `unreachable`.
 *
 * @param {{ names: readonly string[] }} order
 */
async function controls({ names }) {
  return names.every((name) => !name.startsWith('unreachable.'));
}

/** @type {(res: Response, decision: import('@sluice/core').Decision) => void} */
function refuse(res, { results, retryAfterMs }) {
  const exceeded = results.filter(({ allowed }) => !allowed).map(({ limit, id }) => `${limit} of ${id}`);
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  res.set('Retry-After', String(seconds));
  problem(res, 429, 'rateLimited', `The order exceeds ${exceeded.join(' and ')}. Try again in ${seconds} seconds.`);
}

/** @type {(res: Response, status: number, type: string, detail: string) => void} */
function problem(res, status, type, detail) {
  res.status(status).type('application/problem+json');
  res.send(JSON.stringify({ type: `urn:ietf:params:acme:error:${type}`, status, detail }));
}

class BadOrder extends Error {
  /**
   * @param {400 | 401} status
   * @param {string} message
   */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

app.use(
  (
    /** @type {unknown} */ error,
    /** @type {Request} */ _req,
    /** @type {Response} */ res,
    /** @type {NextFunction} */ next,
  ) => {
    // Names that are none are an ERR_ID of the library, with status 400.
    const isOurs = error instanceof BadOrder || error instanceof SluiceError;
    if (!isOurs || error.status === 500) return next(error);
    problem(res, error.status, 'malformed', error.message);
  },
);

const server = createServer(app).listen(Number(process.env.PORT ?? 3000), '127.0.0.1');

server.on('listening', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const url = `http://127.0.0.1:${port}`;
  const order = (/** @type {string} */ rest) => `curl -i -H "Content-Type: application/json" ${rest}`;
  const alice = '-H "Authorization: Bearer alice-token"';
  console.log(`Listening on ${url}

Six orders of the same two names, where a week has five; the sixth takes nothing from any limit:
  ${order(`${alice} -d '{"names":["example.com","www.example.com"]}' "${url}/orders?[1-6]"`)}
What is left for such an order:
  curl ${alice} "${url}/limits?names=example.com,www.example.com"
An order that fails has its tokens back:
  ${order(`${alice} -d '{"names":["unreachable.example.org"]}' ${url}/orders`)}
An account with an override, from a network with an override, and from an IPv6 client:
  curl -H "Authorization: Bearer host-token" -H "X-Forwarded-For: 10.20.3.4" "${url}/limits?names=example.com"
  curl ${alice} -H "X-Forwarded-For: 2001:db8:7::1" "${url}/limits?names=example.com"
Edit limits.yaml or overrides.yaml meanwhile, and ask again.
`);
});

server.on('error', (/** @type {NodeJS.ErrnoException} */ error) => {
  console.error(
    error.code === 'EADDRINUSE' ? `${error.message}. Choose another port: PORT=3001 npm start` : error.message,
  );
  process.exitCode = 1;
});

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    watch.close();
    server.close(() => limiter.close());
  });
}
