import { overRedis } from '../contenders/over-redis.mjs';
import { VisitOrder } from '../ids.mjs';
import { cpuMicrosOf } from '../redis/cpu.mjs';
import { decideEach } from '../redis/in-flight.mjs';
import { RedisServer } from '../redis/server.mjs';
import { nanosecondsByStage, profileOf } from './profile.mjs';

const IDS = 10_000;
const DECISIONS = 500_000;
const RATE = { burst: 1_000_000, intervalMs: 60_000, windowMs: 3_600_000 };
const COMMANDS = ['get', 'set', 'time'];

/** @type {import('./profile.mjs').Stages} */
const STAGES = [
  ['ioredis, and Node for it', /node_modules\/(ioredis|@ioredis|redis-parser|standard-as-callback)\//],
  ['keys, calls and answers', /redis\/src\//],
  ['deadline and breaker', /core\/src\/(failure|time)\//],
  ['entry, id, numbers and decision', /core\/src\//],
];

/**
 * Decides through a Redis of its own.
 *
 * @param {number} inFlight How many decisions at a time.
 * @returns {Promise<{ decisions: number, here: Map<string, number>, there: Map<string, number> }>} Nanoseconds by stage.
 */
export async function throughRedis(inFlight) {
  const server = await RedisServer.start({ core: 0 });
  const decide = await /** @type {import('../contenders/over-redis.mjs').OverRedis} */ (overRedis.Sluice)(
    server.connect(),
    RATE,
  );
  const watcher = server.connect();
  const order = new VisitOrder(IDS);
  const decideAll = () => decideEach(decide, order.next(DECISIONS), inFlight);
  let before = 0;
  const profile = await profileOf(async () => {
    await watcher.config('RESETSTAT');
    before = await cpuMicrosOf(watcher);
    await decideAll();
  });
  const after = await cpuMicrosOf(watcher);
  const there = await workOf(watcher, after - before);
  return { decisions: DECISIONS, here: nanosecondsByStage(profile, STAGES), there };
}

/**
 * What Redis itself says of its commands: those of a script are counted too.
 *
 * @param {import('ioredis').Redis} client
 * @param {number} processor Microseconds in all.
 */
async function workOf(client, processor) {
  const info = await client.info('commandstats');
  const microsOf = (/** @type {string} */ name) => numberIn(info, new RegExp(`cmdstat_${name}:.*?usec=(\\d+)`));
  const script = microsOf('evalsha');
  const commands = COMMANDS.map((name) => /** @type {const} */ ([name.toUpperCase(), microsOf(name)]));
  const called = commands.reduce((sum, [, micros]) => sum + micros, 0);
  const stages = [
    ...commands,
    ['the script around them', script - called],
    ['to read calls and to answer', processor - script],
  ];
  return new Map(stages.map(([stage, micros]) => [String(stage), 1000 * Number(micros)]));
}

/**
 * @param {string} info
 * @param {RegExp} pattern
 */
function numberIn(info, pattern) {
  const value = pattern.exec(info)?.[1];
  if (value === undefined) throw new Error(`Redis told nothing like ${pattern}.`);
  return Number(value);
}
