import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { accountId, createLimiter, everyone, memoryStore, type Limiter, type LimiterOptions } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { FakeTime } from '@sluice/core/testing';
import { storeGuard } from '@sluice/core/store';
import { McpServer as FirstServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { AuthInfo } from '@modelcontextprotocol/sdk/server/auth/types.js';
import { McpServer as SecondServer } from '@modelcontextprotocol/server';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { limitTools, type LimitToolsOptions } from '../src/index.ts';

interface Answer {
  readonly id: number;
  readonly result?: { readonly isError?: boolean; readonly content: readonly { readonly text: string }[] };
  readonly error?: { readonly message: string };
}

type ServerOptions = { readonly capabilities?: { readonly tools: { readonly listChanged: boolean } } };

const SERVERS = {
  '@modelcontextprotocol/sdk': (options: ServerOptions = {}) =>
    new FirstServer({ name: 'test', version: '1.0.0' }, options),
  '@modelcontextprotocol/server': (options: ServerOptions = {}) =>
    new SecondServer({ name: 'test', version: '1.0.0' }, options),
};
type Made = ReturnType<(typeof SERVERS)[keyof typeof SERVERS]>;

/** A client that has nothing but messages: it takes part in the protocol as any other does. */
async function clientOf(server: Made) {
  const waiting = new Map<number, (answer: Answer) => void>();
  let ids = 0;
  const transport = {
    onmessage: undefined as ((message: unknown, extra?: unknown) => void) | undefined,
    start: async () => undefined,
    close: async () => undefined,
    send: async (message: unknown) => waiting.get((message as Answer).id)?.(message as Answer),
  };
  await server.connect(transport);
  const ask = (method: string, params: object, extra?: object): Promise<Answer> => {
    const id = (ids += 1);
    return new Promise((resolve) => {
      waiting.set(id, resolve);
      transport.onmessage?.({ jsonrpc: '2.0', id, method, params }, extra);
    });
  };
  const client = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'client', version: '1.0.0' } };
  await ask('initialize', client);
  transport.onmessage?.({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return async (name: string, clientId = 'ann'): Promise<Answer> => {
    const authInfo = { token: 'secret', clientId, scopes: [] };
    return ask('tools/call', { name, arguments: { query: 'x' } }, { authInfo });
  };
}

const key = accountId();

function limiterWith(limits: LimiterOptions['limits']) {
  const time = new FakeTime();
  return { time, limiter: createLimiter({ limits, store: memoryStore({ time }), time, log: false }) };
}

type Options = Omit<LimitToolsOptions, 'limiter' | 'id'> & Partial<Pick<LimitToolsOptions, 'id'>>;

async function started(make: () => Made, limiter: Limiter<never>, options: Options) {
  const id: LimitToolsOptions['id'] = (_, { authInfo, http }) => (authInfo ?? http?.authInfo)?.clientId;
  const called: string[] = [];
  let finish = (): void => undefined;
  const server = limitTools(make(), { limiter, id, ...options }) as FirstServer;
  const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });
  for (const name of ['search', 'report', 'other']) {
    server.registerTool(name, { inputSchema: { query: z.string() } }, async () => {
      called.push(name);
      return text(name);
    });
  }
  server.registerTool('broken', { inputSchema: { query: z.string() } }, async () => {
    throw new Error('broken');
  });
  server.registerTool('slow', { inputSchema: { query: z.string() } }, async () => {
    await new Promise<void>((resolve) => void (finish = resolve));
    return text('slow');
  });
  return { call: await clientOf(server), called, finishSlow: () => finish() };
}

const textOf = ({ result }: Answer): string | undefined => result?.content[0]?.text;

describe.each(Object.entries(SERVERS))('%s', (_, make) => {
  test('a denied call is a result with the wait in words, and its tool is not called', async () => {
    const { limiter, time } = limiterWith({ Calls: { key, burst: 2, count: 1, period: '90s' } });
    const { call, called } = await started(make, limiter, { limits: { Calls: 1 } });
    const answers = [await call('search'), await call('report'), await call('search'), await call('search', 'bob')];
    expect(answers.map(({ result }) => result?.isError === true)).toEqual([false, false, true, false]);
    expect(textOf(answers[2]!)).toBe('The limit "Calls" is reached. Try again in 90 seconds.');
    expect(called).toEqual(['search', 'report', 'search']);
    time.set(90_000);
    expect(textOf(await call('search'))).toBe('search');
  });

  test('a wait from two hours on is told in hours', async () => {
    const { limiter } = limiterWith({ Calls: { key, count: 1, period: '30h' } });
    const { call } = await started(make, limiter, { limits: { Calls: 1 } });
    await call('search');
    expect(textOf(await call('search'))).toBe('The limit "Calls" is reached. Try again in 30 hours.');
  });

  test('calls at once are decided each', async () => {
    const { limiter } = limiterWith({ Calls: { key, count: 5, period: '3h' } });
    const { call } = await started(make, limiter, { limits: { Calls: 1 } });
    const answers = await Promise.all(Array.from({ length: 20 }, () => call('search')));
    const denied = answers.filter(({ result }) => result?.isError === true);
    expect(denied).toHaveLength(15);
    expect(textOf(denied[0]!)).toBe('The limit "Calls" is reached. Try again in 36 minutes.');
  });

  test('each tool has its cost, and those without one are not limited', async () => {
    const { limiter } = limiterWith({
      Searches: { key, count: 10, period: '5h' },
      All: { key: everyone(), count: 100, period: '1h' },
    });
    const { call } = await started(make, limiter, { limits: { Searches: { search: 10, report: 1 }, All: 1 } });
    expect(textOf(await call('search'))).toBe('search');
    expect(textOf(await call('report'))).toBe('The limit "Searches" is reached. Try again in 30 minutes.');
    expect(textOf(await call('other'))).toBe('other');
    expect(await limiter.check([{ limit: 'All', id: 'everyone' }])).toMatchObject({ remaining: 98 });
  });

  test('a slot is held until the tool has answered, also by an error', async () => {
    const { limiter } = limiterWith({ InProgress: concurrency({ key, concurrency: 1 }) });
    const { call, finishSlow } = await started(make, limiter, { limits: { InProgress: 1 } });
    const slow = call('slow');
    await expect.poll(async () => (await call('search')).result?.isError).toBe(true);
    finishSlow();
    expect(textOf(await slow)).toBe('slow');
    expect(textOf(await call('broken'))).toBe('broken');
    expect(textOf(await call('search'))).toBe('search');
  });

  test('a call without an id is an error, and its tool is not called', async () => {
    const { limiter } = limiterWith({ Calls: { key, count: 5, period: '1h' } });
    const { call, called } = await started(make, limiter, { limits: { Calls: 1 }, id: () => undefined });
    const { error } = await call('search');
    expect(error?.message).toContain('`limitTools.id` must be a text');
    expect(called).toEqual([]);
  });

  test('the id of a call is asked for once, and what it throws is named', async () => {
    const { limiter } = limiterWith({ Calls: { key, count: 5, period: '1h' }, More: { key, count: 5, period: '1h' } });
    let asked = 0;
    const id = (): string => {
      if ((asked += 1) > 1) throw new Error('no session');
      return 'ann';
    };
    const { call } = await started(make, limiter, { limits: { Calls: 1, More: 1 }, id });
    expect(textOf(await call('search'))).toBe('search');
    expect((await call('search')).error?.message).toContain('`limitTools.id` threw "Error: no session".');
  });

  test('a client that is blocked is told not to try again', async () => {
    const limits = { Calls: { key, count: 5, period: '1h' } } as const;
    const limiter = createLimiter({ limits, overrides: { Calls: { ann: 'blocked' } }, log: false });
    const { call } = await started(make, limiter, { limits: { Calls: 1 } });
    expect(textOf(await call('search'))).toBe('The limit "Calls" does not allow this call. Do not try it again.');
  });

  test('a server that declares tools and has none yet is limited', async () => {
    const { limiter } = limiterWith({ Calls: { key, count: 1, period: '1h' } });
    const { call, called } = await started(() => make({ capabilities: { tools: { listChanged: false } } }), limiter, {
      limits: { Calls: 1 },
    });
    expect(textOf(await call('search'))).toBe('search');
    expect(textOf(await call('search'))).toBe('The limit "Calls" is reached. Try again in 60 minutes.');
    expect((await call(7 as never)).error?.message).toMatch(/invalid/i);
    expect(called).toEqual(['search']);
  });

  test('a server that has tools is refused', () => {
    const { limiter } = limiterWith({ Calls: { key, count: 5, period: '1h' } });
    const server = make() as FirstServer;
    server.registerTool('early', {}, async () => ({ content: [] }));
    expect(() => limitTools(server, { limiter, limits: { Calls: 1 }, id: 'ann' })).toThrow(
      'Call limitTools before the first tool is registered',
    );
  });
});

const { limiter } = limiterWith({ Calls: { key, count: 5, period: '1h' } });

test('each call of a JSON-RPC batch over HTTP, which protocol versions before 2025-06-18 have, is a decision', async () => {
  const { limiter: three } = limiterWith({ Calls: { key, count: 3, period: '3h' } });
  const id: LimitToolsOptions['id'] = (_, { authInfo }) => authInfo?.clientId;
  const mcp = limitTools(new FirstServer({ name: 'test', version: '1.0.0' }), {
    limiter: three,
    limits: { Calls: 1 },
    id,
  });
  const called: string[] = [];
  mcp.registerTool('search', { inputSchema: { query: z.string() } }, async ({ query }) => {
    called.push(query);
    return { content: [{ type: 'text', text: query }] };
  });
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => 'session',
    enableJsonResponse: true,
  });
  await mcp.connect(transport);
  const http = createServer((request: IncomingMessage & { auth?: AuthInfo }, response) => {
    request.auth = { token: 'secret', clientId: 'ann', scopes: [] };
    void transport.handleRequest(request, response);
  });
  await once(http.listen(0, '127.0.0.1'), 'listening');
  const protocolVersion = '2025-03-26';
  const post = (message: unknown, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`http://127.0.0.1:${(http.address() as AddressInfo).port}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      body: JSON.stringify(message),
    });
  try {
    const client = { protocolVersion, capabilities: {}, clientInfo: { name: 'client', version: '1.0.0' } };
    const begun = await post({ jsonrpc: '2.0', id: 0, method: 'initialize', params: client });
    expect(await begun.json()).toMatchObject({ result: { protocolVersion } });
    const batch = Array.from({ length: 5 }, (_, i) => ({
      jsonrpc: '2.0',
      id: i + 1,
      method: 'tools/call',
      params: { name: 'search', arguments: { query: `q${i + 1}` } },
    }));
    const session = { 'mcp-session-id': 'session', 'mcp-protocol-version': protocolVersion };
    const answers = (await (await post(batch, session)).json()) as readonly Answer[];
    expect(answers.map((answer) => [answer.id, textOf(answer)])).toEqual([
      ...[1, 2, 3].map((i) => [i, `q${i}`]),
      ...[4, 5].map((i) => [i, 'The limit "Calls" is reached. Try again in 60 minutes.']),
    ]);
    expect(called).toEqual(['q1', 'q2', 'q3']);
  } finally {
    await mcp.close();
    http.closeAllConnections();
    http.close();
  }
});

test('when the store can not answer, a call is denied by the policy closed with a wait in words', async () => {
  const store = memoryStore();
  const failing = createLimiter({
    limits: { Calls: { key, count: 5, period: '1h', onFailure: 'closed' } },
    store: { guard: storeGuard, run: () => Promise.reject(new Error('gone')), close: () => store.close() },
    log: false,
  });
  const options = { limits: { Calls: 1 } } as const;
  const { call, called } = await started(SERVERS['@modelcontextprotocol/sdk'], failing, options);
  expect(textOf(await call('search'))).toBe("The limits can't be checked at the moment. Try again in 1 second.");
  expect(called).toEqual([]);
});

test.each<[given: object, message: string]>([
  [{ limiter: undefined }, '`limiter` must be made by createLimiter, but was undefined'],
  [{ limiter: {} }, '`limiter` must be made by createLimiter, but was {}'],
  [{ limits: {} }, '`limitTools.limits` must be an object of costs by the names of limits'],
  [{ limits: { Other: 1 } }, 'No limit is named'],
  [{ limits: { Calls: -1 } }, '`limitTools.limits.Calls` must be a whole number'],
  [{ limits: { Calls: { search: 0.5 } } }, '`limitTools.limits.Calls.search` must be a whole number'],
  [{ limits: { Calls: 6 } }, '`limitTools.limits.Calls` of limit "Calls" must be at most 5, the smallest burst'],
  [
    { limits: { Calls: { search: 5, report: 6 } } },
    '`limitTools.limits.Calls.report` of limit "Calls" must be at most 5, the smallest burst of the limit and its overrides, but was 6. A larger cost could never pass. Raise the burst',
  ],
  [{ id: undefined }, '`limitTools.id` must be a text, or a function that returns one'],
  [{ ids: 'ann' }, 'ids'],
])('%o is an error', (given, message) => {
  const options = { limiter, limits: { Calls: 1 }, id: 'ann', ...given };
  expect(() => limitTools(SERVERS['@modelcontextprotocol/sdk'](), options as never)).toThrow(message);
});

test('what is no server of the MCP SDK is an error', () => {
  expect(() => limitTools({} as never, { limiter, limits: { Calls: 1 }, id: 'ann' })).toThrow(
    'a server of the MCP SDK',
  );
});

test('a handler of version 2 beside schemas of its own is limited by the name of the tool that it gets', async () => {
  const { limiter: one } = limiterWith({ Calls: { key, count: 1, period: '1h' } });
  const mcp = new SecondServer({ name: 'test', version: '1.0.0' }, { capabilities: { tools: {} } });
  limitTools(mcp, { limiter: one, limits: { Calls: { search: 1 } }, id: 'ann' });
  const content = [{ type: 'text' as const, text: 'search' }];
  const params = z.looseObject({ name: z.string() });
  mcp.server.setRequestHandler('tools/call' as string, { params }, async () => ({ content }));
  const call = await clientOf(mcp);
  expect(textOf(await call('search'))).toBe('search');
  expect(textOf(await call('search'))).toBe('The limit "Calls" is reached. Try again in 60 minutes.');
  expect(textOf(await call('other'))).toBe('search');
});
