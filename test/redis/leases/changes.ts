import { realDelay } from '../../real-delay.ts';
import { ONCE, SLOW } from './limits.ts';
import { PROCESSES } from './load-through.ts';
import { onOneServer } from './on-one-server.ts';

/** Two times between syncs, and some time for a busy machine. */
const SEEN_WITHIN_MS = 2 * 200 + 600;

/** All processes have used up a bucket to which nothing comes back. */
const USED_UP = {
  limit: ONCE,
  perSecond: 400,
  beforeMs: 4000,
  afterMs: SEEN_WITHIN_MS,
  recoveredWithinMs: SEEN_WITHIN_MS,
};

/** One process resets a bucket: all of them let requests through again, as soon as they have read it. */
export const reset = onOneServer({
  ...USED_UP,
  name: 'a reset',
  async fault({ gateways, overdraft }) {
    await gateways[0]!.reset('1');
    return { tokens: ONCE.burst + PROCESSES * overdraft };
  },
});

/** All processes get a larger burst. */
export const raisedLimit = onOneServer({
  ...USED_UP,
  name: 'a burst twice as large',
  async fault({ gateways, overdraft }) {
    const limit = { ...ONCE, burst: 2 * ONCE.burst };
    const [numbers] = await Promise.all(gateways.map((gateway) => gateway.replace(limit)));
    return { tokens: limit.burst - ONCE.burst + PROCESSES * (numbers!.overdraft - overdraft) };
  },
});

/** Half of the processes let Redis decide each request. */
export const strictBeside = onOneServer({
  name: 'half of the processes without leases',
  strict: PROCESSES / 2,
  someMayStarve: true,
  beforeMs: 4000,
  recoveredWithinMs: 2000,
  fault: () => Promise.resolve({ tokens: 0 }),
});

const OLD = { ...SLOW, burst: 300 };
const NEW = { ...SLOW, burst: 100 };
/** How long it takes until what exceeds the new burst has come back. */
const DEBT_MS = ((OLD.burst - NEW.burst) / OLD.count) * 1000;

/** A roll-out lowers the burst, one half of the processes after the other. In each half, one half has no leases. */
export const loweredLimit = onOneServer({
  name: 'a burst a third as large, at half of the processes first, and half without leases',
  limit: OLD,
  strict: PROCESSES / 2,
  beforeMs: 2000,
  afterMs: DEBT_MS + 3000,
  recoveredWithinMs: DEBT_MS + 2000,
  async fault({ gateways }) {
    await Promise.all(gateways.map((gateway, i) => (i % 2 === 0 ? gateway.replace(NEW) : undefined)));
    await realDelay(2500);
    await Promise.all(gateways.map((gateway, i) => (i % 2 === 1 ? gateway.replace(NEW) : undefined)));
    return { tokens: 0 };
  },
});
