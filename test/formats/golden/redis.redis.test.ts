import { redisStore } from '@sluice/redis';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { redisServer } from '../../redis/servers/redis-server.ts';
import { BLOCKS_TEXT, USED, useAndMakeAgain } from './blocks.ts';
import { countsIn, FOUND, LOOK } from './buckets.mjs';
import { sampleValue } from './sample.ts';

/** In the score of a slot, a millisecond. */
const EXPIRIES = 4096;

type Value = { readonly key: string } & ({ readonly value: string } | { readonly members: readonly string[] });

test('keys and values of the version before are read, and written on', async () => {
  const { madeSeconds, values } = sampleValue('redis.json') as { madeSeconds: number; values: readonly Value[] };
  const server = await redisServer();
  const redis = new Redis(server.url);
  const [seconds] = await redis.time();
  const passed = (Number(seconds) - madeSeconds) * 1000 * EXPIRIES;
  for (const each of values) {
    // Slots would have expired since: they are held from now on.
    const scores =
      'members' in each ? pairsOf(each.members).map(([name, score]) => [Number(score) + passed, name]) : [];
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await ('value' in each ? redis.set(each.key, each.value) : redis.zadd(each.key, ...scores.flat()));
  }
  const store = redisStore({ url: server.url, log: false });
  await store.ready();
  expect(countsIn(await store.run(LOOK))).toEqual(FOUND);
  const slots = { limit: 'Slots', id: 'a', slots: true } as const;
  await expect(store.holders([slots])).resolves.toEqual([expect.arrayContaining(['h1', 'h2'])]);
  expect((await redis.keys('*')).toSorted()).toEqual(values.map(({ key }) => key));
  await store.close();
  await redis.quit();
});

test('blocks of the version before are read, and written on', async () => {
  const server = await redisServer();
  const redis = new Redis(server.url);
  const [key, revision] = ['sluice::{blocks}', 'sluice::{blocks}:revision'];
  await redis.mset(key, BLOCKS_TEXT, revision, BLOCKS_TEXT.slice(0, 16));
  const store = redisStore({ url: server.url, log: false });
  await store.ready();
  const used = await useAndMakeAgain(store.blocks!, async () => ({
    text: (await redis.get(key))!,
    revision: await redis.get(revision),
  }));
  expect(used).toEqual(USED);
  await store.close();
  await redis.quit();
});

function pairsOf(list: readonly string[]): readonly (readonly [string, string])[] {
  return list.flatMap((each, i) => (i % 2 === 0 ? [[each, list[i + 1]!] as const] : []));
}
