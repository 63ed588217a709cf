import { expect, test } from 'vitest';
import { abovePins } from './pins.ts';

test('one request executes no more lines, calls and returns to files, and makes no more promises, than before', async () => {
  const above = await abovePins({
    'a rate': { lines: 456, calls: 88, returns: 32, promises: 6 },
    'a quota': { lines: 705, calls: 120, returns: 49, promises: 6 },
    'two limits': { lines: 632, calls: 133, returns: 65, promises: 6 },
    'a slot': { lines: 976, calls: 198, returns: 86, promises: 6 },
    'a rate, denied': { lines: 679, calls: 136, returns: 50, promises: 6 },
    'a rate, observed': { lines: 586, calls: 94, returns: 34, promises: 6 },
    'an override': { lines: 569, calls: 91, returns: 33, promises: 6 },
    'eight limits': { lines: 637, calls: 338, returns: 216, promises: 6 },
    'a queue': { lines: 601, calls: 108, returns: 47, promises: 6 },
    borrowing: { lines: 763, calls: 161, returns: 78, promises: 6 },
    'a rate, without HTTP': { lines: 261, calls: 43, returns: 8, promises: 3 },
    'a rate, by a handle': { lines: 232, calls: 34, returns: 5, promises: 2 },
  });
  expect(above).toEqual([]);
});
