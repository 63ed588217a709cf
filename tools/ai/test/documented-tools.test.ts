import { accountId, createLimiter } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { quota } from '@sluice/core/quota';
import { McpServer as Latest1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { Server as LatestProtocol1 } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema as LatestCall1 } from '@modelcontextprotocol/sdk/types.js';
import * as latest from '@modelcontextprotocol/server';
import { Server as ServerOf1_0 } from 'mcp-sdk-1.0/server/index.js';
import { CallToolRequestSchema as CallOf1_0 } from 'mcp-sdk-1.0/types.js';
import { Server as ServerOf1_20 } from 'mcp-sdk-1.20/server/index.js';
import { McpServer as McpServerOf1_20 } from 'mcp-sdk-1.20/server/mcp.js';
import { CallToolRequestSchema as CallOf1_20 } from 'mcp-sdk-1.20/types.js';
import * as second from 'mcp-server-2.0';
import { describe, expect, test } from 'vitest';
import { z as z4 } from 'zod';
import { z as z3 } from 'zod/v3';
import { limitTools } from '../src/index.ts';

// Versions of one package have types that do not fit each other: the tests see what all of them have.
type Any = any;

/** A version of the SDK: its classes, how it names the method of calls, and how schemas of tools are written. */
interface Sdk {
  /** The first version has none. */
  readonly McpServer?: Any;
  readonly Server: Any;
  readonly call: Any;
  readonly z: Any;
  readonly isSecond?: true;
}

const SDKS: Readonly<Record<string, Sdk>> = {
  '@modelcontextprotocol/sdk 1.0': { Server: ServerOf1_0, call: CallOf1_0, z: z3 },
  '@modelcontextprotocol/sdk 1.20': {
    McpServer: McpServerOf1_20,
    Server: ServerOf1_20,
    call: CallOf1_20,
    z: z3,
  },
  '@modelcontextprotocol/sdk, the latest': { McpServer: Latest1, Server: LatestProtocol1, call: LatestCall1, z: z4 },
  '@modelcontextprotocol/server 2.0': {
    McpServer: second.McpServer,
    Server: second.Server,
    call: 'tools/call',
    z: z4,
    isSecond: true,
  },
  '@modelcontextprotocol/server, the latest': {
    McpServer: latest.McpServer,
    Server: latest.Server,
    call: 'tools/call',
    z: z4,
    isSecond: true,
  },
};

/** What a client sees: answers, and what the server has sent beside them. */
interface Seen {
  readonly answers: unknown[];
  readonly notes: unknown[];
  /** The tools that have run. */
  readonly ran: string[];
}

/** A server of an example, and how a client uses it. */
interface Usage {
  readonly serve: (sdk: Sdk, ran: (tool: string) => void, limited: <Server>(server: Server) => Server) => Any;
  readonly calls: readonly (readonly [tool: string, given: object])[];
}

const INFO = { name: 'example', version: '1.0.0' };
const text = (value: string) => ({ content: [{ type: 'text', text: value }] });
const structured = (output: object) => ({ ...text(JSON.stringify(output)), structuredContent: output });

/** What version 1 takes as the fields of a schema is a schema in version 2. */
const shape = ({ z, isSecond }: Sdk, fields: object): Any => (isSecond === true ? z.object(fields) : fields);

/** A server with one tool. */
function oneTool(
  name: string,
  schemas: (z: Any) => { input: object; output?: object },
  run: (given: Any, context: Any, server: Any) => unknown,
) {
  const serve: Usage['serve'] = (sdk, ran, limited) => {
    const server = limited(new sdk.McpServer(INFO, { capabilities: { logging: {} } }));
    const { input, output } = schemas(sdk.z);
    const config = { title: 'A title', description: 'What it does', inputSchema: shape(sdk, input) };
    server.registerTool(
      name,
      { ...config, ...(output && { outputSchema: shape(sdk, output) }) },
      (given: Any, context: Any) => {
        ran(name);
        return run(given, context, server);
      },
    );
    return server;
  };
  return serve;
}

/** Each example of the documentation of the SDKs that has a tool. */
const OF_SERVERS: Readonly<Record<string, Usage>> = {
  'a simple tool with structured output': {
    serve: oneTool(
      'bmi',
      (z) => ({ input: { kg: z.number(), m: z.number() }, output: { bmi: z.number() } }),
      ({ kg, m }) => structured({ bmi: kg / (m * m) }),
    ),
    calls: [
      ['bmi', { kg: 80, m: 2 }],
      ['bmi', { kg: 'much', m: 2 }],
    ],
  },
  'a tool that waits for another server': {
    serve: oneTool(
      'weather',
      (z) => ({ input: { city: z.string() } }),
      async ({ city }) => {
        await Promise.resolve();
        if (city === 'nowhere') throw new Error('There is no such city');
        return text(`Rain in ${city}`);
      },
    ),
    calls: [
      ['weather', { city: 'Bergen' }],
      ['weather', { city: 'nowhere' }],
    ],
  },
  'a tool that returns links, images and resources': {
    serve: oneTool(
      'files',
      (z) => ({ input: { pattern: z.string() } }),
      () => ({
        content: [
          { type: 'resource_link', uri: 'file:///README.md', name: 'README.md', mimeType: 'text/markdown' },
          { type: 'image', data: 'aW1hZ2U=', mimeType: 'image/png' },
          { type: 'resource', resource: { uri: 'file:///a.json', mimeType: 'application/json', text: '{}' } },
        ],
      }),
    ),
    calls: [['files', { pattern: '*' }]],
  },
  'a tool that asks the model of its client': {
    serve: oneTool(
      'summarize',
      (z) => ({ input: { of: z.string() } }),
      async ({ of }, _context, { server }) => {
        const messages = [{ role: 'user', content: { type: 'text', text: of } }];
        const { content } = await server.createMessage({ messages, maxTokens: 50 });
        return text(content.text);
      },
    ),
    calls: [['summarize', { of: 'a long text' }]],
  },
  'a tool that asks its user': {
    serve: oneTool(
      'book',
      (z) => ({ input: { day: z.string() } }),
      async ({ day }, _context, { server }) => {
        const requestedSchema = { type: 'object', properties: { other: { type: 'boolean' } }, required: ['other'] };
        const { action, content } = await server.elicitInput({ message: `Not ${day}?`, requestedSchema });
        return text(`${action} ${JSON.stringify(content)}`);
      },
    ),
    calls: [['book', { day: 'Monday' }]],
  },
  'a tool that logs and reports progress': {
    serve: oneTool(
      'copy',
      (z) => ({ input: { files: z.number() } }),
      async ({ files }, { sendNotification, mcpReq }) => {
        const notify = sendNotification ?? mcpReq.notify;
        await notify({ method: 'notifications/message', params: { level: 'info', data: `${files} files` } });
        await notify({ method: 'notifications/progress', params: { progressToken: 1, progress: 1, total: files } });
        return text('copied');
      },
    ),
    calls: [['copy', { files: 2 }]],
  },
  'tools that are enabled, updated and removed later': {
    serve(sdk, ran, limited) {
      const server = limited(new sdk.McpServer(INFO));
      const inputSchema = shape(sdk, { to: sdk.z.string() });
      const tool = (name: string, run: () => unknown) =>
        server.registerTool(name, { inputSchema }, async () => {
          ran(name);
          run();
          return text(name);
        });
      const put = tool('put', () => undefined);
      put.disable();
      const upgrade = tool('upgrade', () => {
        put.enable();
        upgrade.remove();
        tool('late', () => undefined);
      });
      return server;
    },
    calls: [
      ['put', { to: 'a' }],
      ['upgrade', { to: 'a' }],
      ['put', { to: 'a' }],
      ['upgrade', { to: 'a' }],
      ['late', { to: 'a' }],
    ],
  },
  'a tool without parameters, on a server that declares tools': {
    serve(sdk, ran, limited) {
      const server = limited(new sdk.McpServer(INFO, { capabilities: { tools: { listChanged: true } } }));
      server.registerTool('plain', { description: 'It takes nothing' }, async () => {
        ran('plain');
        return text('plain');
      });
      return server;
    },
    calls: [
      ['plain', {}],
      ['unknown', {}],
    ],
  },
};

/** Only in version 2, which asks clients of older revisions of the protocol by itself, and calls the tool again. */
const OF_SECOND: Readonly<Record<string, Usage>> = {
  'a tool that needs more input': {
    serve: oneTool(
      'deploy',
      (z) => ({ input: { to: z.string() } }),
      ({ to }, { mcpReq }) => {
        if (mcpReq.inputResponses?.confirm !== undefined) return text(`deployed to ${to}`);
        const requestedSchema = { type: 'object' as const, properties: { other: { type: 'boolean' as const } } };
        const confirm = latest.inputRequired.elicit({ message: `To ${to}?`, requestedSchema });
        return latest.inputRequired({ inputRequests: { confirm } });
      },
    ),
    calls: [['deploy', { to: 'a' }]],
  },
};

/** What has no `McpServer` around it. */
const OF_PROTOCOLS: Readonly<Record<string, Usage>> = {
  'a handler of all calls on the low-level server': {
    serve({ Server, call }, ran, limited) {
      const server = limited(new Server(INFO, { capabilities: { tools: {} } }));
      server.setRequestHandler(call, async ({ params }: Any) => {
        ran(params.name);
        if (params.name !== 'search') throw new Error(`Unknown tool: ${params.name}`);
        return text(`found ${params.arguments.query}`);
      });
      return server;
    },
    calls: [
      ['search', { query: 'mug' }],
      ['other', {}],
    ],
  },
  'a gateway that handles whatever comes': {
    serve({ Server }, ran, limited) {
      const server = limited(new Server(INFO, { capabilities: { tools: {} } }));
      server.fallbackRequestHandler = async ({ params }: Any) => {
        ran(params.name);
        return text(`forwarded to ${params.name}`);
      };
      return server;
    },
    calls: [
      ['search', {}],
      ['other', {}],
    ],
  },
};

/** The answers of a client to requests of its server. */
const OF_CLIENT: Readonly<Record<string, object>> = {
  'sampling/createMessage': { role: 'assistant', model: 'm', content: { type: 'text', text: 'short' } },
  'elicitation/create': { action: 'accept', content: { other: true } },
};

async function use(server: Any, calls: Usage['calls']): Promise<Pick<Seen, 'answers' | 'notes'>> {
  const notes: unknown[] = [];
  const waiting = new Map<unknown, (answer: unknown) => void>();
  const transport: Any = {
    start: async () => undefined,
    close: async () => undefined,
    async send(message: Any) {
      if (message.method === undefined) return waiting.get(message.id)!(message.result ?? message.error);
      notes.push([message.method, message.params]);
      const result = OF_CLIENT[message.method];
      if (result !== undefined) queueMicrotask(() => transport.onmessage({ jsonrpc: '2.0', id: message.id, result }));
    },
  };
  await server.connect(transport);
  let ids = 0;
  const ask = (method: string, params: object): Promise<unknown> =>
    new Promise((resolve) => {
      waiting.set((ids += 1), resolve);
      transport.onmessage({ jsonrpc: '2.0', id: ids, method, params });
    });
  const capabilities = { sampling: {}, elicitation: {} };
  await ask('initialize', { protocolVersion: '2025-06-18', capabilities, clientInfo: INFO });
  transport.onmessage({ jsonrpc: '2.0', method: 'notifications/initialized' });
  const answers: unknown[] = [];
  for (const [name, given] of calls) answers.push(await ask('tools/call', { name, arguments: given }));
  await server.close();
  return { answers, notes };
}

const plain = <Server>(server: Server): Server => server;

function limitedTo(calls: number) {
  const limits = {
    Calls: quota({ key: accountId(), count: calls, per: 'day' }),
    Running: concurrency({ key: accountId(), concurrency: 1 }),
  } as const;
  const limiter = createLimiter({ limits, log: false });
  const options = { limiter, limits: { Calls: 1, Running: 1 }, id: 'ann' };
  const used = async () => {
    const [{ used: made } = { used: NaN }] = await limiter.usage([{ limit: 'Calls', id: 'ann' }]);
    const { remaining } = await limiter.check([{ limit: 'Running', id: 'ann' }]);
    return { made, running: 1 - remaining };
  };
  return { limited: <Server>(server: Server) => limitTools(server as Any, options) as Server, used };
}

async function seenOf(sdk: Sdk, { serve, calls }: Usage, limited: <Server>(server: Server) => Server): Promise<Seen> {
  const ran: string[] = [];
  return {
    ...(await use(
      serve(sdk, (tool) => ran.push(tool), limited),
      calls,
    )),
    ran,
  };
}

describe.each(Object.entries(SDKS))('%s', (_, sdk) => {
  const ofServers = { ...OF_SERVERS, ...(sdk.isSecond === true && OF_SECOND) };
  const usages = { ...(sdk.McpServer !== undefined && ofServers), ...OF_PROTOCOLS };
  test.each(Object.entries(usages))('with limits, clients see the same of %s', async (_name, usage) => {
    const { limited, used } = limitedTo(100);
    const seen = await seenOf(sdk, usage, limited);
    expect(seen.ran.length).toBeGreaterThan(0);
    expect(seen).toEqual(await seenOf(sdk, usage, plain));
    expect(await used()).toEqual({ made: usage.calls.length, running: 0 });
  });

  test.each(Object.entries(usages))('when the limit is used up, no tool is run of %s', async (_name, usage) => {
    const { limited } = limitedTo(1);
    const seen = await seenOf(sdk, { ...usage, calls: [usage.calls[0]!, ...usage.calls] }, limited);
    const [, ...denied] = seen.answers;
    expect(denied).toEqual(
      usage.calls.map(() => ({
        content: [
          {
            type: 'text',
            text: expect.stringMatching(/^The limit "Calls" is reached\. Try again in \d+ (second|minute|hour)s?\.$/),
          },
        ],
        isError: true,
      })),
    );
    const once = await seenOf(sdk, { ...usage, calls: [usage.calls[0]!] }, plain);
    expect(seen.ran).toEqual(once.ran);
  });
});

const MODERN = '2026-07-28';

test.each([
  ['2.0', second],
  ['the latest', latest],
] as const)(
  'a server of version %s that is made for each request over HTTP has the limits of all of them, in old and new revisions of the protocol',
  async (_, { createMcpHandler, McpServer }) => {
    const { limited, used } = limitedTo(3);
    const handler = createMcpHandler((() => {
      const server: Any = limited(new McpServer(INFO));
      server.registerTool('echo', { inputSchema: z4.object({ of: z4.string() }) }, ({ of }: Any) => text(of));
      return server;
    }) as Any);
    const call = async (of: string, revision: string) => {
      const io = 'io.modelcontextprotocol';
      const envelope = {
        [`${io}/protocolVersion`]: revision,
        [`${io}/clientInfo`]: INFO,
        [`${io}/clientCapabilities`]: {},
      };
      const params = { name: 'echo', arguments: { of }, ...(revision === MODERN && { _meta: envelope }) };
      const modern = { 'mcp-method': 'tools/call', 'mcp-name': 'echo' };
      const response = await handler.fetch(
        new Request('http://localhost/mcp', {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
            'mcp-protocol-version': revision,
            ...(revision === MODERN && modern),
          },
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
        }),
      );
      const [, said] = /"text":"([^"]*)/.exec((await response.text()).replaceAll('\\"', "'")) ?? [];
      return said;
    };
    const said = [await call('a', '2025-06-18'), await call('b', MODERN), await call('c', '2025-06-18')];
    expect(said).toEqual(['a', 'b', 'c']);
    expect(await call('d', '2025-06-18')).toMatch(/^The limit 'Calls' is reached/);
    expect(await call('e', MODERN)).toMatch(/^The limit 'Calls' is reached/);
    expect(await used()).toEqual({ made: 3, running: 0 });
    await handler.close();
  },
);
