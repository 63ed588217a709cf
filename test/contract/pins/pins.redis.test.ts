import { expect, test } from 'vitest';
import { redisServer } from '../../redis/servers/redis-server.ts';
import { abovePins } from './pins.ts';

test('one request on Redis enters no more functions and files, and makes no more promises, than before', async () => {
  const { url } = await redisServer();
  // Mostly 220 calls and 101 objects: it depends a little on when the answer comes.
  const above = await abovePins({ 'a rate on Redis': { calls: 224, files: 54, objects: 106, promises: 11 } }, url);
  expect(above).toEqual([]);
});
