import { expect, test } from 'vitest';
import { abovePins } from './pins.ts';

test('one request enters no more functions and files, and makes no more objects, than before', async () => {
  const above = await abovePins({
    'a rate': { calls: 157, files: 42, objects: 87, promises: 6 },
    'a quota': { calls: 181, files: 46, objects: 141, promises: 6 },
    'a slot': { calls: 257, files: 53, objects: 169, promises: 6 },
    'a rate, without HTTP': { calls: 84, files: 33, objects: 36, promises: 2 },
  });
  expect(above).toEqual([]);
});
