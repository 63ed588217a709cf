import { expect, test } from 'vitest';
import { abovePins } from './pins.ts';

test('one request executes no more lines, calls and returns to files, and makes no more promises, than before', async () => {
  const above = await abovePins({
    'a rate': { lines: 511, calls: 95, returns: 39, promises: 6 },
    'a quota': { lines: 761, calls: 127, returns: 57, promises: 6 },
    'two limits': { lines: 757, calls: 172, returns: 94, promises: 6 },
    'a slot': { lines: 1029, calls: 204, returns: 93, promises: 6 },
    'a rate, without HTTP': { lines: 318, calls: 52, returns: 12, promises: 3 },
    'a rate, by a handle': { lines: 289, calls: 43, returns: 9, promises: 2 },
  });
  expect(above).toEqual([]);
});
