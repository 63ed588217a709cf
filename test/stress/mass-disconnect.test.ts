import { accountId, createLimiter } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { rateLimit } from '@sluice/koa';
import type { Context } from 'koa';
import Koa from 'koa3';
import { connect, createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { sized } from '../sized.ts';

const [SESSIONS, STREAMS] = [sized(3, 20), 1000];

test(`${SESSIONS * STREAMS} requests that wait for their turn leave with their connections, and all tokens are given back`, async () => {
  const key = accountId((ctx: Context) => ctx.get('x-user'));
  const numbers = { burst: 1, count: 1, period: '1m', maxWait: '1h' } as const;
  const limiter = createLimiter({ limits: { Exports: { key, ...numbers } }, time: new FakeTime(), log: false });
  const app = new Koa();
  let handled = 0;
  app.use(rateLimit({ limiter, limits: ['Exports'], maxQueued: SESSIONS * STREAMS }));
  app.use((ctx) => {
    handled++;
    ctx.body = 'ok';
  });
  const server = createServer({ settings: { maxConcurrentStreams: STREAMS } }, app.callback() as never);
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const users = Array.from({ length: SESSIONS * STREAMS }, (_, i) => `user-${i}`);
  const resetAfterMs = async (): Promise<Map<number, number>> => {
    const counts = new Map<number, number>();
    for (const id of users) {
      // oxlint-disable-next-line no-await-in-loop -- in memory
      const { resetAfterMs: ms } = await limiter.check([{ limit: 'Exports', id }]);
      counts.set(ms, (counts.get(ms) ?? 0) + 1);
    }
    return counts;
  };
  // So that the next request of each user waits.
  for (const id of users) await limiter.spend([{ limit: 'Exports', id }]); // oxlint-disable-line no-await-in-loop

  const sessions = Array.from({ length: SESSIONS }, (_, s) => {
    const session = connect(`http://127.0.0.1:${port}`).on('error', () => undefined);
    for (const user of users.slice(s * STREAMS, (s + 1) * STREAMS)) {
      session.request({ ':path': '/', 'x-user': user }).on('error', () => undefined);
    }
    return session;
  });
  await expect.poll(resetAfterMs, { timeout: 60_000, interval: 100 }).toEqual(new Map([[120_000, users.length]]));
  for (const session of sessions) session.destroy();
  await expect.poll(resetAfterMs, { timeout: 60_000, interval: 100 }).toEqual(new Map([[60_000, users.length]]));
  expect(handled).toBe(0);
});
