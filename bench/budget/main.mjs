// `node bench/budget/main.mjs` prints where the time of a decision goes: of limiter.spend alone, of requests to Express
// from the middleware's first line to its call of next(), and of decisions through Redis at both ends.
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { accountId, createLimiter } from '@sluice/core';
import { frameworkNamed } from '../http/frameworks.mjs';
import { tableText } from '../harness/table.mjs';
import { COLLECTION, nanosecondsByStage, profileOf } from './profile.mjs';
import { throughRedis } from './redis.mjs';

const DECISIONS = 8_000_000;
const REQUESTS = 60_000;
const CONNECTIONS = 64;

/** @type {import('./profile.mjs').Stages} */
const STAGES = [
  ['clock', /core\/dist\/clock\.js$/],
  ['hash of the id', /core\/dist\/memory\/(half-sip-hash|bucket-hasher)\.js$/],
  ['table of buckets', /core\/dist\/memory\//],
  ['fields', /core\/dist\/http\/(fields|list-members|dialects\/.*)\.js$/],
  ['request and response', /(core\/dist\/http|express\/dist|core\/dist\/ids\/ip-address)/],
  ['entry, id and numbers', /core\/dist\/(entries|batch|limit-set|ids\/.*|keys\/.*|overrides\/.*|limiter-core)\.js$/],
  ['decision', /core\/dist\//],
];

spendOften();
print('limiter.spend of one id, with one limit', nanosecondsByStage(await profileOf(spendOften), STAGES), DECISIONS);
const express = await profiledServer();
const ofExpress = nanosecondsByStage(express.profile, STAGES);
// Most of it is that of Express and of Node.
ofExpress.delete(COLLECTION);
print('a request to Express that is let through, from the middleware to next()', ofExpress, express.requests);
const redis = await throughRedis();
print('a decision through Redis, 64 at a time, in this process', redis.here, redis.decisions);
print('the same in Redis', redis.there, redis.decisions);
process.exit();

function spendOften() {
  const numbers = { burst: 1_000_000_000, count: 1_000_000_000, period: '10m' };
  const limiter = createLimiter({ limits: { Calls: { key: accountId(), ...numbers } } });
  for (let i = 0; i < DECISIONS; i++) void limiter.spend([{ limit: 'Calls', id: '12345678', cost: 1 }]);
}

async function profiledServer() {
  const framework = await frameworkNamed('Express');
  const server = await framework.server('Sluice', { count: 1_000_000_000, periodMs: 600_000 });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  let requests = 0;
  server.on('request', () => requests++);
  const load = new Worker(new URL('../http/load-thread.mjs', import.meta.url), {
    workerData: { port: address.port, connections: CONNECTIONS, status: 200 },
  });
  await until(() => requests >= REQUESTS);
  const before = requests;
  const profile = await profileOf(() => until(() => requests >= before + REQUESTS));
  const during = requests - before;
  await load.terminate();
  server.closeAllConnections();
  server.close();
  return { profile, requests: during };
}

/** @param {() => boolean} isSo */
async function until(isSo) {
  // oxlint-disable-next-line no-await-in-loop
  while (!isSo()) await wait(10);
}

/**
 * @param {string} title
 * @param {ReadonlyMap<string, number>} nanoseconds By stage.
 * @param {number} decisions
 */
function print(title, nanoseconds, decisions) {
  const total = [...nanoseconds.values()].reduce((sum, each) => sum + each, 0);
  const rows = [...nanoseconds]
    .toSorted(([, a], [, b]) => b - a)
    .map(([stage, spent]) => [stage, `${Math.round(spent / decisions)}`, `${Math.round((100 * spent) / total)} %`]);
  rows.push(['all', `${Math.round(total / decisions)}`, '100 %']);
  console.log(tableText({ title: `${title}: nanoseconds each`, rows: [['stage', 'ns', 'share'], ...rows] }));
}
