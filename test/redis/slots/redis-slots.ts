import { realDelay } from '../../real-delay.ts';
import type { RedisServer } from '../servers/redis-server.ts';
import { nowMs } from './holder-process.ts';

const EPOCH_SECONDS = 1_767_225_600;
/** The factor of the time in the score of a slot: see decide.lua. */
const EXPIRIES = 4096;
const AFTER_MS = 20;

/** How many slots of all buckets are held on servers, by the clock of each. */
export async function heldIn(servers: readonly RedisServer[]): Promise<number> {
  const counts = await Promise.all(servers.map((server) => heldOn(server)));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** The members of a bucket of slots that are slots. */
export async function slotsOf(server: RedisServer, id: string): Promise<readonly string[]> {
  const members = await server.call<string[]>('ZRANGE', `sluice:InFlight:${id}@slots`, 0, -1);
  return members.filter((member) => member !== 'clock');
}

/** After a failover, a server may not yet answer. */
function notYet(): number {
  return Infinity;
}

async function heldOn(server: RedisServer): Promise<number> {
  const [seconds = '', micros = ''] = await server.call<string[]>('TIME');
  const serverMs = (Number(seconds) - EPOCH_SECONDS) * 1000 + Math.floor(Number(micros) / 1000);
  const all = await server.call<string[]>('KEYS', '*@slots');
  // By slots without the name of a limit, processes tell each other their numbers.
  const keys = all.filter((key) => !key.includes('::'));
  const counts = keys.map((key) => server.call<number>('ZCOUNT', key, (serverMs + 1) * EXPIRIES, '+inf'));
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

/** Waits until no more than `held` slots are held. Returns after how long, or `undefined` if not within `withinMs`. */
export async function freeAfterMs(
  servers: () => readonly RedisServer[] | Promise<readonly RedisServer[]>,
  { sinceMs = nowMs(), withinMs, held = 0 }: { sinceMs?: number; withinMs: number; held?: number },
): Promise<number | undefined> {
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- one look after the other
    const count = await heldIn(await servers()).catch(notYet);
    const elapsedMs = nowMs() - sinceMs;
    if (count <= held) return elapsedMs;
    if (elapsedMs > withinMs) return undefined;
    // oxlint-disable-next-line no-await-in-loop
    await realDelay(AFTER_MS);
  }
}
