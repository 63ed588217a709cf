import { expect, test } from 'vitest';
import { redisServer } from '../../redis/servers/redis-server.ts';
import { abovePins } from './pins.ts';

test('one request on Redis executes no more lines, calls and returns to files, and makes no more promises, than before', async () => {
  const { url } = await redisServer();
  // A few more than mostly: it depends on when the answer comes.
  const pins = {
    'a rate on Redis': { lines: 1010, calls: 225, returns: 105, promises: 11 },
    'two limits on Redis': { lines: 1350, calls: 302, returns: 153, promises: 11 },
  };
  expect(await abovePins(pins, url)).toEqual([]);
});
