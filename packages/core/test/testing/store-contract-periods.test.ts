import { expect, test } from 'vitest';
import { SluiceError } from '../../src/checks/errors.ts';
import { endOfPeriod, type CalendarPeriod } from '../../src/store/calendar-period.ts';
import type { StoreReading, StoreRefund } from '../../src/store/store.ts';
import { brokenPromises, type Mistake } from './broken-promises.ts';
import { MapStore, type Entry } from './map-store.ts';

test.each<Mistake>([
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
])('the contract finds a store that $mistake', async ({ Broken, breaks }) => {
  expect(await brokenPromises(Broken)).toContain(breaks);
});
