import { expect, test } from 'vitest';
import { redisServer } from '../../redis/servers/redis-server.ts';
import { abovePins } from './pins.ts';

test('one request on Redis enters no more functions and files, and makes no more promises, than before', async () => {
  const { url } = await redisServer();
  // Mostly 221 calls and 92 to 99 objects: it depends on when the answer comes.
  const above = await abovePins({ 'a rate on Redis': { calls: 225, files: 56, objects: 106, promises: 11 } }, url);
  expect(above).toEqual([]);
});
