import { once } from 'node:events';
import { expect, it } from 'vitest';
import type { HammerOrders, Hammered } from './processes/hammer.mjs';
import { run } from './processes/run.ts';
import { redisServer } from './servers/redis-server.ts';
import { tcpProxy } from './servers/tcp-proxy.ts';

const HOUR_MS = 3_600_000;
const EPOCH_MS = Date.UTC(2026, 0, 1);
const LIMIT = { burst: 50, count: 20, period: '1s' };
const CLOCK = new URL('processes/shifted-clock.mjs', import.meta.url).href;

// To a gateway whose clock is an hour ahead, Redis' is an hour behind: it is the difference that there is.
const CLOCKS = [
  { is: 'right', url: `${CLOCK}?ms=0` },
  { is: 'an hour ahead', url: `${CLOCK}?ms=${HOUR_MS}` },
  { is: 'an hour behind', url: `${CLOCK}?ms=${-HOUR_MS}` },
  { is: 'jumping ahead', url: `${CLOCK}?ms=${HOUR_MS}&afterMs=1000` },
];

it('gateways and a Redis host whose clocks differ by hours, or jump, share a limit as if they did not', async () => {
  const server = await redisServer();
  const proxy = await tcpProxy(server);
  const sent: Buffer[] = [];
  proxy.onRequest = (chunk) => sent.push(chunk);
  const orders: HammerOrders = { ...LIMIT, url: proxy.url, lastsMs: 2000, inFlight: 2, rememberDenialsMs: 0 };
  const gateways = CLOCKS.map(({ url }) => run('hammer.mjs', [JSON.stringify(orders)], ['--import', url]));
  await Promise.all(gateways.map((gateway) => once(gateway, 'message')));
  const reports = gateways.map(async (gateway) => ((await once(gateway, 'message')) as [Hammered])[0]);
  const startMs = Date.now();
  for (const gateway of gateways) gateway.send('go');
  const seen = await Promise.all(reports);
  const spanMs = Date.now() - startMs;

  expect(seen.map(({ byPolicy }) => byPolicy)).toEqual([0, 0, 0, 0]);
  const [{ firstAnsweredMs, lastSentMs }] = seen as [Hammered];
  const admitted = seen.reduce((sum, { allowed }) => sum + allowed, 0);
  expect(admitted).toBeGreaterThan(LIMIT.burst + back(lastSentMs - firstAnsweredMs) - 1);
  expect(admitted).toBeLessThanOrEqual(LIMIT.burst + back(spanMs));
  expect(seen[3]!.lastSentMs - seen[3]!.firstSentMs).toBeGreaterThan(HOUR_MS / 2);

  // The only moment that a gateway sends is the end of its patience, and that in Redis' own time.
  const moments = momentsIn(Buffer.concat(sent).toString('latin1'), startMs);
  expect(moments.fromNow).toBeGreaterThan(0);
  expect(moments.anHourOff).toEqual([]);
});

function back(ms: number): number {
  return (ms / 1000) * LIMIT.count;
}

/** The numbers of a text that are moments in any unit: ticks since 2026, or seconds, ms, µs since 1970. */
function momentsIn(text: string, nowMs: number): { fromNow: number; anHourOff: number[] } {
  const numbers = [...text.matchAll(/\b\d{10,17}\b/g)].map(([digits]) => Number(digits));
  const offsMs = numbers.flatMap((value) =>
    [value / 16_000 + EPOCH_MS, value * 1000, value, value / 1000].map((ms) => ms - nowMs),
  );
  return {
    fromNow: offsMs.filter((offMs) => Math.abs(offMs) < HOUR_MS / 4).length,
    anHourOff: offsMs.filter((offMs) => Math.abs(Math.abs(offMs) - HOUR_MS) < HOUR_MS / 4),
  };
}
