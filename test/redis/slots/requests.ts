import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { realDelay } from '../../real-delay.ts';
import type { ServeOrders, ServeReport } from '../processes/serve-slots.mjs';
import { run } from '../processes/run.ts';
import { redisServer } from '../servers/redis-server.ts';
import { running } from '../servers/running.ts';
import { until } from '../servers/until.ts';
import { nowMs } from './holder-process.ts';
import type { SlotOutcome, SlotScenario } from './outcome.ts';
import { freeAfterMs } from './redis-slots.ts';
import { mostInUse } from './spans.ts';

const CONCURRENCY = 5;
const ACCOUNTS = 10;
/** Much longer than slots may still be held at the end: a release that was lost is found. */
const EXPIRY_MS = 10_000;
const FREE_WITHIN_MS = 1000;
const LONGEST_MS = 30;
const AT_ONCE = 100;
const ABORTED = 0.4;

type Answer = 'served' | 'denied' | 'aborted';

/** Clients of two processes with one limit on the requests in progress, many of which leave before the response. */
export function abortedRequests(requests: number): SlotScenario {
  return { name: `${requests} requests to two servers, with random aborts`, run: () => runRequests(requests) };
}

async function runRequests(requests: number): Promise<SlotOutcome> {
  const redis = await redisServer();
  const orders: ServeOrders = {
    url: redis.url,
    concurrency: CONCURRENCY,
    expiryMs: EXPIRY_MS,
    longestMs: LONGEST_MS,
  };
  const servers = await Promise.all([serverOf(orders), serverOf(orders)]);
  const agent = new Agent({ keepAlive: true });
  const answers: Record<Answer, number> = { served: 0, denied: 0, aborted: 0 };
  let sent = 0;
  const client = async (): Promise<void> => {
    while (sent < requests) {
      const { port } = servers[sent % servers.length]!;
      const account = `account-${Math.floor(sent / 2) % ACCOUNTS}`;
      sent += 1;
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      answers[await answerOf({ port, account, agent })] += 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, client));
  agent.destroy();
  const sinceMs = nowMs();
  const freeWithinMs = FREE_WITHIN_MS;
  const freeMs = await freeAfterMs(() => [redis], { sinceMs, withinMs: freeWithinMs });
  await until('the keys of slots are gone', async () => (await redis.call<string[]>('KEYS', '*@slots')).length === 0);
  const keysGoneMs = nowMs() - sinceMs;
  const reports = await Promise.all(servers.map((server) => server.report()));
  const spans = reports.flatMap((report) => report.spans);
  const byPolicy = reports.reduce((sum, report) => sum + report.byPolicy, 0);
  return {
    holds: spans.length,
    byPolicy,
    most: mostInUse(spans),
    bound: CONCURRENCY,
    freeMs,
    freeWithinMs,
    note: `${answers.served} served, ${answers.denied} denied, ${answers.aborted} aborted; keys gone after ${keysGoneMs.toFixed(0)} ms`,
    promises: [
      [byPolicy === 0, `${byPolicy} requests were decided by policy`],
      [keysGoneMs <= freeWithinMs, `keys of slots were there after ${keysGoneMs.toFixed(0)} ms`],
      [answers.served > requests / 10, `only ${answers.served} requests were served`],
      [answers.denied > 0, 'no request was denied'],
      [answers.aborted > requests / 10, `only ${answers.aborted} requests were aborted`],
    ],
  };
}

async function serverOf(orders: ServeOrders): Promise<{ port: number; report(): Promise<ServeReport> }> {
  const child = run('serve-slots.mjs', [JSON.stringify(orders)]);
  const exit = once(child, 'exit');
  running.add({
    async close() {
      child.kill('SIGKILL');
      await exit;
    },
  });
  const [port] = (await once(child, 'message')) as [number];
  return {
    port,
    async report() {
      const answer = once(child, 'message');
      child.send('report');
      return ((await answer) as [ServeReport])[0];
    },
  };
}

function answerOf({ port, account, agent }: { port: number; account: string; agent: Agent }): Promise<Answer> {
  return new Promise((resolve) => {
    let isOver = false;
    const request = get({ port, host: '127.0.0.1', agent, headers: { 'x-account': account } }, (response) => {
      response.resume();
      response.once('close', () => {
        isOver = true;
        resolve(!response.complete ? 'aborted' : response.statusCode === 200 ? 'served' : 'denied');
      });
    });
    request.once('error', () => resolve('aborted'));
    if (Math.random() < ABORTED) {
      // After the response, its socket may serve another request.
      void realDelay(Math.random() * LONGEST_MS).then(() => isOver || request.destroy());
    }
  });
}
