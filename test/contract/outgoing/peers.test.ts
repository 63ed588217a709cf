import { afterEach, describe, expect, test } from 'vitest';
import { sized } from '../../sized.ts';
import { COUNT, PEERS, WINDOW_MS, type Peer, type PeerServer } from './peer-servers.ts';
import { VirtualTime } from './virtual-time.ts';
import { callsOf } from './workers.ts';

const WINDOWS = sized(2, 12);
const peers = Object.entries(PEERS);

let time: VirtualTime;
let server: PeerServer;

async function started(peer: Peer): Promise<void> {
  time = new VirtualTime();
  server = await peer.start(time.fake);
}

afterEach(async () => {
  await server.close();
  time.end();
});

/** Calls that passed, as a part of those that may. */
function used({ passed }: { readonly passed: readonly number[] }, ofWindow: number): number {
  return passed.reduce((sum, each) => sum + each, 0) / ofWindow / WINDOWS;
}

describe.each([1, 8])('%i workers', (workers) => {
  // Where little is to be learnt, each peer limits either one worker or eight in `npm test`.
  const some = peers.filter((_, i) => sized(i % 2, workers % 2) === workers % 2);
  test.each(some)('are never denied by %s where our limit is below theirs, and use it', async (_name, peer) => {
    await started(peer);
    // In any window at most 10 + 80 calls begin, and those of the 40 ms before are still on their way.
    const api = { burst: 10, count: 80, period: '10s' };
    const calls = await callsOf({ time, port: server.port, api, workers, windows: WINDOWS });
    expect([...calls.denied]).toEqual([]);
    expect(used(calls, 80)).toBeGreaterThan(0.95);
  });

  test.each(peers)('learn the limit of %s from its fields alone', async (_name, peer) => {
    await started(peer);
    const api = { burst: 1000, count: 1000, period: '1s' };
    const calls = await callsOf({ time, port: server.port, api, workers, windows: WINDOWS });
    expect(used(calls, COUNT)).toBeGreaterThan(0.85);
    // One call of many workers asks again after each denial. At first, the first worker does not know of the others.
    const most = workers === 1 ? 0 : WINDOW_MS / peer.denialMs;
    for (const { window, worker, times } of calls.denied.values())
      expect(times, `of ${worker} in ${window}`).toBeLessThanOrEqual(window === 0 && workers > 1 ? most + 1 : most);
  });
});
