import { expect, test } from 'vitest';
import { emptyReading } from '../../../src/store/store.ts';
import { Buckets } from '../../../src/store/memory/buckets.ts';
import { WallClock } from '../../../src/store/memory/store-time.ts';
import { FakeTime } from '../../../src/testing/fake-time.ts';
import { numbersFrom } from './numbers.ts';

// Known randomness, so that the sweep's hand is not by chance where the bucket lies that shall be evicted.
function bucketsOf(maxKeys: number): Buckets {
  const wall = new WallClock(new FakeTime());
  return new Buckets({ maxKeys, secret: new Uint8Array(16), random: numbersFrom(1), wall });
}

test('an evicted bucket counts as evicted while it is in debt, and as swept when it is full again', () => {
  const buckets = bucketsOf(5);
  const batch = Array.from({ length: 10 }, (_, i) => ({
    limit: 'A',
    id: `${i}`,
    incrementTicks: 1,
    toleranceTicks: 99,
  }));
  buckets.read(batch, 0, emptyReading(batch.length));
  for (const place of batch.keys()) buckets.setLevel(place, 0, place < 3 ? 10 : 50);
  buckets.trim(20);
  expect(buckets.stats()).toMatchObject({ size: 5, swept: 3, evicted: 2 });
});
