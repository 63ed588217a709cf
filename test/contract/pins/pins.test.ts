import { expect, test } from 'vitest';
import { abovePins } from './pins.ts';

test('one request enters no more functions and files, and makes no more objects, than before', async () => {
  const above = await abovePins({
    'a rate': { calls: 168, files: 46, objects: 99, promises: 2 },
    'a quota': { calls: 192, files: 50, objects: 160, promises: 2 },
    'a slot': { calls: 264, files: 55, objects: 185, promises: 2 },
    'a rate, without HTTP': { calls: 88, files: 34, objects: 41, promises: 2 },
  });
  expect(above).toEqual([]);
});
