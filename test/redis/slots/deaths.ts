import { realDelay } from '../../real-delay.ts';
import type { HoldOrders } from '../processes/hold.mjs';
import { redisServer } from '../servers/redis-server.ts';
import { HolderProcess, nowMs } from './holder-process.ts';
import type { SlotOutcome, SlotScenario } from './outcome.ts';
import { heldIn } from './redis-slots.ts';

const VICTIM = 50;
const SURVIVOR = 10;
const ALL = VICTIM + SURVIVOR;

/** A process that holds most slots is killed; another one wants them. */
export function killedHolder(expirySeconds: number): SlotScenario {
  return { name: `kill -9 of a process with ${VICTIM} of ${ALL} slots`, run: () => runKilled(expirySeconds) };
}

async function runKilled(expirySeconds: number): Promise<SlotOutcome> {
  const server = await redisServer();
  const orders: HoldOrders = {
    server: { url: server.url },
    limit: { concurrency: ALL, expiry: `${expirySeconds}s` },
    ids: ['one'],
    gateways: 2,
    // A slot that a policy admits is not counted here.
    deadlineMs: 5000,
    workers: 0,
    holdMs: [0, 0],
  };
  const [victim, survivor] = await Promise.all([HolderProcess.start(orders), HolderProcess.start(orders)]);
  const taken = [...(await victim.take(VICTIM)), ...(await survivor.take(SURVIVOR))];
  const gathered = survivor.gather(VICTIM);
  // Without renewals, all slots would be free before the process dies.
  await realDelay(1500 * expirySeconds);
  const heldBefore = await heldIn([server]);
  const killedMs = nowMs();
  await victim.kill();
  const gatheredMs = await gathered;
  // The survivor's own slots are renewed, too, with those that it has just taken.
  await realDelay(1500 * expirySeconds);
  const heldAfter = await heldIn([server]);
  await survivor.end();
  const early = gatheredMs.filter((ms) => ms < killedMs).length;
  return {
    holds: taken.length + gatheredMs.length,
    byPolicy: 0,
    most: ALL + early,
    bound: ALL,
    freeMs: Math.max(...gatheredMs) - killedMs,
    freeWithinMs: 1000 * expirySeconds + 1000,
    note: `the other process has them after ${(Math.min(...gatheredMs) - killedMs).toFixed(0)} to ${(Math.max(...gatheredMs) - killedMs).toFixed(0)} ms`,
    promises: [
      [taken.length === ALL, `only ${taken.length} of ${ALL} slots were taken at first`],
      [heldBefore === ALL, `${heldBefore} of ${ALL} slots were held before the process died`],
      [heldAfter === ALL, `${heldAfter} of ${ALL} slots were held long after it`],
    ],
  };
}
