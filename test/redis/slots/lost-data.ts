import type { HoldOrders } from '../processes/hold.mjs';
import { redisServer } from '../servers/redis-server.ts';
import { until } from '../servers/until.ts';
import { HolderProcess, nowMs } from './holder-process.ts';
import { loadThrough } from './load-through.ts';
import type { SlotOutcome, SlotScenario } from './outcome.ts';
import { slotsOf } from './redis-slots.ts';

const CONCURRENCY = 40;
const HELD = 20;

/** FLUSHALL in the middle of load, while another process holds half of the slots all the time. */
export function flushed(expiryMs: number): SlotScenario {
  return { name: `FLUSHALL while ${HELD} of ${CONCURRENCY} slots are held for long`, run: () => runFlushed(expiryMs) };
}

async function runFlushed(expiryMs: number): Promise<SlotOutcome> {
  const server = await redisServer();
  const orders: HoldOrders = {
    server: { url: server.url },
    limit: { concurrency: CONCURRENCY, expiry: `${expiryMs}ms` },
    ids: ['one'],
    gateways: 2,
    deadlineMs: 5000,
    workers: 0,
    holdMs: [0, 0],
  };
  const holder = await HolderProcess.start(orders);
  await holder.take(HELD);
  const held = new Set(await slotsOf(server, 'one'));
  let backMs = 0;
  const outcome = await loadThrough({
    server: orders.server,
    servers: () => [server],
    processes: 2,
    concurrency: CONCURRENCY,
    expiryMs,
    ids: ['one'],
    aroundMs: 500,
    heldByOthers: HELD,
    async fault() {
      await server.call('FLUSHALL');
      const flushedMs = nowMs();
      await until('all that are held for long are back', async () => {
        const now = await slotsOf(server, 'one');
        return now.filter((member) => held.has(member)).length === HELD;
      });
      backMs = nowMs() - flushedMs;
    },
  });
  const left = (await slotsOf(server, 'one')).length;
  await holder.end();
  const atEnd = await slotsOf(server, 'one');
  return {
    ...outcome,
    note: `held again after ${backMs.toFixed(0)} of ${expiryMs / 2} ms; ${outcome.note}`,
    promises: [
      ...outcome.promises,
      [held.size === HELD, `${held.size} slots were held at first, not ${HELD}`],
      [backMs <= expiryMs / 2, `slots were held again after ${backMs.toFixed(0)} ms, more than half of the expiry`],
      [left >= HELD, `${left} of ${HELD} slots were left while they were held`],
      [atEnd.length === 0, `${atEnd.length} slots were left after their release`],
    ],
  };
}
