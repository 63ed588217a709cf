// `node bench/budget.mjs` prints where the time of a decision goes: by V8's sampling profiler, of limiter.spend alone
// and of requests to Express, from the middleware's first line to its call of next().
import { once } from 'node:events';
import { Session } from 'node:inspector/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { accountId, createLimiter } from '@sluice/core';
import { frameworkNamed } from './http/frameworks.mjs';
import { tableText } from './harness/table.mjs';

const SAMPLE_MICROS = 100;
const DECISIONS = 8_000_000;
const REQUESTS = 60_000;
const CONNECTIONS = 64;

/**
 * Which file belongs to which stage; the first that matches holds.
 *
 * @type {readonly [stage: string, file: RegExp][]}
 */
const STAGES = [
  ['clock', /core\/dist\/clock\.js$/],
  ['hash of the id', /core\/dist\/memory\/(half-sip-hash|bucket-hasher)\.js$/],
  ['table of buckets', /core\/dist\/memory\//],
  ['fields', /core\/dist\/http\/(fields|list-members|dialects\/.*)\.js$/],
  ['request and response', /(core\/dist\/http|express\/dist|core\/dist\/ids\/ip-address)/],
  ['entry, id and numbers', /core\/dist\/(entries|batch|limit-set|ids\/.*|keys\/.*|overrides\/.*|limiter-core)\.js$/],
  ['decision', /core\/dist\//],
];

/** @typedef {import('node:inspector').Profiler.Profile} Profile */
/** @typedef {import('node:inspector').Profiler.ProfileNode} Node */

print('limiter.spend of one id, with one limit', await profiled(spendOften), DECISIONS);
const express = await profiledServer();
print('a request to Express that is let through, from the middleware to next()', express.profile, express.requests);

/** @param {() => Promise<void> | void} run */
async function profiled(run) {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: SAMPLE_MICROS });
  await session.post('Profiler.start');
  await run();
  const { profile } = await session.post('Profiler.stop');
  session.disconnect();
  return profile;
}

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
  const load = new Worker(new URL('./http/load-thread.mjs', import.meta.url), {
    workerData: { port: address.port, connections: CONNECTIONS, status: 200 },
  });
  await until(() => requests >= REQUESTS);
  const before = requests;
  const profile = await profiled(() => until(() => requests >= before + REQUESTS));
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
 * @param {Profile} profile
 * @param {number} decisions
 */
function print(title, profile, decisions) {
  const stages = nanosecondsByStage(profile);
  const total = [...stages.values()].reduce((sum, each) => sum + each, 0);
  const rows = [...stages]
    .toSorted(([, a], [, b]) => b - a)
    .map(([stage, spent]) => [stage, `${Math.round(spent / decisions)}`, `${Math.round((100 * spent) / total)} %`]);
  rows.push(['all', `${Math.round(total / decisions)}`, '100 %']);
  console.log(tableText({ title: `${title}: nanoseconds each`, rows: [['stage', 'ns', 'share'], ...rows] }));
}

/**
 * @param {Profile} profile
 * @returns {Map<string, number>}
 */
function nanosecondsByStage({ nodes, samples = [], timeDeltas = [] }) {
  const stageOf = stagesOf(nodes);
  /** @type {Map<string, number>} */
  const spent = new Map();
  for (const [i, id] of samples.entries()) {
    const stage = stageOf.get(id);
    if (stage !== undefined) spent.set(stage, (spent.get(stage) ?? 0) + 1000 * (timeDeltas[i] ?? 0));
  }
  return spent;
}

/**
 * The stage of each node: what Node itself does belongs to whoever called it; what others do belongs to nobody.
 *
 * @param {readonly Node[]} nodes
 * @returns {Map<number, string | undefined>}
 */
function stagesOf(nodes) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const stageOf = new Map();
  const [root] = nodes;
  if (root !== undefined) visit(root, undefined);
  return stageOf;

  /**
   * @param {Node} node
   * @param {string | undefined} callers
   */
  function visit({ id, callFrame: { url, functionName }, children = [] }, callers) {
    const isNodes = url === '' || url.startsWith('node:');
    const own = STAGES.find(([, file]) => file.test(url))?.[0];
    const stage =
      functionName === '(garbage collector)' ? 'garbage collection' : (own ?? (isNodes ? callers : undefined));
    stageOf.set(id, stage);
    for (const child of children) visit(/** @type {Node} */ (byId.get(child)), stage);
  }
}
