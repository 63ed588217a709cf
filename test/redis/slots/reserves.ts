import { realDelay } from '../../real-delay.ts';
import { redisServer, type RedisServer } from '../servers/redis-server.ts';
import { endAll, holders, nowMs } from './holder-process.ts';
import type { SlotOutcome, SlotScenario } from './outcome.ts';
import { freeAfterMs } from './redis-slots.ts';
import { mostInUse } from './spans.ts';

const PROCESSES = 4;
const PER_SECOND = 1000;
const CONCURRENCY = 100;
const RESERVE = 20;
const EXPIRY_MS = 10_000;
/** Slots that no request has used for a second are released, with a look each second. */
const FREE_WITHIN_MS = 2500;
const SETTLED_MS = 500;
/** What a process may call Redis for each second: less than a tenth of its requests, also where timers are late. */
const MOST_CALLS = 20;

/** One bucket for all requests of four processes, whose slots are taken in reserves. */
export function reserves(seconds: number): SlotScenario {
  return {
    name: `reserves of ${RESERVE}, ${PROCESSES} processes, ${PER_SECOND} requests/s`,
    run: () => runBlocks(seconds),
  };
}

async function runBlocks(seconds: number): Promise<SlotOutcome> {
  const server = await redisServer();
  const all = await holders(PROCESSES, {
    server: { url: server.url },
    limit: { concurrency: CONCURRENCY, expiry: `${EXPIRY_MS}ms`, reserve: RESERVE },
    ids: ['everyone'],
    gateways: PROCESSES,
    deadlineMs: 5000,
    workers: 0,
    perSecond: PER_SECOND / PROCESSES,
    holdMs: [5, 50],
  });
  await Promise.all(all.map((holder) => holder.load()));
  await realDelay(SETTLED_MS);
  const [before, fromMs] = [await scriptCalls(server), nowMs()];
  await realDelay(1000 * seconds);
  const [calls, spanSeconds] = [(await scriptCalls(server)) - before, (nowMs() - fromMs) / 1000];
  const { spans, denied, failed, errors } = await endAll(all);
  const freeMs = await freeAfterMs(() => [server], { withinMs: FREE_WITHIN_MS });
  const perProcess = calls / spanSeconds / PROCESSES;
  const requests = (spans.length + denied) / (spanSeconds + SETTLED_MS / 1000);
  return {
    holds: spans.length,
    byPolicy: failed,
    most: mostInUse(spans),
    bound: CONCURRENCY,
    freeMs,
    freeWithinMs: FREE_WITHIN_MS,
    note: `${requests.toFixed(0)} requests/s, ${perProcess.toFixed(1)} calls of Redis by each process and second (at most ${MOST_CALLS}), ${denied} denied`,
    promises: [
      [errors.length === 0, `errors: ${errors[0] ?? ''}`],
      [failed === 0, `${failed} were decided by policy`],
      [perProcess <= MOST_CALLS, `${perProcess.toFixed(1)} calls of Redis by each process and second`],
    ],
  };
}

async function scriptCalls(server: RedisServer): Promise<number> {
  return (await server.commandCalls()).get('evalsha') ?? 0;
}
