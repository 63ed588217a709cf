import { realDelay } from '../../real-delay.ts';
import type { Added, RunningLoad } from './load-through.ts';
import { onOneServer } from './on-one-server.ts';

/** FLUSHALL under load: the processes restore what they remember. */
export const flushed = onOneServer({
  name: 'FLUSHALL',
  beforeMs: 4000,
  async fault(load, server) {
    const lost = await lostNow(load);
    await server.call('FLUSHALL');
    return lost;
  },
});

/** Redis dies, and starts with what it had saved two seconds before. */
export const oldSnapshot = onOneServer({
  name: 'Redis restarts with data that is 2 s old',
  beforeMs: 4000,
  async fault(load, server) {
    await server.call('SAVE');
    await realDelay(2000);
    const lost = await lostNow(load);
    await server.kill();
    await server.start();
    return lost;
  },
});

/** What was charged after the oldest view: no process can restore it. */
export async function lostNow(load: RunningLoad): Promise<Added> {
  const viewMs = await load.oldestViewMs();
  return { tokens: load.ratePerMs * viewMs, note: `the oldest view was ${viewMs.toFixed(0)} ms old` };
}
