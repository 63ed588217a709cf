import { expect, test } from 'vitest';
import { abovePins } from './pins.ts';

test('one request enters no more functions and files, and makes no more objects, than before', async () => {
  const above = await abovePins({
    'a rate': { calls: 158, files: 42, objects: 89, promises: 6 },
    'a quota': { calls: 182, files: 46, objects: 143, promises: 6 },
    'a slot': { calls: 258, files: 53, objects: 171, promises: 6 },
    'a rate, without HTTP': { calls: 84, files: 33, objects: 36, promises: 2 },
  });
  expect(above).toEqual([]);
});
