import { expect, test } from 'vitest';
import { redisServer } from '../../redis/servers/redis-server.ts';
import { abovePins } from './pins.ts';

test('one request on Redis enters no more functions and files, and makes no more promises, than before', async () => {
  const { url } = await redisServer();
  const above = await abovePins({ 'a rate on Redis': { calls: 252, files: 57, objects: 179, promises: 17 } }, url);
  expect(above).toEqual([]);
});
