import { accountId, createLimiter } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { redisStore } from '@sluice/redis';
import { redisServer } from '../servers/redis-server.ts';
import { running } from '../servers/running.ts';
import { tcpProxy } from '../servers/tcp-proxy.ts';
import { nowMs } from './holder-process.ts';
import type { SlotOutcome, SlotScenario } from './outcome.ts';
import { freeAfterMs, heldIn } from './redis-slots.ts';

const EXPIRY_MS = 1000;
const TRIES = 5;

/** The connection is cut between the script and its reply: Redis holds a slot that no request has. */
export const lostReplies: SlotScenario = {
  name: 'connections cut between script and reply',
  async run(): Promise<SlotOutcome> {
    const server = await redisServer();
    const proxy = await tcpProxy(server);
    const store = redisStore({ url: proxy.url, log: false });
    running.add({ close: () => store.close() });
    const limiter = createLimiter({
      limits: { InFlight: concurrency({ key: accountId(), concurrency: TRIES, expiry: EXPIRY_MS }) },
      store,
      failure: { onFailure: 'closed' },
      log: false,
    });
    let unavailable = 0;
    for (let i = 0; i < TRIES; i++) {
      // oxlint-disable-next-line no-await-in-loop -- each cuts a connection
      await limiter.ready();
      proxy.cutNextReply();
      // oxlint-disable-next-line no-await-in-loop
      const { outcome } = await limiter.spend([{ limit: 'InFlight', id: 'one' }], { hold: true });
      if (outcome === 'unavailable') unavailable += 1;
    }
    const sinceMs = nowMs();
    const lost = await heldIn([server]);
    const freeMs = await freeAfterMs(() => [server], { sinceMs, withinMs: EXPIRY_MS + 1000 });
    await limiter.ready();
    const holds = await Promise.all(
      Array.from({ length: TRIES + 1 }, () => limiter.spend([{ limit: 'InFlight', id: 'one' }], { hold: true })),
    );
    const allowed = holds.filter((held) => held.allowed).length;
    await Promise.all(holds.map((held) => held.release()));
    const atEnd = await heldIn([server]);
    await limiter.close();
    return {
      holds: allowed,
      byPolicy: unavailable,
      most: allowed,
      bound: TRIES,
      freeMs,
      freeWithinMs: EXPIRY_MS + 1000,
      note: `${lost} slots held by no request`,
      promises: [
        [unavailable === TRIES, `${unavailable} of ${TRIES} requests were unavailable`],
        [lost > 0, 'no reply was lost'],
        [allowed === TRIES, `${allowed} of ${TRIES} slots were free afterwards`],
        [atEnd === 0, `${atEnd} slots were left at the end`],
      ],
    };
  },
};
