import { expect, test } from 'vitest';
import { syncScript } from '../../packages/redis/src/leases/sync-script.ts';
import { differenceInScenes, syncChecks } from '../leases/sync-checks.ts';
import { SceneCounts } from '../leases/sync-comparison.ts';
import { redisServer } from '../redis/servers/redis-server.ts';
import { RUNS } from './runs.ts';

const server = await redisServer();

test('Redis applies syncs as their model and their definition in exact integers do, beside processes without leases', async () => {
  const counts = new SceneCounts();
  expect(await differenceInScenes(server, syncScript.source, counts, {})).toBeUndefined();
  // Every kind of scene occurred.
  for (const [name, count] of Object.entries(counts)) expect([name, count > RUNS / 20]).toEqual([name, true]);
}, 600_000);

test.each(Object.entries(syncChecks).slice(1))('the script %s', async (_, check) => {
  expect(await check(server, syncScript.source)).toBeUndefined();
});
