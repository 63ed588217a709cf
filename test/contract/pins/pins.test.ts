import { expect, test } from 'vitest';
import { abovePins } from './pins.ts';

test('one request executes no more lines, calls and returns to files, and makes no more promises, than before', async () => {
  const above = await abovePins({
    'a rate': { lines: 379, calls: 60, returns: 11, promises: 6 },
    'a quota': { lines: 553, calls: 96, returns: 30, promises: 6 },
    'two limits': { lines: 445, calls: 96, returns: 39, promises: 6 },
    'a slot': { lines: 824, calls: 175, returns: 68, promises: 6 },
    'a rate, denied': { lines: 500, calls: 85, returns: 20, promises: 6 },
    'a rate, observed': { lines: 404, calls: 66, returns: 13, promises: 6 },
    'an override': { lines: 386, calls: 63, returns: 11, promises: 6 },
    'eight limits': { lines: 453, calls: 254, returns: 161, promises: 6 },
    'a queue': { lines: 437, calls: 85, returns: 27, promises: 6 },
    borrowing: { lines: 584, calls: 133, returns: 59, promises: 6 },
    'a rate, without HTTP': { lines: 220, calls: 38, returns: 7, promises: 3 },
    'a rate, by a handle': { lines: 185, calls: 29, returns: 4, promises: 2 },
  });
  expect(above).toEqual([]);
});
