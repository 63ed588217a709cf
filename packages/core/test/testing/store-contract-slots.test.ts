import { expect, test } from 'vitest';
import type { StoreBucket, StoreReading, StoreTransaction } from '../../src/store/store.ts';
import { brokenPromises, withSlots, type Mistake } from './broken-promises.ts';
import { MapSlots } from './map-slots.ts';
import { at, decided, MapStore } from './map-store.ts';

test.each<Mistake>([
  {
    mistake: 'takes slots that do not fit',
    Broken: class extends MapStore {
      override canDeny(one: StoreTransaction): boolean {
        return one.holding === undefined && super.canDeny(one);
      }
      override fits(level: number, one: StoreTransaction): boolean {
        return one.holding !== undefined || super.fits(level, one);
      }
    },
    breaks: 'exactly as many slots as there are can be held at the same time',
  },
  {
    mistake: 'decides about slots, and takes them later',
    Broken: class extends MapStore {
      override async spend(batch: readonly StoreTransaction[]): Promise<StoreReading> {
        const reading = this.read(batch);
        await Promise.resolve();
        const passed = this.passes(batch, reading);
        if (passed) this.takeAll(batch, reading);
        return decided(reading, passed);
      }
    },
    breaks: 'of many calls at the same time exactly as many hold a slot as there are',
  },
  {
    mistake: 'takes slots as if they were ticks',
    Broken: class extends MapStore {
      override level(one: StoreTransaction, now: number): number {
        return super.level({ ...one, slots: undefined }, now);
      }
      override takeAll(batch: readonly StoreTransaction[], reading: StoreReading): void {
        super.takeAll(
          batch.map((one) => ({ ...one, holding: undefined })),
          reading,
        );
      }
    },
    breaks: 'slots do not come back with time',
  },
  {
    mistake: 'takes one slot, whatever the increment is',
    Broken: withSlots(
      class extends MapSlots {
        override taken(transaction: StoreTransaction, level: number): number {
          return Math.min(1, super.taken(transaction, level));
        }
      },
    ),
    breaks: 'a transaction holds as many slots as its increment, or none',
  },
  {
    mistake: 'takes slots up to the cap',
    Broken: class extends MapStore {
      override fits(level: number, one: StoreTransaction): boolean {
        return super.fits(level, one.holding === undefined ? one : { ...one, fitTicks: one.capTicks });
      }
    },
    breaks: 'a transaction with less room leaves slots to the others',
  },
  {
    mistake: 'takes what fits of a spend-only',
    Broken: class extends MapStore {
      override readonly slots = new (class extends MapSlots {
        override taken({ incrementTicks, fitTicks }: StoreTransaction, level: number): number {
          return Math.min(incrementTicks, fitTicks - level);
        }
      })();
      override fits(level: number, one: StoreTransaction): boolean {
        return one.mode === 'spend-only' || super.fits(level, one);
      }
    },
    breaks: 'a spend-only holds slots when they fit, and otherwise none, and denies nothing',
  },
  {
    mistake: 'takes slots for a check-only',
    Broken: class extends MapStore {
      override takeAll(batch: readonly StoreTransaction[], reading: StoreReading): void {
        super.takeAll(
          batch.map((one) => (one.holding === undefined ? one : { ...one, mode: 'check-and-spend' })),
          reading,
        );
      }
    },
    breaks: 'a check-only holds nothing, and denies its batch when it does not fit',
  },
  {
    mistake: 'takes slots in a check',
    Broken: class extends MapStore {
      override async check(batch: readonly StoreTransaction[]): Promise<StoreReading> {
        return batch.some(({ mode, holding }) => mode === 'spend-only' && holding !== undefined)
          ? this.spend(batch)
          : super.check(batch);
      }
    },
    breaks: 'check holds nothing, whatever the modes are',
  },
  {
    mistake: 'takes slots before it decides about rates',
    Broken: class extends MapStore {
      override passes(batch: readonly StoreTransaction[], reading: StoreReading): boolean {
        for (const [index, one] of batch.entries()) {
          const level = at(reading.levelsTicks, index);
          if (one.holding === undefined || !this.fits(level, one)) continue;
          this.slots.take(this.key(one), one, level, reading.nowTicks);
        }
        return super.passes(batch, reading);
      }
    },
    breaks: 'a batch that a rate denies holds no slot',
  },
  {
    mistake: 'takes tokens before it decides about slots',
    Broken: class extends MapStore {
      override passes(batch: readonly StoreTransaction[], reading: StoreReading): boolean {
        if (super.passes(batch, reading)) return true;
        for (const one of batch) {
          if (one.holding === undefined) this.write(one, reading.nowTicks + one.incrementTicks);
        }
        return false;
      }
    },
    breaks: 'a batch that is denied for want of a slot takes no token',
  },
  {
    mistake: 'forgets the tokens of a batch with slots',
    Broken: class extends MapStore {
      override takeAll(batch: readonly StoreTransaction[], reading: StoreReading): void {
        const hasSlots = batch.some(({ holding }) => holding !== undefined);
        const left = batch.map((one) => (hasSlots && one.holding === undefined ? { ...one, incrementTicks: 0 } : one));
        super.takeAll(left, reading);
      }
    },
    breaks: 'a batch that passes takes tokens and holds slots',
  },
  {
    mistake: 'takes the slots of every alternative that it tries',
    Broken: class extends MapStore {
      override async spendFirst(alternatives: readonly (readonly StoreTransaction[])[]) {
        const readings = await super.spendFirst(alternatives);
        for (const batch of alternatives.slice(0, readings.length - 1)) {
          for (const one of batch)
            if (one.holding !== undefined) this.slots.take(this.key(one), one, 0, this.nowTicks());
        }
        return readings;
      }
    },
    breaks: 'the first alternative that passes holds its slots, and no other does',
  },
  {
    mistake: 'resets slots and tokens of a name together',
    Broken: class extends MapStore {
      override async reset(batch: readonly StoreBucket[]): Promise<void> {
        await super.reset(batch);
        await super.reset(batch.map((bucket) => ({ ...bucket, slots: bucket.slots === true ? undefined : true })));
      }
    },
    breaks: 'a bucket of slots and one of tokens are two buckets, whatever their names are',
  },
  {
    mistake: 'resets no slots',
    Broken: withSlots(
      class extends MapSlots {
        override reset(): void {}
      },
    ),
    breaks: 'reset frees all slots of a bucket',
  },
  {
    mistake: 'can renew after close',
    Broken: class extends MapStore {
      override async renew(): Promise<void> {}
    },
    breaks: 'after close renew, of a store with slots, is the error ERR_CLOSED',
  },
])('the contract finds a store that $mistake', async ({ Broken, breaks }) => {
  expect(await brokenPromises(Broken)).toContain(breaks);
});
