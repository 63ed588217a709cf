import { expect, test } from 'vitest';
import { SluiceError } from '../../src/checks/errors.ts';
import { endOfPeriod, type CalendarPeriod } from '../../src/store/calendar-period.ts';
import type { StoreBucket, StoreReading, StoreRefund, StoreTransaction } from '../../src/store/store.ts';
import { brokenPromises, type Mistake } from './broken-promises.ts';
import { MapStore, type Entry } from './map-store.ts';

type Alternatives = readonly (readonly StoreTransaction[])[];

test.each<Mistake>([
  {
    mistake: 'keeps one bucket for all calendars',
    Broken: class extends MapStore {
      override key({ limit, id }: StoreBucket): string {
        return super.key({ limit, id });
      }
    },
    breaks: 'another calendar is another bucket, for every call',
  },
  {
    mistake: 'resets all calendars of an id at once',
    Broken: class extends MapStore {
      override async reset(batch: readonly StoreBucket[]): Promise<void> {
        await super.reset(batch.flatMap((bucket) => [bucket, { ...bucket, calendar: undefined }]));
      }
    },
    breaks: 'the reset of a bucket with a calendar leaves the rate of the same limit and id unchanged',
  },
  {
    mistake: 'counts to the end of the period that the caller is in',
    Broken: class extends MapStore {
      override endOf(period: CalendarPeriod, wallMs: number): number {
        super.endOf(period, wallMs);
        return period[1];
      }
    },
    breaks: 'all tokens are there again when the next period runs',
  },
  {
    mistake: 'lets the end of a period move with its clock',
    Broken: class extends MapStore {
      override endOf(period: CalendarPeriod, wallMs: number): number {
        super.endOf(period, wallMs);
        return wallMs + 1000;
      }
    },
    breaks: 'the clock of a bucket with a period is the end of it, always the same',
  },
  {
    mistake: 'takes the periods of a caller as they are',
    Broken: class extends MapStore {
      override endOf(period: CalendarPeriod, wallMs: number): number {
        return endOfPeriod(period, wallMs) ?? period[1];
      }
    },
    breaks: 'spend with a stale period is the error ERR_STORE_PERIOD, and changes nothing',
  },
  {
    mistake: 'rejects a stale period with an error of its own',
    Broken: class extends MapStore {
      override endOf(period: CalendarPeriod, wallMs: number): number {
        const end = endOfPeriod(period, wallMs);
        if (end === undefined) throw new SluiceError('ERR_STORE_BUCKET', 'The period is over.');
        return end;
      }
    },
    breaks: 'check with a stale period is the error ERR_STORE_PERIOD, and changes nothing',
  },
  {
    mistake: 'refunds up to the bucket with a stale period',
    Broken: class extends MapStore {
      override async refund(batch: readonly StoreRefund[]): Promise<StoreReading> {
        if (batch.length > 1) await super.refund(batch.slice(0, 1));
        return super.refund(batch);
      }
    },
    breaks: 'refund with a stale period is the error ERR_STORE_PERIOD, and changes nothing',
  },
  {
    mistake: 'does not return its wall time',
    Broken: class extends MapStore {
      override read(batch: readonly Entry[]): StoreReading {
        const { nowTicks, levelsTicks, bucketNowTicks } = super.read(batch);
        return { nowTicks, levelsTicks, bucketNowTicks: bucketNowTicks! };
      }
    },
    breaks: 'the clock of a bucket with a period is the end of it, always the same',
  },
  {
    mistake: 'changes a bucket of the next period',
    Broken: class extends MapStore {
      override isAhead(): boolean {
        return false;
      }
    },
    breaks: 'a bucket that was used in the next period is empty when the clock steps back, and does not change',
  },
  {
    mistake: 'takes a bucket of the next period for an error of the clock',
    Broken: class extends MapStore {
      override lengthOf(one: Entry): number {
        return super.lengthOf(one) / 2;
      }
    },
    breaks: 'a bucket that was used in the next period is empty when the clock steps back, and does not change',
  },
  {
    mistake: 'takes more than half a day for the next one',
    Broken: class extends MapStore {
      override isAhead(one: Entry, level: number): boolean {
        return one.period !== undefined && level > this.lengthOf(one) / 2;
      }
    },
    breaks: 'all tokens of a day count exactly, though the next day has 23 hours',
  },
  {
    mistake: 'takes a day that was used up for an error of the clock',
    Broken: class extends MapStore {
      override lengthOf(one: Entry): number {
        return super.lengthOf(one) * (1.5 / 1.75);
      }
    },
    breaks: 'a day that was used up is empty, and does not change, when the clock steps back into one of 23 hours',
  },
  {
    mistake: 'counts the tokens of a period in 32 bits',
    Broken: class extends MapStore {
      override write(bucket: StoreBucket, tat: number, now: number): void {
        super.write(bucket, now + ((tat - now) % 2 ** 32), now);
      }
    },
    breaks: 'a trillion tokens of a month count exactly, and reach into no other period',
  },
  {
    mistake: 'takes any error of the clock for the next period',
    Broken: class extends MapStore {
      override lengthOf(one: Entry): number {
        return super.lengthOf(one) * 100_000;
      }
    },
    breaks: 'a bucket that was used while the clock was far ahead keeps its count, and is full in the next period',
  },
  {
    mistake: 'forgets a count at the end of its period',
    Broken: class extends MapStore {
      override read(batch: readonly Entry[]): StoreReading {
        const reading = super.read(batch);
        const end = reading.bucketNowTicks!.find((_, index) => batch[index]?.period !== undefined);
        for (const [key, tat] of this.tats) if (end !== undefined && tat <= end) this.tats.delete(key);
        return reading;
      }
    },
    breaks: 'a clock that steps back over the end of a period for some seconds loses no count',
  },
  {
    mistake: 'lets a period end a millisecond late',
    Broken: class extends MapStore {
      override endOf(period: CalendarPeriod, wallMs: number): number {
        return super.endOf(period, wallMs === period[1] ? wallMs - 1 : wallMs);
      }
    },
    breaks: 'the next period begins exactly at the end of the one before',
  },
  {
    mistake: 'lets a period end a millisecond early',
    Broken: class extends MapStore {
      override endOf(period: CalendarPeriod, wallMs: number): number {
        return super.endOf(period, wallMs === period[1] - 1 ? wallMs + 1 : wallMs);
      }
    },
    breaks: 'the next period begins exactly at the end of the one before',
  },
  {
    mistake: 'has one period for a batch',
    Broken: class extends MapStore {
      override read(batch: readonly Entry[]): StoreReading {
        const period = batch.find((one) => one.period !== undefined)?.period;
        return super.read(batch.map((one) => (one.period === undefined ? one : { ...one, period })));
      }
    },
    breaks: 'each bucket of a batch has a period of its own',
  },
  {
    mistake: 'counts in seconds',
    Broken: class extends MapStore {
      override endOf(period: CalendarPeriod, wallMs: number): number {
        return Math.floor(super.endOf(period, wallMs) / 1000);
      }
    },
    breaks: 'each bucket of a batch has a period of its own',
  },
  {
    mistake: 'returns the ends of the first alternative for all',
    Broken: class extends MapStore {
      override async spendFirst(alternatives: Alternatives): Promise<readonly StoreReading[]> {
        const readings = await super.spendFirst(alternatives);
        const [first] = readings;
        return readings.map(({ passed, nowTicks, levelsTicks }) => {
          const { bucketNowTicks = [], bucketWallMs = [] } = first ?? {};
          return { passed, nowTicks, levelsTicks, bucketNowTicks, bucketWallMs };
        });
      }
    },
    breaks: 'each alternative has the ends of its own periods',
  },
  {
    mistake: 'chooses the periods of alternatives that it does not try',
    Broken: class extends MapStore {
      override async spendFirst(alternatives: Alternatives): Promise<readonly StoreReading[]> {
        for (const batch of alternatives) this.read(batch);
        return super.spendFirst(alternatives);
      }
    },
    breaks: 'only an alternative that is tried can be stale',
  },
  {
    mistake: 'takes an alternative after a stale one',
    Broken: class extends MapStore {
      override async spendFirst(alternatives: Alternatives): Promise<readonly StoreReading[]> {
        try {
          return await super.spendFirst(alternatives);
        } catch (error) {
          await this.spend(alternatives.at(-1)!);
          throw error;
        }
      }
    },
    breaks: 'only an alternative that is tried can be stale',
  },
])('the contract finds a store that $mistake', async ({ Broken, breaks }) => {
  expect(await brokenPromises(Broken)).toContain(breaks);
});
