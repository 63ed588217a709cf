import { accountId, createLimiter, memoryStore, SluiceError, type LimiterEvent } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { FakeTime } from '@sluice/core/testing';
import { limitNode, type LimitNodeOptions } from '@sluice/node';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';

const userOf = (request: IncomingMessage): string | null => (request.headers['x-user'] as string | undefined) ?? null;
const key = accountId(userOf);
const perUser = (more: object = {}): LimitNodeOptions => ({
  name: 'PerUser',
  key,
  count: 2,
  period: '1m',
  store: memoryStore({ time: new FakeTime() }),
  log: false,
  ...more,
});

type Listener = (request: IncomingMessage, response: ServerResponse) => unknown;

/** Serves a listener, and returns a function that asks as a user. */
async function serve(listener: Listener): Promise<(user?: string) => Promise<Response>> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return (user = 'ann') => fetch(`http://127.0.0.1:${port}/`, { headers: { 'X-User': user } });
}

test('a listener sees the decision on its request, and answers within the limit', async () => {
  const limit = limitNode(perUser());
  const ask = await serve(limit((request, response) => response.end(`${request.rateLimit?.remaining}`)));
  expect([await (await ask()).text(), await (await ask()).text()]).toEqual(['1', '0']);
  const denied = await ask();
  expect([denied.status, denied.headers.get('Retry-After')]).toEqual([429, '30']);
});

test('the limits of one call can limit several listeners, which share its buckets', async () => {
  const limit = limitNode(perUser());
  const [one, other] = [
    await serve(limit((_, response) => response.end())),
    await serve(limit((_, response) => response.end())),
  ];
  expect([(await one()).status, (await other()).status, (await one()).status]).toEqual([200, 200, 429]);
});

test('an id that is not valid is answered with 400 and the fields of the limits that were decided, without an event', async () => {
  const events: LimiterEvent[] = [];
  const limiter = createLimiter({
    limits: {
      PerUser: { key, count: 2, period: '1m' },
      PerAddress: { key: accountId(() => 'one'), count: 9, period: '1m' },
    },
    store: memoryStore({ time: new FakeTime() }),
    onEvent: (event) => events.push(event),
    log: false,
  });
  const limit = limitNode({ limiter, limits: ['PerUser', 'PerAddress'] });
  const ask = await serve(limit((_, response) => response.end('handled')));
  const { status, headers } = await ask('x'.repeat(300));
  expect([status, headers.get('RateLimit')]).toEqual([400, '"PerAddress";r=8;t=7']);
  expect(events).toEqual([]);
});

test('what another function throws is answered with 500, and is an event', async () => {
  const events: LimiterEvent[] = [];
  const cause = new Error('the database is gone');
  const skip = (): never => {
    throw cause;
  };
  const limit = limitNode(perUser({ skip, onEvent: (event: LimiterEvent) => events.push(event) }));
  let handled = 0;
  const ask = await serve(limit((_, response) => response.end(`${++handled}`)));
  expect([(await ask()).status, handled]).toEqual([500, 0]);
  expect(events).toEqual([
    {
      type: 'request-failed',
      cause,
      message: expect.stringMatching(/the database is gone.*answered with 500.*onError/),
    },
  ]);
});

test('onError answers instead, with what was thrown', async () => {
  const limit = limitNode(
    perUser({
      onError: (error: unknown, _request: IncomingMessage, response: ServerResponse) =>
        response.writeHead(422).end((error as SluiceError).code),
    }),
  );
  const ask = await serve(limit((_, response) => response.end()));
  const answer = await ask('x'.repeat(300));
  expect([answer.status, await answer.text()]).toEqual([422, 'ERR_ID']);
});

test('what onDenied throws later goes to onError too', async () => {
  const errors: unknown[] = [];
  const onDenied = async (): Promise<never> => Promise.reject(new Error('no template'));
  const limit = limitNode(
    perUser({
      count: 1,
      onDenied,
      onError: (error: unknown, _request: IncomingMessage, response: ServerResponse) =>
        void (errors.push(error), response.end()),
    }),
  );
  const ask = await serve(limit((_, response) => response.end()));
  await ask();
  await ask();
  expect(errors).toMatchObject([{ message: 'no template' }]);
});

test('with slotsUntil: handler, limits around one listener hold their slots until its promise settles', async () => {
  let finish = (): void => undefined;
  const work = new Promise<void>((resolve) => (finish = resolve));
  const limiter = createLimiter<IncomingMessage>({
    limits: { Outer: concurrency({ key, concurrency: 1 }), Inner: concurrency({ key, concurrency: 1 }) },
    log: false,
  });
  const outer = limitNode({ limiter, limits: ['Outer'], slotsUntil: 'handler' });
  const inner = limitNode({ limiter, limits: ['Inner'], slotsUntil: 'handler' });
  const ask = await serve(
    outer(
      inner(async (_, response) => {
        response.end();
        await work;
      }),
    ),
  );
  const free = async (): Promise<number[]> =>
    Promise.all(['Outer', 'Inner'].map(async (limit) => (await limiter.check([{ limit, id: 'ann' }])).remaining));
  expect((await ask()).status).toBe(200);
  expect(await free()).toEqual([0, 0]);
  finish();
  await expect.poll(free).toEqual([1, 1]);
});

test('with slotsUntil: handler, a listener without a promise holds its slot until it has ended the response', async () => {
  const limiter = createLimiter<IncomingMessage>({
    limits: { InFlight: concurrency({ key, concurrency: 1 }) },
    log: false,
  });
  const responses: ServerResponse[] = [];
  const limit = limitNode({ limiter, slotsUntil: 'handler' });
  const ask = await serve(limit((_, response) => void responses.push(response)));
  const free = async (): Promise<number> => (await limiter.check([{ limit: 'InFlight', id: 'ann' }])).remaining;
  const answer = ask();
  await expect.poll(() => responses.length).toBe(1);
  expect(await free()).toBe(0);
  responses[0]?.end();
  expect((await answer).status).toBe(200);
  expect(await free()).toBe(1);
});

test('a listener that throws releases its slot, and its error is not caught', async () => {
  const limiter = createLimiter<IncomingMessage>({
    limits: { InFlight: concurrency({ key, concurrency: 1 }) },
    log: false,
  });
  const limited = limitNode({ limiter, slotsUntil: 'handler' })(() => {
    throw new Error('boom');
  });
  const errors: unknown[] = [];
  const ask = await serve((request, response) => {
    try {
      limited(request, response);
    } catch (error) {
      errors.push(error);
      response.end();
    }
  });
  await ask();
  await ask();
  expect(errors).toMatchObject([{ message: 'boom' }, { message: 'boom' }]);
});

test('wrong options are errors that name them, and the function', () => {
  expect(() => limitNode({ count: 0, period: '1m' })).toThrow('`limitNode.count`');
  expect(() => limitNode(undefined as never)).toThrow("For example limitNode({ count: 100, period: '1m' })");
  expect(() => limitNode(perUser({ onError: 1 }))).toThrow('`onError` must be a function');
  expect(() => limitNode({ count: 1, period: '1m' })(undefined as never)).toThrow('`listener` must be a function');
});
