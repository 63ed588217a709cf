import { createLimiter, everyone } from '@sluice/core';
import { createScheduler } from '@sluice/core/scheduler';
import { redisStore } from '@sluice/redis';
import { expect, test } from 'vitest';
import { realDelay } from '../../real-delay.ts';
import { redisServer } from '../../redis/servers/redis-server.ts';
import { running } from '../../redis/servers/running.ts';
import { until } from '../../redis/servers/until.ts';

const BURST = 3;
const PROCESSES = 4;

function scheduled(url: string, begun: number[]): void {
  const limits = { Api: { key: everyone(), burst: BURST, count: 1, period: '1h' as const } };
  const limiter = createLimiter({ limits, store: redisStore({ url, log: false }), log: false });
  running.add({ close: () => limiter.close({ store: true }) });
  const scheduler = createScheduler(limiter);
  for (let call = 0; call < 10; call++) {
    const begin = () => void begun.push(call);
    scheduler.run([{ limit: 'Api', id: 'everyone' }], begin, { within: '2h' }).catch(() => {});
  }
}

test('the first calls of processes wait for a store that has not answered yet, and then share the limit', async () => {
  const server = await redisServer();
  const begun: number[] = [];
  server.freeze();
  try {
    for (let process = 0; process < PROCESSES; process++) scheduled(server.url, begun);
    await realDelay(200);
    expect(begun).toEqual([]);
  } finally {
    server.thaw();
  }
  await until('the burst has begun', () => begun.length >= BURST);
  expect(begun).toHaveLength(BURST);
});

test('they begin by the failure policy when the store has not answered for a second', async () => {
  const begun: number[] = [];
  for (let process = 0; process < PROCESSES; process++) scheduled('redis://127.0.0.1:1', begun);
  await until('each process has begun its burst', () => begun.length >= PROCESSES * BURST);
  expect(begun).toHaveLength(PROCESSES * BURST);
});
