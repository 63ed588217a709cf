import { accountId, createLimiter, ipAddress, memoryStore, type LimiterEvent, type LimiterOptions } from '@sluice/core';
import { storeGuard, type StoreOperation } from '@sluice/core/store';
import { FakeTime } from '@sluice/core/testing';
import { limitUpgrade, type UpgradeListener, type UpgradeOptions } from '@sluice/node';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { dropsLines } from '../../../test/service/drops-lines.ts';

const userKey = accountId((request: IncomingMessage) => (request.headers['x-user'] as string | undefined) ?? null);
const limits = { PerUser: { key: userKey, count: 1, period: '1m' } } as const;

interface Setup {
  readonly limiter?: Partial<LimiterOptions<IncomingMessage>>;
  readonly options?: Partial<UpgradeOptions>;
}

interface More {
  /** Default: `GET`. */
  readonly method?: string;
  /** Further lines of the head, each with its end. */
  readonly fields?: string;
}

interface Served {
  readonly events: LimiterEvent[];
  /** The server's ends of all connections that asked for an upgrade. */
  readonly sockets: Duplex[];
  accepted: number;
  /** Opens a connection, asks for an upgrade, and gives the socket. */
  open(user?: string, more?: More): Socket;
  /** Asks for an upgrade and gives all that comes back until the end. */
  ask(user?: string, more?: More): Promise<string>;
}

const accepting: UpgradeListener = (_request, socket) => {
  socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n');
};

async function serve({ limiter = {}, options = {} }: Setup = {}): Promise<Served> {
  const events: LimiterEvent[] = [];
  const store = memoryStore({ time: new FakeTime() });
  const onEvent = (event: LimiterEvent): void => void events.push(event);
  const made = createLimiter<IncomingMessage>({ limits, store, onEvent, log: false, ...limiter });
  const accept: UpgradeListener = (request, socket, head) => {
    served.accepted++;
    return (options.accept ?? accepting)(request, socket, head);
  };
  const server = createServer((_request, response) => response.end('plain'));
  server.on('upgrade', (_request, socket: Duplex) => served.sockets.push(socket));
  server.on('upgrade', limitUpgrade(made, { ...options, accept }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of served.sockets) socket.destroy();
  });
  const served: Served = {
    events,
    sockets: [],
    accepted: 0,
    open(user, { method = 'GET', fields: further = '' } = {}) {
      // A client that never closes its own end by itself.
      const socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
      const fields = further + (user === undefined ? '' : `X-User: ${user}\r\n`);
      socket.write(`${method} /chat HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n${fields}\r\n`);
      return socket;
    },
    ask(user, more) {
      const socket = served.open(user, more);
      return new Promise((resolve, reject) => {
        let text = '';
        socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
        socket.on('end', () => resolve(text)).on('error', reject);
      });
    },
  };
  return served;
}

/** Lets a client ask for an upgrade and reset its connection. */
async function resetOnce(server: Served): Promise<void> {
  const socket = server.open('ann');
  socket.on('error', () => undefined);
  await expect.poll(() => server.sockets.length).toBe(1);
  socket.resetAndDestroy();
  await expect.poll(() => server.sockets.at(0)?.destroyed).toBe(true);
}

const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d+) /.exec(answer)?.[1]);
const boom = (error: unknown) => (): never => {
  throw error;
};
/** Throws at each look at it. */
const uninspectable = new Proxy({}, new Proxy({}, { get: () => boom(new Error('not for you')) }));

test('an upgrade that is allowed is handed over', async () => {
  const server = await serve();
  expect(statusOf(await server.ask('ann'))).toBe(101);
  expect(server.accepted).toBe(1);
});

test.each<[how: string, accept: UpgradeListener]>([
  ['answers and leaves the socket alone', accepting],
  ['waits before it takes the socket over', () => new Promise(() => undefined) as never],
])('a client that resets its connection ends no process: accept %s', async (_, accept) => {
  const server = await serve({ options: { accept } });
  const client = server.open('ann');
  await expect.poll(() => server.accepted).toBe(1);
  expect(server.sockets[0]!.listenerCount('error')).toBeGreaterThan(0);
  client.resetAndDestroy();
  await expect.poll(() => server.sockets[0]!.destroyed).toBe(true);
});

test('an upgrade of a blocked id is answered with a raw 403, without Retry-After and figures', async () => {
  const server = await serve({ limiter: { overrides: { PerUser: { mallory: 'blocked' } } } });
  const answer = await server.ask('mallory');
  expect(statusOf(answer)).toBe(403);
  expect(answer).not.toMatch(/ratelimit|retry-after/i);
  expect(server.accepted).toBe(0);
});

test('a denied upgrade is answered with a raw 429, fields and problem details', async () => {
  const server = await serve();
  await server.ask('ann');
  const [head = '', body = ''] = (await server.ask('ann')).split('\r\n\r\n');
  expect(head.split('\r\n')).toEqual([
    'HTTP/1.1 429 Too Many Requests',
    'Retry-After: 60',
    'RateLimit-Policy: "PerUser";q=1;w=60',
    'RateLimit: "PerUser";r=0;t=60',
    'Content-Type: application/problem+json',
    'Cache-Control: no-store',
    `Content-Length: ${body.length}`,
    'Connection: close',
  ]);
  expect(JSON.parse(body)).toMatchObject({ status: 429, 'violated-policies': ['PerUser'] });
  expect(server.accepted).toBe(1);
});

test('a denied connection is closed on both sides, also when the client keeps its own end open', async () => {
  const server = await serve();
  await server.ask('ann');
  await server.ask('ann');
  await expect.poll(() => server.sockets.at(1)?.destroyed).toBe(true);
});

test('a limit that does not apply to the request lets it through', async () => {
  const server = await serve();
  expect(statusOf(await server.ask())).toBe(101);
  expect(statusOf(await server.ask())).toBe(101);
});

test('costs, skip, shadow and onDecision work as for requests', async () => {
  const outcomes: string[] = [];
  const skip = (request: IncomingMessage): boolean => request.headers['x-user'] === 'root';
  const server = await serve({
    limiter: { limits: { PerUser: { ...limits.PerUser, count: 5 } } },
    options: { limits: [{ limit: 'PerUser', cost: 3 }], skip, onDecision: ({ outcome }) => outcomes.push(outcome) },
  });
  expect(statusOf(await server.ask('root'))).toBe(101);
  expect(statusOf(await server.ask('ann'))).toBe(101);
  expect(statusOf(await server.ask('ann'))).toBe(429);
  expect(outcomes).toEqual(['allowed', 'denied']);
  const shadow = await serve({ options: { shadow: true } });
  expect([statusOf(await shadow.ask('ann')), statusOf(await shadow.ask('ann'))]).toEqual([101, 101]);
});

test('a store that can not answer a closed limit is a raw 503 with Retry-After', async () => {
  const refuse = (): Promise<never> => Promise.reject(new Error('connection refused'));
  const store = { guard: storeGuard, run: refuse, close: () => undefined };
  const server = await serve({ limiter: { store, failure: { onFailure: 'closed' } } });
  const answer = await server.ask('ann');
  expect(statusOf(answer)).toBe(503);
  expect(answer).toContain('\r\nRetry-After: 1\r\n');
  expect(answer).not.toContain('RateLimit');
});

test.each([
  ['key', 500, new Error('boom')],
  ['key', 400, Object.assign(new Error('boom'), { status: 400 })],
  ['key', 500, Object.assign(new Error('boom'), { status: 200 })],
  ['key', 500, undefined],
  ['key', 500, null],
  ['skip', 500, new Error('boom')],
  ['cost', 500, new Error('boom')],
])(
  'a %s function that throws is answered with %d: there is an event, and the server lives',
  async (place, status, error) => {
    const server = await serve({
      limiter: {
        limits: { PerUser: { ...limits.PerUser, count: 5, ...(place === 'key' && { key: accountId(boom(error)) }) } },
      },
      options:
        place === 'skip'
          ? { skip: boom(error) }
          : place === 'cost'
            ? { limits: [{ limit: 'PerUser', cost: boom(error) }] }
            : {},
    });
    expect(statusOf(await server.ask('ann'))).toBe(status);
    expect(statusOf(await server.ask('ann'))).toBe(status);
    expect(server.events).toMatchObject([{ type: 'upgrade-failed' }, { type: 'upgrade-failed' }]);
    expect(server.accepted).toBe(0);
  },
);

test('a key function that throws what can not be inspected is answered with 500', async () => {
  const server = await serve({
    limiter: { limits: { PerUser: { ...limits.PerUser, key: accountId(boom(uninspectable)) } } },
  });
  expect(statusOf(await server.ask('ann'))).toBe(500);
  expect(server.events.map(({ type }) => type)).toEqual(['upgrade-failed']);
});

test('an upgrade that may lack the fields of a trusted proxy is answered with 431', async () => {
  const server = await serve({ limiter: { trustedProxies: ['loopback'] } });
  const ownLines = 4;
  const further = [1000 - ownLines, ...((await dropsLines()) ? [1100] : [])];
  for (const count of further) {
    expect(statusOf(await server.ask('ann', { fields: 'a:b\r\n'.repeat(count) }))).toBe(431);
  }
  const event = { type: 'upgrade-failed', cause: { code: 'ERR_TOO_MANY_FIELDS' } };
  expect(server.events).toMatchObject(further.map(() => event));
  expect(server.accepted).toBe(0);
});

test('a cost above the burst is answered with 400', async () => {
  const server = await serve({ options: { limits: [{ limit: 'PerUser', cost: () => 2 }] } });
  expect(statusOf(await server.ask('ann'))).toBe(400);
  expect(server.events).toMatchObject([{ type: 'upgrade-failed', cause: { code: 'ERR_COST_OVER_BURST' } }]);
});

test.each([
  ['an id of 300 characters', 400, () => 'x'.repeat(300)],
  ['a key that throws', 500, boom(new Error('boom'))],
  ['a key that rejects', 500, async () => boom(new Error('boom'))()],
])('bad input does not bypass the other limit: %s', async (_what, status, key) => {
  const server = await serve({
    limiter: { limits: { ...limits, Bad: { key: accountId(key), count: 9, period: '1m' } } },
    options: { limits: ['PerUser', 'Bad'] },
  });
  const answer = await server.ask('ann');
  expect(statusOf(answer)).toBe(status);
  expect(answer).toContain('\r\nRateLimit: "PerUser";r=0;t=60\r\n');
  expect(statusOf(await server.ask('ann'))).toBe(429);
  expect(server.events).toMatchObject([{ type: 'upgrade-failed' }]);
  expect(server.accepted).toBe(0);
});

test.each([
  ['throws', boom(new Error('boom'))],
  ['rejects', async () => boom(new Error('boom'))()],
])('an accept that %s is an event, the connection is closed, and the server lives', async (_how, accept) => {
  const server = await serve({ options: { accept } });
  expect(await server.ask('ann').catch(() => '')).toBe('');
  await expect.poll(() => server.sockets.at(0)?.destroyed).toBe(true);
  expect(server.events).toMatchObject([{ type: 'upgrade-failed', cause: { message: 'boom' } }]);
});

test('an accept that throws after it has answered: nothing more is written', async () => {
  const accept = async (_request: IncomingMessage, socket: Duplex): Promise<never> => {
    await new Promise((resolve) => socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n', resolve));
    throw new Error('boom');
  };
  const server = await serve({ options: { accept } });
  expect(await server.ask('ann')).toBe('HTTP/1.1 101 Switching Protocols\r\n\r\n');
  expect(server.sockets.at(0)?.destroyed).toBe(true);
  expect(server.events).toMatchObject([{ type: 'upgrade-failed', cause: { message: 'boom' } }]);
});

test('an upgrade that looks like a preflight is limited like any other', async () => {
  const server = await serve();
  const preflight = {
    method: 'OPTIONS',
    fields: 'Origin: https://a.example\r\nAccess-Control-Request-Method: GET\r\n',
  };
  expect(statusOf(await server.ask('ann', preflight))).toBe(101);
  expect(statusOf(await server.ask('ann', preflight))).toBe(429);
});

test('a connection that fails after its accept has thrown ends nothing else', async () => {
  const accept: UpgradeListener = (_request, socket) => {
    setImmediate(() => socket.emit('error', new Error('reset')));
    throw new Error('boom');
  };
  const server = await serve({ options: { accept } });
  await server.ask('ann');
  await expect.poll(() => server.sockets.at(0)?.destroyed).toBe(true);
  expect(statusOf(await server.ask('ann'))).toBe(429);
});

test('a client that resets while the store is called is not accepted, and affects no other client', async () => {
  const inner = memoryStore({ time: new FakeTime() });
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const run = async (operation: StoreOperation) => (await released, inner.run(operation));
  const server = await serve({
    limiter: {
      store: Object.assign(Object.create(inner), { guard: storeGuard, run, traits: undefined }),
      failure: { deadlineMs: 5000 },
    },
  });
  await resetOnce(server);
  release();
  expect(statusOf(await server.ask())).toBe(101);
  expect(server.accepted).toBe(1);
  expect(server.events).toEqual([]);
});

test('a client that resets while an asynchronous skip is awaited is counted by its address', async () => {
  let release = (): void => undefined;
  const released = new Promise<boolean>((resolve) => (release = () => resolve(false)));
  const ids: unknown[] = [];
  const server = await serve({
    limiter: { limits: { PerAddress: { key: ipAddress(), count: 1, period: '1m' } } },
    options: { skip: () => released, onDecision: ({ id }) => ids.push(id) },
  });
  await resetOnce(server);
  release();
  await expect.poll(() => ids).toEqual(['127.0.0.1']);
  expect(server.accepted).toBe(0);
  expect(server.events).toEqual([]);
});

test('a client that was reset before its address was known ends quietly', async () => {
  const server = await serve({
    limiter: { limits: { PerAddress: { key: ipAddress(), count: 1, period: '1m' } } },
    options: {
      // As the system answers after a reset that Node has not heard of yet.
      skip: ({ socket }) => (Object.defineProperty(socket, 'remoteAddress', { value: undefined }), false),
    },
  });
  expect(await server.ask('ann')).toBe('');
  expect(server.sockets.at(0)?.destroyed).toBe(true);
  expect(server.accepted).toBe(0);
  expect(server.events).toEqual([]);
});

test.each([
  ['no accept', {}, '`accept` must be a function'],
  ['no options', undefined, '`limitUpgrade` must be an object, but was undefined'],
  [
    'a settleAborted',
    { accept: accepting, limits: [{ limit: 'PerUser', settleAborted: true }] },
    '`settle` must be left out',
  ],
  ['a settle', { accept: accepting, limits: [{ limit: 'PerUser', settle: () => 1 }] }, '`settle` must be left out'],
  ['an onDenied', { accept: accepting, onDenied: () => undefined }, '`onDenied`'],
  ['an unknown limit', { accept: accepting, limits: ['Orders'] }, "'Orders'"],
  ['limitPreflight', { accept: accepting, limitPreflight: true }, '`limitUpgrade` has no option `limitPreflight`'],
  ['an unknown option', { accept: accepting, acept: 5 }, '`limitUpgrade` has no option `acept`'],
])('wrong options throw when the listener is made: %s', (_what, options, says) => {
  const limiter = createLimiter<IncomingMessage>({ limits });
  expect(() => limitUpgrade(limiter, options as never)).toThrow(says);
});

test('a value that is not a limiter throws', () => {
  expect(() => limitUpgrade({} as never, { accept: accepting })).toThrow('made by createLimiter');
});
