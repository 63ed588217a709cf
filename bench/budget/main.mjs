// `node bench/budget/main.mjs` prints where the time of a decision goes: of limiter.spend alone, of requests to Express
// and Fastify from our first line to the call of next(), of requests that Koa refuses for us, and of decisions through
// Redis at both ends.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { accountId, createLimiter } from '@sluice/core';
import { coresCanBeChosen, forked } from '../harness/processes.mjs';
import { tableText, tenths, withSpread } from '../harness/table.mjs';
import { Load } from '../http/load.mjs';
import { oneAtATime } from './one-at-a-time.mjs';
import { COLLECTION, nanosecondsByStage, profileOf } from './profile.mjs';
import { throughRedis } from './redis.mjs';

const DECISIONS = 8_000_000;
const REQUESTS = 60_000;
const CONNECTIONS = 64;
const TURN_MS = 50;
const CORE = { here: 1, server: 0 };
const STATUS = { allowed: 200, denied: 429 };

/** @type {readonly (readonly [framework: string, outcome: 'allowed' | 'denied', title: string])[]} */
const SERVERS = [
  ['Express', 'allowed', 'a request to Express that is let through, from our first line to next()'],
  ['Fastify', 'allowed', 'a request to Fastify that is let through, from our first line to next()'],
  ['Koa', 'denied', 'a request to Koa that is refused, from our first line to the end of our part'],
];

/** @type {import('./profile.mjs').Stages} */
const STAGES = [
  ['clock', /core\/src\/(time\/|store\/memory\/store-time)/],
  ['hash of the id', /core\/src\/(hash\/half-sip-hash|store\/memory\/id-hasher)\.ts$/],
  ['table of buckets', /core\/src\/store\//],
  ['fields', /core\/src\/http\/(fields|dialects\/.*)\.ts$/],
  ['request and response', /core\/src\/(http|client)\/|(express|koa|fastify)\/src\/|core\/src\/ids\/ip-address|ipaddr/],
  ['entry, id and numbers', /core\/src\/(limiter|limits|definitions|kinds|ids|keys|async|checks)\//],
  ['decision', /core\/src\//],
];

// On another core V8's sampler would look when that one is free, which is when we wait for who works there.
if (coresCanBeChosen) spawnSync('taskset', ['-acp', `${CORE.here}`, `${process.pid}`]);

print('limiter.spend of one id, with one limit', nanosecondsByStage(await profileOf(spendOften), STAGES), DECISIONS);
for (const [framework, outcome, title] of SERVERS) {
  // oxlint-disable-next-line no-await-in-loop
  const { profile, requests } = await profiledServer(framework, outcome);
  const stages = nanosecondsByStage(profile, STAGES);
  // Most of it is that of the framework and of Node.
  stages.delete(COLLECTION);
  print(title, stages, requests);
}
for (const inFlight of [64, 512]) {
  // oxlint-disable-next-line no-await-in-loop
  const { here, there, decisions } = await throughRedis(inFlight);
  print(`a decision through Redis, ${inFlight} at a time, in this process`, here, decisions);
  print('the same in Redis', there, decisions);
}
printSteps(await oneAtATime());
process.exit();

function spendOften() {
  const numbers = { burst: 1_000_000_000, count: 1_000_000_000, period: '10m' };
  const limiter = createLimiter({ limits: { Calls: { key: accountId(), ...numbers } } });
  for (let i = 0; i < DECISIONS; i++) void limiter.spend([{ limit: 'Calls', id: '12345678', cost: 1 }]);
}

/**
 * @param {string} name
 * @param {'allowed' | 'denied'} outcome
 */
async function profiledServer(name, outcome) {
  const child = forked(new URL('server.mjs', import.meta.url), [name, outcome, `${REQUESTS}`], { core: CORE.server });
  const [port] = /** @type {[number]} */ (await once(child, 'message'));
  /** @type {{ profile: import('./profile.mjs').Profile, requests: number }[]} */
  const answers = [];
  child.once('message', (/** @type {any} */ answer) => answers.push(answer));
  const load = new Load({ port, connections: CONNECTIONS, status: STATUS[outcome] });
  // oxlint-disable-next-line no-await-in-loop
  while (answers.length === 0) await load.during(TURN_MS);
  return /** @type {typeof answers[0]} */ (answers[0]);
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

/** @param {Awaited<ReturnType<typeof oneAtATime>>} steps */
function printSteps(steps) {
  const rows = steps.map(({ step, micros }) => [step, withSpread(micros, tenths)]);
  console.log(tableText({ title: 'decisions through Redis, one at a time', rows: [['', 'µs'], ...rows] }));
}
