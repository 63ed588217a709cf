import { expect, test } from 'vitest';
import { redisServer } from '../../redis/servers/redis-server.ts';
import { abovePins } from './pins.ts';

test('one request on Redis enters no more functions and files, and makes no more promises, than before', async () => {
  const { url } = await redisServer();
  // Mostly 242 calls and 153 objects: it depends a little on when the answer comes.
  const above = await abovePins({ 'a rate on Redis': { calls: 246, files: 57, objects: 161, promises: 12 } }, url);
  expect(above).toEqual([]);
});
