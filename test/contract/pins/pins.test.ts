import { expect, test } from 'vitest';
import { abovePins } from './pins.ts';

test('one request enters no more functions and files, and makes no more objects, than before', async () => {
  const above = await abovePins({
    'a rate': { calls: 142, files: 40, objects: 87, promises: 6 },
    'a quota': { calls: 167, files: 45, objects: 141, promises: 6 },
    'a slot': { calls: 250, files: 51, objects: 169, promises: 6 },
    'a rate, without HTTP': { calls: 72, files: 31, objects: 38, promises: 3 },
    'a rate, by a handle': { calls: 69, files: 31, objects: 35, promises: 2 },
  });
  expect(above).toEqual([]);
});
