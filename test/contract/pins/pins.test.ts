import { expect, test } from 'vitest';
import { abovePins } from './pins.ts';

test('one request executes no more lines, calls and returns to files, and makes no more promises, than before', async () => {
  const above = await abovePins({
    'a rate': { lines: 369, calls: 59, returns: 11, promises: 6 },
    'a quota': { lines: 439, calls: 74, returns: 18, promises: 6 },
    'two limits': { lines: 435, calls: 95, returns: 39, promises: 6 },
    'a slot': { lines: 802, calls: 150, returns: 56, promises: 6 },
    'a rate, denied': { lines: 491, calls: 84, returns: 20, promises: 6 },
    'a rate, observed': { lines: 394, calls: 65, returns: 13, promises: 6 },
    'an override': { lines: 377, calls: 62, returns: 11, promises: 6 },
    'eight limits': { lines: 443, calls: 253, returns: 161, promises: 6 },
    'a queue': { lines: 427, calls: 84, returns: 27, promises: 6 },
    borrowing: { lines: 574, calls: 131, returns: 59, promises: 6 },
    'a rate, without HTTP': { lines: 218, calls: 38, returns: 7, promises: 3 },
    'a rate, by a handle': { lines: 184, calls: 29, returns: 4, promises: 2 },
    'work by run': { lines: 351, calls: 78, returns: 23, promises: 10 },
    'work by a scheduler': { lines: 686, calls: 189, returns: 107, promises: 8 },
  });
  expect(above).toEqual([]);
});
