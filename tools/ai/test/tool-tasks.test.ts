import { accountId, createLimiter, memoryStore } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { FakeTime } from '@sluice/core/testing';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTaskStore } from '@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import {
  CallToolRequestSchema,
  CancelTaskResultSchema,
  CreateTaskResultSchema,
  GetTaskRequestSchema,
  GetTaskResultSchema,
  CallToolResultSchema,
  type CreateTaskResult,
  type Task,
} from '@modelcontextprotocol/sdk/types.js';
import { expect, test } from 'vitest';
import { limitTools } from '../src/index.ts';

const SLOTS = 2;
const POLL_MS = 5000;

function slots() {
  const time = new FakeTime();
  const limits = { Jobs: concurrency({ key: accountId(), concurrency: SLOTS }) };
  const limiter = createLimiter({ limits, store: memoryStore({ time }), time, log: false });
  const taken = async () => SLOTS - (await limiter.check([{ limit: 'Jobs', id: 'ann' }])).remaining;
  return { time, limiter, taken, options: { limiter, limits: { Jobs: 1 }, id: 'ann' } as const };
}

async function connected(server: McpServer | Server): Promise<Client> {
  const client = new Client({ name: 'client', version: '1.0.0' });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(near), client.connect(far)]);
  return client;
}

/** A server whose tool `job` is a task on the store of the SDK. */
async function started() {
  const { options, ...made } = slots();
  const store = new InMemoryTaskStore();
  const tasks = { requests: { tools: { call: {} } }, list: {}, cancel: {} };
  const server = new McpServer({ name: 'test', version: '1.0.0' }, { capabilities: { tasks }, taskStore: store });
  limitTools(server, options);
  const begun: string[] = [];
  server.experimental.tasks.registerToolTask(
    'job',
    { execution: { taskSupport: 'optional' } },
    {
      async createTask({ taskStore }) {
        const task = await taskStore.createTask({ ttl: 60_000, pollInterval: POLL_MS });
        begun.push(task.taskId);
        return { task };
      },
      getTask: async ({ taskStore, taskId }) => taskStore.getTask(taskId),
      getTaskResult: async ({ taskStore, taskId }) => (await taskStore.getTaskResult(taskId)) as never,
    },
  );
  const client = await connected(server);
  const begin = (): Promise<CreateTaskResult> =>
    client.request({ method: 'tools/call', params: { name: 'job', task: { ttl: 60_000 } } }, CreateTaskResultSchema);
  const about = (method: string, taskId: string) => ({ method, params: { taskId } }) as never;
  const done = { content: [{ type: 'text' as const, text: 'done' }] };
  const end = (taskId: string) => store.storeTaskResult(taskId, 'completed', done);
  return { ...made, store, client, begin, begun, about, end };
}

test('ten tasks at once on two slots are two, and each holds its slot until it has ended', async () => {
  const { begin, begun, end, taken, time } = await started();
  const tried = await Promise.allSettled(Array.from({ length: 10 }, begin));
  const denied = tried.filter(({ status }) => status === 'rejected');
  expect([begun.length, denied.length, await taken()]).toEqual([SLOTS, 10 - SLOTS, SLOTS]);
  expect(denied[0]).toMatchObject({ reason: { message: expect.stringContaining('The limit "Jobs" is reached.') } });
  // The slots of tasks are renewed for as long as these work.
  await time.pass(3_600_000);
  expect(await taken()).toBe(SLOTS);
  await end(begun[0]!);
  expect(await taken()).toBe(SLOTS);
  await time.pass(POLL_MS);
  expect(await taken()).toBe(SLOTS - 1);
  await begin();
  await expect(begin()).rejects.toThrow('The limit "Jobs" is reached.');
});

test('a client that has seen the end of a task can begin the next one at once', async () => {
  const { begin, begun, client, about, end, taken } = await started();
  for (let i = 0; i < 3; i++)
    await begin()
      .then(begin)
      .catch(() => undefined);
  expect([begun.length, await taken()]).toEqual([SLOTS, SLOTS]);
  const [first, second] = begun as [string, string];
  await client.request(about('tasks/get', first), GetTaskResultSchema);
  expect(await taken()).toBe(SLOTS);
  await end(first);
  await client.request(about('tasks/get', first), GetTaskResultSchema);
  expect(await taken()).toBe(SLOTS - 1);
  await client.request(about('tasks/cancel', second), CancelTaskResultSchema);
  expect(await taken()).toBe(SLOTS - 2);
  const { task } = await begin();
  await end(task.taskId);
  expect(await client.request(about('tasks/result', task.taskId), CallToolResultSchema)).toMatchObject({
    content: [{ text: 'done' }],
  });
  expect(await taken()).toBe(0);
});

test('a task that its server does not have any more frees its slot', async () => {
  const { begin, store, taken, time } = await started();
  await begin();
  store.cleanup();
  expect(await taken()).toBe(1);
  await time.pass(POLL_MS);
  expect(await taken()).toBe(0);
});

test('while the tasks can’t be read their slots stay held, for ten looks', async () => {
  const { begin, store, taken, time } = await started();
  await begin();
  store.getTask = () => Promise.reject(new Error('the store is down'));
  await time.pass(9 * POLL_MS);
  expect(await taken()).toBe(1);
  await time.pass(POLL_MS);
  expect(await taken()).toBe(0);
});

test('a server with handlers of its own for tasks is asked by them', async () => {
  const { options, taken, time } = slots();
  const capabilities = { tools: {}, tasks: { requests: { tools: { call: {} } } } };
  const server = limitTools(new Server({ name: 'test', version: '1.0.0' }, { capabilities }), options);
  let status: Task['status'] = 'working';
  const task = () => ({ taskId: '1', status, ttl: null, createdAt: '', lastUpdatedAt: '' });
  let isKnown = true;
  server.setRequestHandler(CallToolRequestSchema, async () => ({ task: task() }));
  server.setRequestHandler(GetTaskRequestSchema, async () => (isKnown ? task() : (undefined as never)));
  const client = await connected(server);
  await client.request({ method: 'tools/call', params: { name: 'job', task: {} } }, CreateTaskResultSchema);
  await time.pass(10_000);
  expect(await taken()).toBe(1);
  status = 'failed';
  await time.pass(1000);
  expect(await taken()).toBe(0);
  status = 'working';
  isKnown = false;
  await client.request({ method: 'tools/call', params: { name: 'job', task: {} } }, CreateTaskResultSchema);
  expect(await taken()).toBe(1);
  await time.pass(1000);
  expect(await taken()).toBe(0);
});
