import { expect, test } from 'vitest';
import { abovePins } from './pins.ts';

test('one request enters no more functions and files, and makes no more objects, than before', async () => {
  const above = await abovePins({
    'a rate': { calls: 111, files: 36, objects: 49, promises: 6 },
    'a quota': { calls: 142, files: 41, objects: 55, promises: 6 },
    'a slot': { calls: 226, files: 48, objects: 133, promises: 6 },
    'a rate, without HTTP': { calls: 57, files: 28, objects: 13, promises: 3 },
    'a rate, by a handle': { calls: 53, files: 28, objects: 10, promises: 2 },
  });
  expect(above).toEqual([]);
});
