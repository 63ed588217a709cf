import OpenAI from 'openai';
import { afterEach, expect, it, onTestFailed } from 'vitest';
import { redisServer } from '../redis/servers/redis-server.ts';
import { ExampleServer } from './example-server.ts';

const servers: ExampleServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

async function started(env: NodeJS.ProcessEnv = {}): Promise<ExampleServer> {
  const server = await ExampleServer.start('llm-gateway', 'server.js', env);
  servers.push(server);
  onTestFailed(() => console.error(server.output));
  return server;
}

/** A call with a key of the gateway by the SDK of OpenAI: the prompt has three tokens, each number is one of the answer. */
function countTo(
  server: ExampleServer,
  count: number,
  { key = 'team-key', signal = new AbortController().signal, maxRetries = 0 } = {},
) {
  const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: key, maxRetries });
  const messages = [{ role: 'user' as const, content: `Count to ${count}`.padEnd(12) }];
  return client.chat.completions.create({ model: 'any', messages, stream: true }, { signal });
}

type Answer = Awaited<ReturnType<typeof countTo>>;

async function textOf(answer: Answer): Promise<string> {
  let text = '';
  for await (const { choices } of answer) text += choices[0]?.delta.content ?? '';
  return text;
}

const costOf = (output: number): number => 3 * 3 + 15 * output;

async function usageOf(server: ExampleServer, key = 'team-key') {
  const answer = await fetch(`${server.url}/usage`, { headers: { Authorization: `Bearer ${key}` } });
  return (await answer.json()) as { month: { used: number; of: number; until: string }; slotsLeft: number };
}

async function denialOf(call: PromiseLike<unknown>) {
  const { status, headers, message } = (await Promise.resolve(call).catch((error: unknown) => error)) as {
    readonly status: number;
    readonly headers: Headers;
    readonly message: string;
  };
  return { status, message, retryAfterSeconds: Number(headers.get('retry-after')) };
}

it('a stream of the gateway costs what the provider has used', async () => {
  const server = await started({ TOKEN_MS: '1' });
  expect(await textOf(await countTo(server, 7))).toBe('1 2 3 4 5 6 7 ');
  await expect.poll(() => usageOf(server)).toMatchObject({ month: { used: costOf(7) }, slotsLeft: 3 });
});

it('a fourth call in progress is denied; a client that leaves stops the provider, frees its slot and pays its estimate', async () => {
  const server = await started({ TOKEN_MS: '100' });
  const left = new AbortController();
  const leaving = await countTo(server, 400, { signal: left.signal });
  const others = await Promise.all([countTo(server, 400), countTo(server, 400)]);
  expect(await denialOf(countTo(server, 1))).toEqual({
    status: 429,
    message: expect.stringContaining('"InProgress"'),
    retryAfterSeconds: 1,
  });
  const { used } = (await usageOf(server)).month;
  expect(used).toBe(3 * costOf(500));

  let read = '';
  for await (const { choices } of leaving) {
    read += choices[0]?.delta.content ?? '';
    if (read.includes('3')) break;
  }
  left.abort();
  await expect.poll(() => server.output).toMatch(/tokens, the gateway has left/);
  const sent = Number(/Provider: (\d+) of 400/.exec(server.output)?.[1]);
  expect(sent).toBeLessThan(400);
  expect((await usageOf(server)).month.used).toBe(3 * costOf(500));

  expect(await textOf(await countTo(server, 1))).toBe('1 ');
  for (const other of others) other.controller.abort();
  await expect.poll(async () => (await usageOf(server)).slotsLeft).toBe(3);
});

it('a month that is used up denies with the wait until its end, and does not ask the provider', async () => {
  const server = await started({ TOKEN_MS: '1' });
  const key = 'trial-key';
  for (const used of [costOf(100), 2 * costOf(100)]) {
    await textOf(await countTo(server, 100, { key }));
    await expect.poll(async () => (await usageOf(server, key)).month.used).toBe(used);
  }
  const { month } = await usageOf(server, key);
  const beforeMs = Date.now();
  const denied = await denialOf(countTo(server, 100, { key }));
  expect(denied).toMatchObject({ status: 429, message: expect.stringContaining('"Month"') });
  expect(denied.retryAfterSeconds).toBeLessThanOrEqual(Math.ceil((Date.parse(month.until) - beforeMs) / 1000) + 1);
  expect(denied.retryAfterSeconds).toBeGreaterThanOrEqual((Date.parse(month.until) - Date.now()) / 1000 - 1);
  expect(server.output.match(/^Provider:/gm)).toHaveLength(2);
});

it('gateways on one Redis share a budget, and end on SIGTERM', async () => {
  const redis = await redisServer();
  try {
    const env = { TOKEN_MS: '1', REDIS_URL: redis.url };
    const [one, other] = await Promise.all([started(env), started(env)]);
    // A Redis that a loaded machine keeps waiting is answered with a 503, which the SDK tries again.
    await textOf(await countTo(one, 5, { maxRetries: 2 }));
    await textOf(await countTo(other, 9, { maxRetries: 2 }));
    await expect.poll(() => usageOf(one)).toMatchObject({ month: { used: costOf(5) + costOf(9) }, slotsLeft: 3 });
    expect([await one.stop(), await other.stop()]).toEqual([0, 0]);
  } finally {
    await redis.stop();
  }
});

it('a call without a known key, without messages or larger than a limit does not reach the provider', async () => {
  const server = await started();
  const statusOf = async (key: string, body: string) => {
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
    return (await fetch(`${server.url}/v1/chat/completions`, { method: 'POST', headers, body })).status;
  };
  const messages = [{ role: 'user', content: 'x'.repeat(20_000) }];
  expect(await statusOf('other-key', '{}')).toBe(401);
  expect(await statusOf('team-key', '{}')).toBe(400);
  expect(await statusOf('team-key', JSON.stringify({ messages }))).toBe(400);
  expect(server.output).not.toContain('Provider:');
});

it('a client that leaves before its answer has begun stops the provider, and pays its estimate', async () => {
  const server = await started({ TOKEN_MS: '100' });
  const left = new AbortController();
  const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'team-key', maxRetries: 0 });
  const messages = [{ role: 'user' as const, content: 'Count to 400' }];
  const call = client.chat.completions.create({ model: 'any', messages }, { signal: left.signal });
  await expect.poll(async () => (await usageOf(server)).slotsLeft).toBe(2);
  left.abort();
  await expect(call).rejects.toThrow('aborted');
  await expect.poll(() => usageOf(server)).toMatchObject({ month: { used: costOf(500) }, slotsLeft: 3 });
  await expect.poll(() => server.output).toMatch(/of 400 tokens, the gateway has left/);
});
