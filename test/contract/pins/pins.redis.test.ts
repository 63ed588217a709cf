import { expect, test } from 'vitest';
import { redisServer } from '../../redis/servers/redis-server.ts';
import { abovePins } from './pins.ts';

test('one request on Redis makes no more calls, returns to files and promises than before', async () => {
  const { url } = await redisServer();
  // A few more than mostly: it depends on when the answer comes. So do the lines, by a quarter: they are not pinned.
  const pins = {
    'a rate on Redis': { calls: 168, returns: 63, promises: 11 },
    'two limits on Redis': { calls: 191, returns: 77, promises: 11 },
  };
  expect(await abovePins(pins, url)).toEqual([]);
});
