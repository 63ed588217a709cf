import { expect, test } from 'vitest';
import { abovePins } from './pins.ts';

test('one request enters no more functions and files, and makes no more objects, than before', async () => {
  const above = await abovePins({
    'a rate': { calls: 102, files: 36, objects: 43, promises: 6 },
    'a quota': { calls: 134, files: 41, objects: 53, promises: 6 },
    'a slot': { calls: 219, files: 48, objects: 127, promises: 6 },
    'a rate, without HTTP': { calls: 53, files: 28, objects: 10, promises: 3 },
    'a rate, by a handle': { calls: 44, files: 26, objects: 8, promises: 2 },
  });
  expect(above).toEqual([]);
});
