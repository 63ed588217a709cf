import { expect, test } from 'vitest';
import type { BucketName, ReadingToFill, StoreCharge, StoreReading, StoreTransaction } from '../../src/store/store.ts';
import { brokenPromises, type Mistake } from './broken-promises.ts';
import { at, MapStore } from './map-store.ts';

test.each<Mistake>([
  {
    mistake: 'takes although it says that the batch is denied',
    Broken: class extends MapStore {
      take(batch: readonly StoreTransaction[], reading: ReadingToFill): void {
        const read = this.read(batch);
        reading.nowTicks = read.nowTicks;
        reading.levelsTicks.splice(0, batch.length, ...read.levelsTicks);
        this.takeAll(batch, read);
        reading.passed = this.passes(batch, read) ? 0 : -1;
      }
    },
    breaks: 'take, of a store that has it, decides and takes a batch as a spend does',
  },
  {
    mistake: 'takes from some buckets of a denied batch',
    Broken: class extends MapStore {
      override passes(batch: readonly StoreTransaction[], reading: StoreReading): boolean {
        this.takeAll(batch.slice(0, -1), reading);
        return super.passes(batch, reading);
      }
    },
    breaks: 'a batch of three that number 3 denies takes from none of its buckets',
  },
  {
    mistake: 'takes spend-only of a denied batch',
    Broken: class extends MapStore {
      override passes(batch: readonly StoreTransaction[], reading: StoreReading): boolean {
        const passes = super.passes(batch, reading);
        const rest = batch.map(
          (one) => ({ ...one, mode: one.mode === 'spend-only' ? one.mode : 'check-only' }) as const,
        );
        if (!passes) this.takeAll(rest, reading);
        return passes;
      }
    },
    breaks: 'a spend-only in a denied batch is not taken',
  },
  {
    mistake: 'lets spend-only deny',
    Broken: class extends MapStore {
      override passes(batch: readonly StoreTransaction[], { levelsTicks }: StoreReading): boolean {
        return batch.every((one, place) => this.fits(at(levelsTicks, place), one));
      }
    },
    breaks: 'a spend-only that does not fit is not taken at all, and denies nothing',
  },
  {
    mistake: 'lets check-only deny nothing',
    Broken: class extends MapStore {
      override passes(batch: readonly StoreTransaction[], { levelsTicks }: StoreReading): boolean {
        return batch.every((one, place) => one.mode !== 'check-and-spend' || this.fits(at(levelsTicks, place), one));
      }
    },
    breaks: 'a check-only that does not fit denies its batch',
  },
  {
    mistake: 'takes check-only',
    Broken: class extends MapStore {
      override takeAll(batch: readonly StoreTransaction[], reading: StoreReading): void {
        super.takeAll(
          batch.map((one) => ({ ...one, mode: 'check-and-spend' })),
          reading,
        );
      }
    },
    breaks: 'a check-only takes nothing',
  },
  {
    mistake: 'takes spend-only in check',
    Broken: class extends MapStore {
      override async check(batch: readonly StoreTransaction[]): Promise<StoreReading> {
        return this.spend(batch.map((one) => (one.mode === 'spend-only' ? one : { ...one, mode: 'check-only' })));
      }
    },
    breaks: 'check takes nothing, whatever the modes say',
  },
  {
    mistake: 'moves the TAT of a denied request',
    Broken: class extends MapStore {
      override passes(batch: readonly StoreTransaction[], reading: StoreReading): boolean {
        if (super.passes(batch, reading)) return true;
        for (const [place, one] of batch.entries())
          this.write(one, reading.nowTicks + at(reading.levelsTicks, place) + 1);
        return false;
      }
    },
    breaks: 'a denied request does not move the TAT',
  },
  {
    mistake: 'gives the levels after taking',
    Broken: class extends MapStore {
      override async spend(batch: readonly StoreTransaction[]): Promise<StoreReading> {
        const { passed } = await super.spend(batch);
        return { ...this.read(batch), passed };
      }
    },
    breaks: 'spend gives the level before it took, and the next call the level after',
  },
  {
    mistake: 'rounds levels to milliseconds',
    Broken: class extends MapStore {
      override write(bucket: BucketName, tat: number): void {
        super.write(bucket, Math.round(tat / 16_000) * 16_000);
      }
    },
    breaks: 'a bucket that takes ten years to fill is exact to the tick',
  },
  {
    mistake: 'admits one tick too early',
    Broken: class extends MapStore {
      override fits(level: number, one: StoreTransaction): boolean {
        return level + one.incrementTicks <= one.fitTicks + 16;
      }
    },
    breaks: 'a denied cost fits when its wait is over, and not a microsecond sooner',
  },
  {
    mistake: 'refuses the last token',
    Broken: class extends MapStore {
      override fits(level: number, one: StoreTransaction): boolean {
        return level + one.incrementTicks < one.fitTicks;
      }
    },
    breaks: 'exactly seven of seven per second fit at one instant',
  },
  {
    mistake: 'forgets a bucket 25 ms too soon',
    Broken: class extends MapStore {
      override read(batch: readonly StoreCharge[]): StoreReading {
        for (const [key, tat] of this.tats) if (tat < this.nowTicks() + 25 * 16_000) this.tats.delete(key);
        return super.read(batch);
      }
    },
    breaks: 'a denied cost fits when its wait is over, and not a microsecond sooner',
  },
  {
    mistake: 'forgets its buckets when the clock steps back',
    Broken: class extends MapStore {
      last = 0;
      override nowTicks(): number {
        const now = super.nowTicks();
        if (now < this.last) this.tats.clear();
        this.last = now;
        return now;
      }
    },
    breaks: 'a clock that steps back grants nothing',
  },
  {
    mistake: 'cuts each debt to the tolerance at hand',
    Broken: class extends MapStore {
      override read(batch: readonly StoreTransaction[]): StoreReading {
        const { nowTicks, levelsTicks } = super.read(batch);
        for (const [place, one] of batch.entries()) {
          if (at(levelsTicks, place) > one.capTicks) this.write(one, nowTicks + one.capTicks);
        }
        return super.read(batch);
      }
    },
    breaks: 'two bursts used in turn let through no more than the larger one',
  },
  {
    mistake: 'never heals after its clock stepped back',
    Broken: class extends MapStore {
      override heal(): void {}
    },
    breaks: 'a clock that ran ahead and came back locks nobody out for longer than an empty bucket',
  },
  {
    mistake: 'lets an increment fit up to an empty bucket, whatever the room of the request',
    Broken: class extends MapStore {
      override fits(level: number, one: StoreTransaction): boolean {
        return super.fits(level, { ...one, fitTicks: one.capTicks });
      }
    },
    breaks: 'a transaction with less room fits less, and leaves the rest to the others',
  },
])('the contract finds a store that $mistake', async ({ Broken, breaks }) => {
  expect(await brokenPromises(Broken)).toContain(breaks);
});
