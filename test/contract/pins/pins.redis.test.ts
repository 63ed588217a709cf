import { expect, test } from 'vitest';
import { redisServer } from '../../redis/servers/redis-server.ts';
import { abovePins } from './pins.ts';

test('one request on Redis enters no more functions and files, and makes no more promises, than before', async () => {
  const { url } = await redisServer();
  const above = await abovePins({ 'a rate on Redis': { calls: 246, files: 56, objects: 155, promises: 12 } }, url);
  expect(above).toEqual([]);
});
