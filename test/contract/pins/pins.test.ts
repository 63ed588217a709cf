import { expect, test } from 'vitest';
import { abovePins } from './pins.ts';

test('one request executes no more lines, calls and returns to files, and makes no more promises, than before', async () => {
  const above = await abovePins({
    'a rate': { lines: 511, calls: 96, returns: 40, promises: 6 },
    'a quota': { lines: 763, calls: 128, returns: 58, promises: 6 },
    'two limits': { lines: 759, calls: 174, returns: 99, promises: 6 },
    'a slot': { lines: 1079, calls: 211, returns: 100, promises: 6 },
    'a rate, without HTTP': { lines: 318, calls: 53, returns: 14, promises: 3 },
    'a rate, by a handle': { lines: 289, calls: 44, returns: 10, promises: 2 },
  });
  expect(above).toEqual([]);
});
