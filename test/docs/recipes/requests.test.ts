import type { SchedulerError } from '@sluice/core/scheduler';
import { FakeTime } from '@sluice/core/testing';
import express, { type RequestHandler } from 'express';
import { graphql, GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql';
import { expect, it } from 'vitest';
import { banAfterDenials } from '../code/recipes/ban-after-denials.ts';
import { deny, limitClients } from '../code/recipes/deny-list.ts';
import { limitFields } from '../code/recipes/graphql-cost.ts';
import { limitedField } from '../code/recipes/graphql-fields.ts';
import { limitFailedLogins } from '../code/recipes/login.ts';
import { limited, t } from './trpc.ts';
import { callApi } from '../code/recipes/third-party-api.ts';
import { deliver } from '../code/recipes/webhooks.ts';
import { serve } from '../serve.ts';

it('deny list: a listed client gets 403 from the next request on, until it is listed no longer', async () => {
  const url = await serve(express().use(limitClients, (_req, res) => void res.send('hello')));
  expect((await fetch(url)).status).toBe(200);
  deny(['127.0.0.0/8']);
  const denied = await fetch(url);
  expect([denied.status, denied.headers.get('Retry-After')]).toEqual([403, null]);
  expect(() => deny(['127.0.0.1/8'])).toThrow(/127\.0\.0\.1\/8/);
  expect((await fetch(url)).status).toBe(403);
  deny([]);
  const again = await fetch(url);
  expect(again.headers.get('RateLimit')).toMatch(/r=9\d;/);
});

it('ban after ten denials: it lasts an hour, and its own denials do not count', async () => {
  const time = new FakeTime();
  const url = await serve(express().use(banAfterDenials(time), (_req, res) => void res.send('hello')));
  const wait = async (): Promise<string> => (await fetch(url)).headers.get('Retry-After') ?? 'allowed';
  for (let i = 0; i < 100; i++) expect(await wait()).toBe('allowed');
  for (let i = 0; i < 10; i++) expect(await wait()).toBe('1');
  for (let i = 0; i < 30; i++) expect(await wait()).toBe('3600');
  time.advance(3_599_999);
  expect(await wait()).toBe('1');
  time.advance(1);
  expect(await wait()).toBe('allowed');
});

it('login: of twenty guesses at once five are tried, and the others are denied', async () => {
  const post = await loginServer();
  const guesses = await Promise.all(Array.from({ length: 20 }, () => post({ name: 'alice', password: 'guess' })));
  expect(guesses.filter((status) => status === 401)).toHaveLength(5);
  expect(guesses.filter((status) => status === 429)).toHaveLength(15);
  // Another spelling of the name is the same name; another name is not.
  expect(await post({ name: 'ALICE', password: 'right' })).toBe(429);
  expect(await post({ name: 'bob', password: 'right' })).toBe(200);
});

it('login: a good login takes nothing, however often', async () => {
  const post = await loginServer();
  // One after the other, so that each has its tokens back before the next.
  for (let i = 0; i < 10; i++) expect(await post({ name: 'carol', password: 'right' })).toBe(200);
});

it('login: forty people of one office sign in at once, and none is denied', async () => {
  const people = 40;
  let arrived = 0;
  let checkAll = (): void => undefined;
  const allArrived = new Promise<void>((resolve) => (checkAll = resolve));
  const post = await loginServer(async () => {
    if (++arrived === people) checkAll();
    await allArrived;
  });
  const logins = Array.from({ length: people }, (_, i) => post({ name: `person ${i}`, password: 'right' }));
  expect(new Set(await Promise.all(logins))).toEqual(new Set([200]));
});

it('login: a body without a name gets 400, because it would have no limit by name', async () => {
  const post = await loginServer();
  for (const body of [{}, { name: ['alice'] }, { name: { a: 1 } }, { name: '' }, { name: null }])
    expect(await post({ ...body, password: 'guess' })).toBe(400);
});

it('GraphQL cost: a list counts its fields for each entry, in fragments too, and again for each use of one', async () => {
  const costOf = await graphqlServer();
  expect(await costOf('{ me { name } }')).toBe(2);
  expect(await costOf('{ orders { id total } }')).toBe(20 * 3);
  expect(await costOf('{ orders { items { name } } }')).toBe(20 * (1 + 10 * 2));
  expect(await costOf('{ a: me { ...f } b: me { ...f ... on User { name } } } fragment f on User { id name }')).toBe(7);
});

it('GraphQL cost: a text that is not a query costs one, and a query that can never pass gets 400', async () => {
  const costOf = await graphqlServer();
  expect(await costOf('{ me {')).toBe(1);
  expect(await costOf(undefined)).toBe(1);
  expect(await costOf('{ ...f } fragment f on Query { me ...f }')).toBe(1);
  expect(await costOf('{ orders { items { orders { id } } } }')).toBe(400);
  const bomb = Array.from({ length: 60 }, (_, i) => `fragment f${i} on Query { ...f${i + 1} ...f${i + 1} }`);
  expect(await costOf(`{ ...f0 } ${bomb.join(' ')} fragment f60 on Query { me }`)).toBe(400);
});

it('GraphQL cost: the queries of a batch are added', async () => {
  const url = await graphqlAddress();
  const body = JSON.stringify([{ query: '{ me }' }, { query: '{ orders { id } }' }]);
  const response = await fetch(url, { method: 'POST', body, headers: { ...json, 'X-Account': 'batch' } });
  expect(await response.json()).toBe(41);
});

it('webhooks: a delivery waits until its receiver may get it, and other receivers do not wait', async () => {
  const url = await receiver(200);
  const other = await receiver(200);
  const sent = await Promise.all(Array.from({ length: 11 }, () => deliver(url, '{}')));
  const [wait] = sent.filter((ms) => ms !== null);
  expect(sent.filter((ms) => ms === null)).toHaveLength(10);
  expect(wait).toBeGreaterThan(0);
  expect(wait).toBeLessThanOrEqual(200);
  expect(await deliver(other, '{}')).toBeNull();
});

it('webhooks: after an error of the receiver all deliveries to it wait', async () => {
  const url = await receiver(503);
  expect(await deliver(url, '{}')).toBeGreaterThan(1900);
  expect(await deliver(url, '{}')).toBeGreaterThan(0);
});

const json = { 'Content-Type': 'application/json' };

it('GraphQL fields: five of seven calls of a mutation are executed, and another account has its own limit', async () => {
  const send = { type: GraphQLString, resolve: limitedField('MessagesPerAccount', () => 'sent') };
  const hello = { type: GraphQLString, resolve: () => 'hello' };
  const schema = new GraphQLSchema({
    query: new GraphQLObjectType({ name: 'Query', fields: { hello } }),
    mutation: new GraphQLObjectType({ name: 'Mutation', fields: { send } }),
  });
  const source = `mutation { ${Array.from({ length: 7 }, (_, i) => `m${i}: send`).join(' ')} }`;
  const { data, errors } = await graphql({ schema, source, contextValue: { account: '7' } });
  expect(Object.values(data!).filter((result) => result === 'sent')).toHaveLength(5);
  const denied = { extensions: { code: 'TOO_MANY_REQUESTS', retryAfterSeconds: 60 } };
  expect(errors).toMatchObject([denied, denied]);
  expect(await graphql({ schema, source: 'mutation { send }', contextValue: { account: '8' } })).toEqual({
    data: { send: 'sent' },
  });
});

it('tRPC procedures: each takes its own cost, and a denied call is TOO_MANY_REQUESTS', async () => {
  const router = t.router({
    cheap: limited().query(() => 'cheap'),
    dear: limited(40).mutation(() => 'dear'),
  });
  const call = t.createCallerFactory(router)({ account: 'acme' });
  expect([await call.dear(), await call.dear()]).toEqual(['dear', 'dear']);
  await expect(call.dear()).rejects.toMatchObject({
    code: 'TOO_MANY_REQUESTS',
    message: 'Too many calls. Try again in 12 s.',
  });
  expect(await call.cheap()).toBe('cheap');
});

async function loginServer(check = () => Promise.resolve()) {
  const login: RequestHandler = async (req, res) => {
    await check();
    res.sendStatus(req.body.password === 'right' ? 200 : 401);
  };
  const url = await serve(express().use(express.json(), limitFailedLogins, login));
  return async (body: object) =>
    (await fetch(url, { method: 'POST', body: JSON.stringify(body), headers: json })).status;
}

function graphqlAddress(): Promise<string> {
  const answer: RequestHandler = (req, res) => void res.json(req.rateLimit?.results[0]?.cost);
  return serve(express().use(authenticate, express.json(), limitFields, answer));
}

/** Leaves on a request what an authentication does. */
const authenticate: RequestHandler = (req, _res, next) => {
  Object.assign(req, { account: req.get('X-Account') });
  next();
};

let accounts = 0;

/** Gives the cost of a query, or the status of a refusal. */
async function graphqlServer() {
  const url = await graphqlAddress();
  return async (query?: string) => {
    const headers = { ...json, 'X-Account': `account-${accounts++}` };
    const response = await fetch(url, { method: 'POST', body: JSON.stringify({ query }), headers });
    return response.ok ? response.json() : response.status;
  };
}

function receiver(status: number): Promise<string> {
  return serve((_request, response) => void response.writeHead(status).end());
}

it('a third-party API: it gets at most ten calls in a second, and after a 429 none for as long as it demands', async () => {
  const arrivedMs: number[] = [];
  const url = await serve((_req, res) => {
    arrivedMs.push(performance.now());
    if (arrivedMs.length === 12) res.writeHead(429, { 'Retry-After': '3' });
    res.end();
  });
  const responses = await Promise.all(Array.from({ length: 12 }, () => callApi(url)));
  expect(responses.filter(({ status }) => status === 429)).toHaveLength(1);
  // A timer of Node may end up to a millisecond early.
  expect(arrivedMs[10]! - arrivedMs[0]!).toBeGreaterThan(1000);
  await callApi(url);
  expect(arrivedMs[12]! - arrivedMs[11]!).toBeGreaterThan(2900);
});

it('a third-party API: a call whose turn comes too late is an error, and a signal ends the wait', async () => {
  const url = await serve((_req, res) => res.end());
  const aborted = await Promise.allSettled(
    Array.from({ length: 60 }, () => callApi(url, { signal: AbortSignal.timeout(1) })),
  );
  expect(aborted.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(50);
  // 46 at the most begin within five seconds.
  const calls = await Promise.allSettled(Array.from({ length: 60 }, () => callApi(url)));
  const reasons = calls.flatMap((call) => (call.status === 'rejected' ? [(call.reason as SchedulerError).reason] : []));
  expect([reasons.length >= 12, new Set(reasons)]).toEqual([true, new Set(['within'])]);
});
