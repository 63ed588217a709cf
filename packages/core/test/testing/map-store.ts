import type { Time } from '../../src/time/time.ts';
import { SluiceError } from '../../src/checks/errors.ts';
import { charged, fits, levelOf, refundable, refunded } from '../../src/rule/gcra.ts';
import type {
  BucketName,
  Store,
  StoreCap,
  StoreCharge,
  StoreReading,
  StoreRefund,
  StoreTransaction,
} from '../../src/store/store.ts';
import { TICKS_PER_MICRO } from '../../src/rule/ticks.ts';

/** A store as plain as can be, that answers by promises; its parts can be broken one at a time. */
export class MapStore implements Store {
  readonly tats = new Map<string, number>();
  /** The level of each bucket when it was written: a higher one means that the clock stepped back since. */
  readonly written = new Map<string, number>();
  readonly time: Time;
  closed = false;

  constructor(time: Time) {
    this.time = time;
  }

  async spend(batch: readonly StoreTransaction[]): Promise<StoreReading> {
    const reading = this.read(batch);
    if (this.passes(batch, reading)) this.take(batch, reading);
    return reading;
  }

  async spendFirst(alternatives: readonly (readonly StoreTransaction[])[]): Promise<readonly StoreReading[]> {
    const readings: StoreReading[] = [];
    for (const batch of alternatives) {
      const reading = this.read(batch);
      readings.push(reading);
      if (!this.passes(batch, reading)) continue;
      this.take(batch, reading);
      break;
    }
    return readings;
  }

  async check(batch: readonly StoreTransaction[]): Promise<StoreReading> {
    return this.read(batch);
  }

  async charge(batch: readonly StoreCharge[]): Promise<StoreReading> {
    return this.change(batch, (one, level) => charged(level, one.incrementTicks, one.capTicks));
  }

  async refund(batch: readonly StoreRefund[]): Promise<StoreReading> {
    return this.change(batch, (one, level, now) => refunded(level, this.refundable(one, now)));
  }

  async cap(batch: readonly StoreCap[]): Promise<StoreReading> {
    return this.change(batch, (one, level) => Math.min(level, one.capTicks));
  }

  async reset(batch: readonly BucketName[]): Promise<void> {
    this.demandOpen();
    for (const bucket of batch) this.tats.delete(this.key(bucket));
  }

  async close(): Promise<void> {
    this.closed = true;
  }

  key({ limit, id }: BucketName): string {
    return JSON.stringify([limit, id]);
  }

  nowTicks(): number {
    return this.time.nowMicros() * TICKS_PER_MICRO;
  }

  fits(level: number, { incrementTicks, fitTicks }: StoreTransaction): boolean {
    return fits(level, incrementTicks, fitTicks);
  }

  canDeny({ mode }: StoreTransaction): boolean {
    return mode === 'check-and-spend' || mode === 'check-only';
  }

  passes(batch: readonly StoreTransaction[], { levelsTicks }: StoreReading): boolean {
    return batch.every((one, place) => !this.canDeny(one) || this.fits(at(levelsTicks, place), one));
  }

  take(batch: readonly StoreTransaction[], { nowTicks, levelsTicks }: StoreReading): void {
    for (const [place, one] of batch.entries()) {
      const level = at(levelsTicks, place);
      if (one.mode === 'charge') this.write(one, nowTicks + this.charged(level, one));
      else if (one.mode !== 'check-only' && this.fits(level, one))
        this.write(one, nowTicks + level + one.incrementTicks);
    }
  }

  charged(level: number, { incrementTicks, capTicks }: StoreTransaction): number {
    return charged(level, incrementTicks, capTicks);
  }

  refundable({ incrementTicks, tatAfterSpendTicks = Infinity }: StoreRefund, now: number): number {
    return refundable(incrementTicks, tatAfterSpendTicks, now);
  }

  heal(bucket: BucketName, tat: number): void {
    this.write(bucket, tat);
  }

  write(bucket: BucketName, tat: number): void {
    this.tats.set(this.key(bucket), tat);
    this.written.set(this.key(bucket), tat - this.nowTicks());
  }

  read(batch: readonly BucketName[]): StoreReading {
    this.demandOpen();
    const nowTicks = this.nowTicks();
    const levelsTicks = batch.map((one) => {
      const level = levelOf(this.tats.get(this.key(one)) ?? -Infinity, nowTicks);
      const written = this.written.get(this.key(one)) ?? Infinity;
      if (level > written) this.heal(one, nowTicks + written);
      return Math.min(level, written);
    });
    return { nowTicks, levelsTicks };
  }

  change<T extends BucketName>(
    batch: readonly T[],
    levelAfter: (one: T, level: number, now: number) => number,
  ): StoreReading {
    const { nowTicks, levelsTicks: before } = this.read(batch);
    const levelsTicks = batch.map((one, place) => levelAfter(one, at(before, place), nowTicks));
    for (const [place, one] of batch.entries()) this.write(one, nowTicks + at(levelsTicks, place));
    return { nowTicks, levelsTicks };
  }

  demandOpen(): void {
    if (this.closed) throw new SluiceError('ERR_CLOSED', 'This store was closed.');
  }
}

/** The level at a place of a batch. */
export function at(levelsTicks: readonly number[], place: number): number {
  return levelsTicks[place] ?? NaN;
}
