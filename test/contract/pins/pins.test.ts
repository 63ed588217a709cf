import { expect, test } from 'vitest';
import { abovePins } from './pins.ts';

test('one request executes no more lines, calls and returns to files, and makes no more promises, than before', async () => {
  const above = await abovePins({
    'a rate': { lines: 456, calls: 88, returns: 32, promises: 6 },
    'a quota': { lines: 705, calls: 120, returns: 49, promises: 6 },
    'two limits': { lines: 632, calls: 133, returns: 65, promises: 6 },
    'a slot': { lines: 976, calls: 198, returns: 86, promises: 6 },
    'a rate, without HTTP': { lines: 261, calls: 43, returns: 8, promises: 3 },
    'a rate, by a handle': { lines: 232, calls: 34, returns: 5, promises: 2 },
  });
  expect(above).toEqual([]);
});
