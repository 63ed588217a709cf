import { expect, test } from 'vitest';
import { abovePins } from './pins.ts';

test('one request executes no more lines, calls and returns to files, and makes no more promises, than before', async () => {
  const above = await abovePins({
    'a rate': { lines: 510, calls: 95, returns: 39, promises: 6 },
    'a quota': { lines: 760, calls: 127, returns: 57, promises: 6 },
    'two limits': { lines: 755, calls: 172, returns: 94, promises: 6 },
    'a slot': { lines: 1023, calls: 201, returns: 92, promises: 6 },
    'a rate, without HTTP': { lines: 317, calls: 52, returns: 12, promises: 3 },
    'a rate, by a handle': { lines: 288, calls: 43, returns: 9, promises: 2 },
  });
  expect(above).toEqual([]);
});
