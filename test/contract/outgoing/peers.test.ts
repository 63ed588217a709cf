import { afterEach, describe, expect, test } from 'vitest';
import { sized } from '../../sized.ts';
import { denialMsOf, PEERS, type Peer, type PeerServer } from './peer-servers.ts';
import { VirtualTime } from './virtual-time.ts';
import { callsOf, type Parts } from './workers.ts';

/** The limit of every server. */
const LIMIT = { count: 100, windowMs: 10_000 };
const { windowMs } = LIMIT;

const WINDOWS = sized(2, 12);
const peers = Object.entries(PEERS);

let time: VirtualTime;
let server: PeerServer;

async function started(peer: Peer): Promise<void> {
  time = new VirtualTime();
  server = await peer.start(LIMIT, time.fake);
}

afterEach(async () => {
  await server.close();
  time.end();
});

/** Calls that passed, as a part of those that may. */
function used({ passed }: { readonly passed: readonly number[] }, ofWindow: number): number {
  return passed.reduce((sum, each) => sum + each, 0) / ofWindow / passed.length;
}

describe.each([1, 8])('%i workers', (workers) => {
  // Where little is to be learnt, each peer limits either one worker or eight in `npm test`.
  const some = peers.filter((_, i) => sized(i % 2, workers % 2) === workers % 2);
  test.each(some)('are never denied by %s where our limit is below theirs, and use it', async (_name, peer) => {
    await started(peer);
    // In any window at most 10 + 80 calls begin, and those of the 40 ms before are still on their way.
    const api = { burst: 10, count: 80, period: '10s' };
    const calls = await callsOf({ time, port: server.port, api, workers, windows: WINDOWS, windowMs, wayMs: 20 });
    expect([...calls.denied]).toEqual([]);
    expect(used(calls, 80)).toBeGreaterThan(0.95);
  });

  test.each(peers)('learn the limit of %s from its fields alone', async (_name, peer) => {
    const { share, tooMany } = await learnt(peer, { workers, windows: WINDOWS, wayMs: 20 });
    expect(tooMany).toEqual([]);
    expect(share).toBeGreaterThan(0.85);
  });
});

const far = peers.slice(0, sized(1, peers.length));
test.each(far)('8 workers learn the limit of %s where each call takes a second', async (_name, peer) => {
  const { share, tooMany } = await learnt(peer, { workers: 8, windows: sized(4, 12), wayMs: 500 });
  expect(tooMany).toEqual([]);
  expect(share).toBeGreaterThan(0.85);
});

/**
 * Lets workers use a limit that only the fields of its server tell.
 *
 * @returns Which part of it they used, and who was denied too often: one call of many workers asks again after each denial.
 */
async function learnt(peer: Peer, parts: Pick<Parts, 'workers' | 'windows' | 'wayMs'>) {
  await started(peer);
  const api = { burst: 1000, count: 1000, period: '1s' };
  const calls = await callsOf({ time, port: server.port, api, windowMs, ...parts });
  const most = parts.workers === 1 ? 0 : windowMs / denialMsOf(peer, LIMIT);
  return { share: used(calls, LIMIT.count), tooMany: [...calls.denied.values()].filter(({ times }) => times > most) };
}
