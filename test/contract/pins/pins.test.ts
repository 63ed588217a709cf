import { expect, test } from 'vitest';
import { abovePins } from './pins.ts';

test('one request executes no more lines, calls and returns to files, and makes no more promises, than before', async () => {
  const above = await abovePins({
    'a rate': { lines: 528, calls: 102, returns: 44, promises: 6 },
    'a quota': { lines: 781, calls: 134, returns: 63, promises: 6 },
    'two limits': { lines: 783, calls: 194, returns: 103, promises: 6 },
    'a slot': { lines: 1101, calls: 218, returns: 103, promises: 6 },
    'a rate, without HTTP': { lines: 320, calls: 53, returns: 14, promises: 3 },
    'a rate, by a handle': { lines: 291, calls: 44, returns: 10, promises: 2 },
  });
  expect(above).toEqual([]);
});
