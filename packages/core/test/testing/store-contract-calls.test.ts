import { expect, test } from 'vitest';
import { SluiceError } from '../../src/checks/errors.ts';
import type {
  BucketName,
  StoreCap,
  StoreCharge,
  StoreReading,
  StoreRefund,
  StoreTransaction,
} from '../../src/store/store.ts';
import { brokenPromises, type Mistake } from './broken-promises.ts';
import { checked, decided, MapStore } from './map-store.ts';

test.each<Mistake>([
  {
    mistake: 'lets a charge cut a debt',
    Broken: class extends MapStore {
      override async charge(batch: readonly StoreCharge[]): Promise<StoreReading> {
        return this.change(batch, (one, level) => Math.min(level + one.incrementTicks, one.capTicks));
      }
    },
    breaks: 'a charge does not cut the debt that a larger burst left',
  },
  {
    mistake: 'empties every bucket that it caps',
    Broken: class extends MapStore {
      override async cap(batch: readonly StoreCap[]): Promise<StoreReading> {
        return this.change(batch, (one) => one.capTicks);
      }
    },
    breaks: 'cap changes no debt below that of an empty bucket, and nothing when it comes again',
  },
  {
    mistake: 'caps nothing',
    Broken: class extends MapStore {
      override async cap(batch: readonly StoreCap[]): Promise<StoreReading> {
        return this.read(batch);
      }
    },
    breaks: 'cap cuts a debt to that of an empty bucket',
  },
  {
    mistake: 'charges past an empty bucket',
    Broken: class extends MapStore {
      override async charge(batch: readonly StoreCharge[]): Promise<StoreReading> {
        return this.change(batch, (one, level) => level + one.incrementTicks);
      }
    },
    breaks: 'a charge that does not fit empties the bucket, and no more',
  },
  {
    mistake: 'charges only what fits',
    Broken: class extends MapStore {
      override async charge(batch: readonly StoreCharge[]): Promise<StoreReading> {
        return this.change(batch, (one, level) =>
          level + one.incrementTicks <= one.capTicks ? level + one.incrementTicks : level,
        );
      }
    },
    breaks: 'a charge that does not fit empties the bucket, and no more',
  },
  {
    mistake: 'charges only up to what fits',
    Broken: class extends MapStore {
      override charged(level: number, one: StoreTransaction): number {
        return super.charged(level, { ...one, capTicks: one.fitTicks });
      }
    },
    breaks: 'a charge in a batch takes up to its cap, also above what fits',
  },
  {
    mistake: 'denies a batch by its charge',
    Broken: class extends MapStore {
      override canDeny(one: StoreTransaction): boolean {
        return one.mode !== 'spend-only';
      }
    },
    breaks: 'a charge in a batch takes whether it fits or not, and never denies',
  },
  {
    mistake: 'charges although the batch is denied',
    Broken: class extends MapStore {
      override async spend(batch: readonly StoreTransaction[]): Promise<StoreReading> {
        const reading = this.read(batch);
        const taken = this.passes(batch, reading) ? batch : batch.filter(({ mode }) => mode === 'charge');
        this.takeAll(taken, { ...reading, levelsTicks: this.read(taken).levelsTicks });
        return reading;
      }
    },
    breaks: 'a charge in a batch that is denied takes nothing',
  },
  {
    mistake: 'refunds past full',
    Broken: class extends MapStore {
      override async refund(batch: readonly StoreRefund[]): Promise<StoreReading> {
        return this.change(batch, (one, level) => level - one.incrementTicks);
      }
    },
    breaks: 'a refund never fills a bucket past full',
  },
  {
    mistake: 'refunds a decision however late',
    Broken: class extends MapStore {
      override refundable({ incrementTicks }: StoreRefund): number {
        return incrementTicks;
      }
    },
    breaks: 'a late refund of a decision gives back only what has not come back by itself',
  },
  {
    mistake: 'refuses late refunds altogether',
    Broken: class extends MapStore {
      override refundable(one: StoreRefund, now: number): number {
        const { incrementTicks, tatAfterSpendTicks = Infinity } = one;
        return tatAfterSpendTicks - now < incrementTicks ? 0 : incrementTicks;
      }
    },
    breaks: 'a late refund of a decision gives back only what has not come back by itself',
  },
  {
    mistake: 'refunds a decision in the middle of a queue',
    Broken: class extends MapStore {
      override isOvertaken(): boolean {
        return false;
      }
    },
    breaks: 'in a queue, only the last decision is refunded',
  },
  {
    mistake: 'does not refund a named bucket while requests wait in a queue',
    Broken: class extends MapStore {
      override isOvertaken(one: StoreRefund, level: number, now: number): boolean {
        return super.isOvertaken({ ...one, tatAfterSpendTicks: one.tatAfterSpendTicks ?? Infinity }, level, now);
      }
    },
    breaks: 'a named bucket is refunded also while requests wait in a queue',
  },
  {
    mistake: 'refunds a decision before its turn from a bucket that was reset',
    Broken: class extends MapStore {
      override isOvertaken(one: StoreRefund, level: number, now: number): boolean {
        return level > (one.lineTicks ?? Infinity) && super.isOvertaken(one, level, now);
      }
    },
    breaks: 'a refund before the turn of the decision gives nothing if the bucket was reset since',
  },
  {
    mistake: 'does not refund an earlier decision, although there is no queue',
    Broken: class extends MapStore {
      override isOvertaken(one: StoreRefund, level: number, now: number): boolean {
        return super.isOvertaken({ ...one, lineTicks: one.lineTicks === undefined ? undefined : 0 }, level, now);
      }
    },
    breaks: 'a decision is refunded when no request waits, whatever came later',
  },
  {
    mistake: 'resets every bucket of the limit',
    Broken: class extends MapStore {
      override async reset(batch: readonly BucketName[]): Promise<void> {
        if (batch.length > 0) this.tats.clear();
      }
    },
    breaks: 'a reset bucket is full, and no other is',
  },
  {
    mistake: 'joins limit and id',
    Broken: class extends MapStore {
      override key({ limit, id }: BucketName): string {
        return limit + id;
      }
    },
    breaks: 'limit and id are told apart wherever one ends and the other begins',
  },
  {
    mistake: 'reads ids as patterns of escapes',
    Broken: class extends MapStore {
      override key({ limit, id }: BucketName): string {
        return JSON.stringify([limit, id.replaceAll('%3A', ':')]);
      }
    },
    breaks: 'ids of any text have buckets of their own',
  },
  {
    mistake: 'cuts long ids',
    Broken: class extends MapStore {
      override key({ limit, id }: BucketName): string {
        return JSON.stringify([limit, id.slice(0, 255)]);
      }
    },
    breaks: 'ids of any text have buckets of their own',
  },
  {
    mistake: 'normalizes ids',
    Broken: class extends MapStore {
      override key({ limit, id }: BucketName): string {
        return JSON.stringify([limit, id.normalize('NFC')]);
      }
    },
    breaks: 'ids of any text have buckets of their own',
  },
  {
    mistake: 'waits between reading and writing',
    Broken: class extends MapStore {
      override async spend(batch: readonly StoreTransaction[]): Promise<StoreReading> {
        const reading = this.read(batch);
        await Promise.resolve();
        const passed = this.passes(batch, reading);
        if (passed) this.takeAll(batch, reading);
        return decided(reading, passed);
      }
    },
    breaks: 'of many calls at the same time exactly burst are taken',
  },
  {
    mistake: 'answers at once in one call and later in the others',
    Broken: class extends MapStore {
      override check(batch: readonly StoreTransaction[]): Promise<StoreReading> {
        return checked(batch, this.read(batch)) as unknown as Promise<StoreReading>;
      }
    },
    breaks: 'a store answers always at once, or always by a promise',
  },
  {
    mistake: 'has a clock that stands still',
    Broken: class extends MapStore {
      override nowTicks(): number {
        return 5;
      }
    },
    breaks: "a store's clock goes on, in whole ticks",
  },
  {
    mistake: 'goes on after it was closed',
    Broken: class extends MapStore {
      override demandOpen(): void {}
    },
    breaks: 'after close reset is the error ERR_CLOSED',
  },
  {
    mistake: 'is ready only when it has been asked',
    Broken: class extends MapStore {
      async ready(): Promise<void> {
        if (this.tats.size === 0) throw new SluiceError('ERR_STORE_UNAVAILABLE', 'not yet');
      }
    },
    breaks: 'ready, of a store that has it, resolves when the store can answer',
  },
  {
    mistake: 'is ready after it was closed',
    Broken: class extends MapStore {
      async ready(): Promise<void> {}
    },
    breaks: 'after close ready, of a store that has it, is the error ERR_CLOSED',
  },
  {
    mistake: 'can be closed only once',
    Broken: class extends MapStore {
      override async close(): Promise<void> {
        if (this.closed) throw new Error('closed already');
        this.closed = true;
      }
    },
    breaks: 'closing again does nothing',
  },
])('the contract finds a store that $mistake', async ({ Broken, breaks }) => {
  expect(await brokenPromises(Broken)).toContain(breaks);
});
