import { expect, test } from 'vitest';
import { abovePins } from './pins.ts';

test('one request enters no more functions and files, and makes no more objects, than before', async () => {
  const above = await abovePins({
    'a rate': { calls: 109, files: 36, objects: 47, promises: 6 },
    'a quota': { calls: 141, files: 41, objects: 53, promises: 6 },
    'a slot': { calls: 225, files: 48, objects: 133, promises: 6 },
    'a rate, without HTTP': { calls: 56, files: 28, objects: 11, promises: 3 },
    'a rate, by a handle': { calls: 45, files: 26, objects: 8, promises: 2 },
  });
  expect(above).toEqual([]);
});
