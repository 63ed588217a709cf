import { describe, expect, test, vi } from 'vitest';
import type { Time } from '../../src/time/time.ts';
import { SluiceError } from '../../src/checks/errors.ts';
import type {
  BucketName,
  StoreCap,
  StoreCharge,
  StoreReading,
  StoreRefund,
  StoreReport,
  StoreTransaction,
} from '../../src/store/store.ts';
import { FakeTime, storeContract, type StoreContractOptions } from '../../src/testing/index.ts';
import { endOfPeriod, type CalendarPeriod } from '../../src/store/calendar-period.ts';
import { at, MapStore, type Entry } from './map-store.ts';

type MakeStore = new (time: Time) => MapStore;

function contractOf(Broken: MakeStore): ReturnType<typeof storeContract> {
  return storeContract({
    clock: 'steered',
    create: () => {
      const time = new FakeTime();
      return {
        store: new Broken(time),
        advance: (ms) => time.advance(ms),
        stepBack: (ms) => time.set(time.nowMs - ms),
      };
    },
  });
}

async function brokenPromises(Broken: MakeStore): Promise<string[]> {
  const broken: string[] = [];
  for (const { name, run } of contractOf(Broken)) {
    try {
      await run();
    } catch {
      broken.push(name);
    }
  }
  return broken;
}

type Alternatives = readonly (readonly StoreTransaction[])[];

interface Mistake {
  readonly mistake: string;
  readonly Broken: MakeStore;
  readonly breaks: string;
}

const mistakes: readonly Mistake[] = [
  {
    mistake: 'takes from some buckets of a denied batch',
    Broken: class extends MapStore {
      override passes(batch: readonly StoreTransaction[], reading: StoreReading): boolean {
        this.take(batch.slice(0, -1), reading);
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
        if (!passes) this.take(rest, reading);
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
      override take(batch: readonly StoreTransaction[], reading: StoreReading): void {
        super.take(
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
        await super.spend(batch);
        return this.read(batch);
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
    mistake: 'lets a charge cut a debt',
    Broken: class extends MapStore {
      override async charge(batch: readonly StoreCharge[]): Promise<StoreReading> {
        return this.change(batch, (one, level) => Math.min(level + one.incrementTicks, one.capTicks));
      }
    },
    breaks: 'a charge does not cut the debt that a larger burst left',
  },
  {
    mistake: 'never heals after its clock stepped back',
    Broken: class extends MapStore {
      override heal(): void {}
    },
    breaks: 'a clock that ran ahead and came back locks nobody out for longer than an empty bucket',
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
    mistake: 'lets an increment fit up to an empty bucket, whatever the room of the request',
    Broken: class extends MapStore {
      override fits(level: number, one: StoreTransaction): boolean {
        return super.fits(level, { ...one, fitTicks: one.capTicks });
      }
    },
    breaks: 'a transaction with less room fits less, and leaves the rest to the others',
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
        this.take(taken, { ...reading, levelsTicks: this.read(taken).levelsTicks });
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
        if (this.passes(batch, reading)) this.take(batch, reading);
        return reading;
      }
    },
    breaks: 'of many calls at the same time exactly burst are taken',
  },
  {
    mistake: 'answers at once in one call and later in the others',
    Broken: class extends MapStore {
      override check(batch: readonly StoreTransaction[]): Promise<StoreReading> {
        return this.read(batch) as unknown as Promise<StoreReading>;
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
    mistake: 'takes from two alternatives',
    Broken: class extends MapStore {
      override async spendFirst(alternatives: Alternatives): Promise<readonly StoreReading[]> {
        const readings = await super.spendFirst(alternatives);
        const next = alternatives[readings.length];
        if (next !== undefined) await this.spend(next);
        return readings;
      }
    },
    breaks: 'the first alternative that passes is taken, and no other is tried',
  },
  {
    mistake: 'reports the alternatives that it tried in another order',
    Broken: class extends MapStore {
      override async spendFirst(alternatives: Alternatives): Promise<readonly StoreReading[]> {
        return (await super.spendFirst(alternatives)).toReversed();
      }
    },
    breaks: 'the next alternative is tried when one is denied, until one passes',
  },
  {
    mistake: 'takes a later alternative although an earlier one passes',
    Broken: class extends MapStore {
      override async spendFirst(alternatives: Alternatives): Promise<readonly StoreReading[]> {
        return super.spendFirst(alternatives.toReversed());
      }
    },
    breaks: 'the first alternative that passes is taken, and no other is tried',
  },
  {
    mistake: 'reports only the alternative that passed',
    Broken: class extends MapStore {
      override async spendFirst(alternatives: Alternatives): Promise<readonly StoreReading[]> {
        return (await super.spendFirst(alternatives)).slice(-1);
      }
    },
    breaks: 'the next alternative is tried when one is denied, until one passes',
  },
  {
    mistake: 'reads the alternatives after the one that passed',
    Broken: class extends MapStore {
      override async spendFirst(alternatives: Alternatives): Promise<readonly StoreReading[]> {
        const readings = await super.spendFirst(alternatives);
        return [...readings, ...alternatives.slice(readings.length).map((batch) => this.read(batch))];
      }
    },
    breaks: 'the first alternative that passes is taken, and no other is tried',
  },
  {
    mistake: 'keeps what it took for a denied alternative',
    Broken: class extends MapStore {
      override async spendFirst(alternatives: Alternatives): Promise<readonly StoreReading[]> {
        const readings = await super.spendFirst(alternatives);
        for (const [index, reading] of readings.slice(0, -1).entries()) {
          this.take(alternatives.at(index)!.slice(0, 1), reading);
        }
        return readings;
      }
    },
    breaks: 'a denied alternative takes nothing, in whatever mode',
  },
  {
    mistake: 'charges the pool of a denied alternative',
    Broken: class extends MapStore {
      override async spendFirst(alternatives: Alternatives): Promise<readonly StoreReading[]> {
        const readings = await super.spendFirst(alternatives);
        const charges = alternatives.at(0)!.filter(({ mode }) => mode === 'charge');
        if (readings.length > 1) await this.spend(charges);
        return readings;
      }
    },
    breaks: 'an alternative charges a bucket up to its cap, also above what fits',
  },
  {
    mistake: 'takes the last alternative though it is denied',
    Broken: class extends MapStore {
      override async spendFirst(alternatives: Alternatives): Promise<readonly StoreReading[]> {
        const readings = await super.spendFirst(alternatives);
        if (readings.length === alternatives.length) this.take(alternatives.at(-1)!, readings.at(-1)!);
        return readings;
      }
    },
    breaks: 'nothing is taken when all alternatives are denied',
  },
  {
    mistake: 'lets an alternative without transactions deny',
    Broken: class extends MapStore {
      override async spendFirst(alternatives: Alternatives): Promise<readonly StoreReading[]> {
        return super.spendFirst(alternatives.filter(({ length }) => length > 0));
      }
    },
    breaks: 'an alternative without transactions passes',
  },
  {
    mistake: 'answers alternatives at once, and a spend by a promise',
    Broken: class extends MapStore {
      override spendFirst(alternatives: Alternatives): Promise<readonly StoreReading[]> {
        return alternatives.map((batch) => this.read(batch)) as unknown as Promise<readonly StoreReading[]>;
      }
    },
    breaks: 'alternatives are answered at once or by a promise, as a spend is',
  },
  {
    mistake: 'spends alternatives after it was closed',
    Broken: class extends MapStore {
      override async spendFirst(alternatives: Alternatives): Promise<readonly StoreReading[]> {
        return this.closed ? [] : super.spendFirst(alternatives);
      }
    },
    breaks: 'after close spendFirst, of a store that has it, is the error ERR_CLOSED',
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
];

describe('the contract of stores', () => {
  test('is kept by a plain map that answers by promises', async () => {
    expect(await brokenPromises(MapStore)).toEqual([]);
  });

  test.each(['cap', 'spendFirst'])('is kept by a store that leaves out the optional call %s', async (call) => {
    class Without extends MapStore {
      constructor(time: Time) {
        super(time);
        Object.assign(this, { [call]: undefined });
      }
    }
    expect(await brokenPromises(Without)).toEqual([]);
  });

  test.each(mistakes)('finds a store that $mistake', async ({ Broken, breaks }) => {
    expect(await brokenPromises(Broken)).toContain(breaks);
  });

  describe('tests the trait keepsDeadline', () => {
    /** A store on a server that can stop answering. */
    class KeepsDeadline extends MapStore {
      override readonly traits = { keepsDeadline: true } as const;
      isHanging = false;

      miss(_deadlineMs: number): Promise<never> {
        return Promise.reject(new SluiceError('ERR_STORE_DEADLINE', 'No answer in time.'));
      }
    }
    for (const call of ['spend', 'spendFirst', 'check', 'charge', 'refund', 'reset'] as const) {
      const answer = MapStore.prototype[call] as (this: MapStore, batch: unknown) => Promise<unknown>;
      Object.defineProperty(KeepsDeadline.prototype, call, {
        value(this: KeepsDeadline, batch: unknown, deadlineMs: number) {
          return this.isHanging ? this.miss(deadlineMs) : answer.call(this, batch);
        },
      });
    }

    function deadlineCase(Store: typeof KeepsDeadline, canHang = true) {
      const cases = storeContract({
        clock: 'real',
        create: () => {
          const store = new Store(new FakeTime());
          const hang = async (run: () => Promise<void>) => ((store.isHanging = true), run());
          return canHang ? { store, advance: () => {}, hang } : { store, advance: () => {} };
        },
      });
      return cases.find(({ name }) => name.includes('keeps the deadline'))!.run();
    }

    test('which a store keeps that rejects when nothing answers', async () => {
      await expect(deadlineCase(KeepsDeadline)).resolves.toBeUndefined();
    });

    test('which a store breaks that rejects with another error', async () => {
      class Wrong extends KeepsDeadline {
        override miss(): Promise<never> {
          return Promise.reject(new SluiceError('ERR_STORE_UNAVAILABLE', 'Gone.'));
        }
      }
      await expect(deadlineCase(Wrong)).rejects.toThrow('ERR_STORE_UNAVAILABLE');
    });

    test('which a store breaks that waits', async () => {
      vi.useFakeTimers({ toFake: ['setTimeout'] });
      class Waits extends KeepsDeadline {
        override miss(): Promise<never> {
          return new Promise(() => {});
        }
      }
      const error = deadlineCase(Waits).catch((thrown: unknown) => thrown);
      await vi.advanceTimersByTimeAsync(2000);
      vi.useRealTimers();
      expect(String(await error)).toContain('did not settle within 2000 ms');
    });

    test('and asks for a way to make the store hang', async () => {
      await expect(deadlineCase(KeepsDeadline, false)).rejects.toThrow('give `hang`');
    });
  });

  describe('tests the method watch', () => {
    /** A store that reports when it is told to. */
    class Reports extends MapStore {
      listeners: ((report: StoreReport) => void)[] = [];

      watch(listener: (report: StoreReport) => void): () => void {
        this.demandOpen();
        this.listeners = [...this.listeners, listener];
        return () => void (this.listeners = this.listeners.filter((other) => other !== listener));
      }

      report(): void {
        for (const listener of this.listeners) listener({ type: 'up' });
      }
    }

    async function brokenWatches(Watched: typeof Reports, canReport = true): Promise<string[]> {
      const cases = storeContract({
        clock: 'real',
        create() {
          const store = new Watched(new FakeTime());
          return { store, advance: () => {}, ...(canReport && { provokeReport: () => store.report() }) };
        },
      }).filter(({ name }) => name.includes('watch'));
      const outcomes = await Promise.allSettled(cases.map(({ run }) => run()));
      return outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [String(outcome.reason)] : []));
    }

    test('which a store keeps that reports to its listeners, also one that does so inside watch', async () => {
      expect(await brokenWatches(Reports)).toEqual([]);
      class AtOnce extends Reports {
        override watch(listener: (report: StoreReport) => void): () => void {
          const end = super.watch(listener);
          listener({ type: 'down', cause: new Error('gone') });
          return end;
        }
      }
      expect(await brokenWatches(AtOnce)).toEqual([]);
    });

    test.each<{ mistake: string; Broken: typeof Reports; message: string }>([
      {
        mistake: 'reports nothing',
        Broken: class extends Reports {
          override report(): void {}
        },
        message: 'got no report',
      },
      {
        mistake: 'reports something unknown',
        Broken: class extends Reports {
          override report(): void {
            for (const listener of this.listeners) listener({ type: 'gone' } as unknown as StoreReport);
          }
        },
        message: 'did not match',
      },
      {
        mistake: 'removes no listener',
        Broken: class extends Reports {
          override watch(listener: (report: StoreReport) => void): () => void {
            super.watch(listener);
            return () => {};
          }
        },
        message: 'the removed listener got a report',
      },
      {
        mistake: 'removes all listeners',
        Broken: class extends Reports {
          override watch(listener: (report: StoreReport) => void): () => void {
            super.watch(listener);
            return () => void (this.listeners = []);
          }
        },
        message: 'the other listener got no report',
      },
      {
        mistake: 'removes another listener when it is told so again',
        Broken: class extends Reports {
          override watch(listener: (report: StoreReport) => void): () => void {
            super.watch(listener);
            return () => void this.listeners.shift();
          }
        },
        message: 'the other listener got no report',
      },
      {
        mistake: 'skips a listener when another one removes itself',
        Broken: class extends Reports {
          override watch(listener: (report: StoreReport) => void): () => void {
            super.watch(listener);
            return () => {
              const index = this.listeners.indexOf(listener);
              if (index >= 0) this.listeners.splice(index, 1);
            };
          }
        },
        message: 'the other listener must get all reports',
      },
      {
        mistake: 'can be watched after close',
        Broken: class extends Reports {
          override demandOpen(): void {}
        },
        message: 'Missing expected exception',
      },
    ])('and finds a store that $mistake', async ({ Broken, message }) => {
      expect((await brokenWatches(Broken)).join('\n')).toContain(message);
    });

    test('and asks for a way to provoke a report', async () => {
      expect((await brokenWatches(Reports, false)).join('\n')).toContain('give `provokeReport`');
    });
  });

  test('has a name of its own for every case', () => {
    const names = contractOf(MapStore).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  test('calls the methods of its subject on the subject', async () => {
    class Subject {
      readonly time = new FakeTime();
      readonly store = new MapStore(this.time);
      advance(ms: number): void {
        this.time.advance(ms);
      }
      stepBack(ms: number): void {
        this.time.set(this.time.nowMs - ms);
      }
    }
    const cases = storeContract({ clock: 'steered', create: () => new Subject() });
    await expect(Promise.all(cases.map(({ run }) => run()))).resolves.toHaveLength(cases.length);
  });

  test('closes every store, also of a case that fails', async () => {
    const made: MapStore[] = [];
    const cases = storeContract({
      clock: 'steered',
      create: () => {
        const store = new MapStore(new FakeTime());
        store.fits = () => false;
        made.push(store);
        return { store, advance: () => {}, stepBack: () => {} };
      },
    });
    await Promise.allSettled(cases.map(({ run }) => run()));
    expect(made).toHaveLength(cases.length);
    expect(made.every(({ closed }) => closed)).toBe(true);
  });

  test('leaves out what a clock that goes on by itself can not show', () => {
    const real = storeContract({
      clock: 'real',
      create: () => ({ store: new MapStore(new FakeTime()), advance: () => {} }),
    }).map(({ name }) => name);
    const steered = contractOf(MapStore).map(({ name }) => name);
    const left = steered.filter((name) => !real.includes(name));
    expect(left).toContain('exactly seven of seven per second fit at one instant');
    expect(left).toHaveLength(10);
  });

  const create = (): number => 0;

  test.each([
    [{ clock: 'steered' }, 'ERR_OPTION', /^`create` must be a function, but was undefined\. It makes a fresh store/],
    [{ create }, 'ERR_OPTION', /^`clock` must be 'steered' or 'real', but was undefined\. Use 'steered' if/],
    [{ clock: 'steered', create, store: 1 }, 'ERR_UNKNOWN_OPTION', /has no option `store`/],
    [create, 'ERR_OPTION', /^`storeContract` must be an object/],
  ])('refuses the options %j', (options, code, message) => {
    const wrong = options as unknown as StoreContractOptions;
    expect(() => storeContract(wrong)).toThrow(message);
    expect(() => storeContract(wrong)).toThrow(expect.objectContaining({ code }));
  });
});
