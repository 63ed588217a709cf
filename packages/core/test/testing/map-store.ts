import { storeGuard } from '../../src/failure/store-guard.ts';
import type { Time } from '../../src/time/time.ts';
import { SluiceError } from '../../src/checks/errors.ts';
import { charged, fits, levelOf, refundable, refunded } from '../../src/rule/gcra.ts';
import {
  nowTicksAt,
  type Store,
  type StoreBucket,
  type StoreCap,
  type StoreCharge,
  type StoreHold,
  type StoreReading,
  type StoreRefund,
  type StoreTraits,
  type StoreTransaction,
  type StoreOperation,
} from '../../src/store/store.ts';
import { andThen } from '../../src/async/awaitable.ts';
import { joinedReading, readUntilPassed } from '../../src/store/alternatives.ts';
import { passes } from '../../src/store/transaction-rule.ts';
import { endOfPeriod, StalePeriodError, type CalendarPeriod } from '../../src/store/calendar-period.ts';
import { TICKS_PER_MICRO } from '../../src/rule/ticks.ts';
import { MapSlots } from './map-slots.ts';

/** One entry of a batch. */
export type Entry = StoreBucket & Pick<StoreRefund, 'period'>;

/** The unit of the ends of periods. */
const UNITS_PER_MS = 2048;

/** A store as plain as can be, that answers by promises; its parts can be broken one at a time. */
export class MapStore implements Store {
  readonly guard: object | undefined = storeGuard;
  readonly traits: StoreTraits = { periods: true, slots: true };
  readonly tats = new Map<string, number>();
  /** The level of each bucket when it was written: a higher one means that the clock stepped back since. */
  readonly written = new Map<string, number>();
  readonly slots = new MapSlots();
  readonly time: Time;
  closed = false;

  constructor(time: Time) {
    this.time = time;
  }

  run(operation: StoreOperation): Promise<StoreReading> {
    switch (operation.kind) {
      case 'spend':
        return this.spendAny(operation.alternatives);
      case 'check':
        return this.checkAny(operation.alternatives);
      case 'charge':
        return this.charge(operation.batch);
      case 'refund':
        return this.refund(operation.batch);
      case 'cap':
        return this.cap(operation.batch);
      case 'renew':
        return this.renew(operation.batch).then(() => this.clock());
      case 'release':
        return this.release(operation.batch).then(() => this.clock());
      case 'reset':
        return this.reset(operation.batch).then(() => this.clock());
      default:
        throw new Error('unknown operation');
    }
  }

  spendAny(alternatives: readonly (readonly StoreTransaction[])[]): Promise<StoreReading> {
    if (alternatives.length === 1) return this.spend(alternatives.flat());
    return andThen(this.spendFirst(alternatives), joinedReading) as Promise<StoreReading>;
  }

  checkAny(alternatives: readonly (readonly StoreTransaction[])[]): Promise<StoreReading> {
    return alternatives.length === 1 ? this.check(alternatives.flat()) : this.checkFirst(alternatives);
  }

  async checkFirst(alternatives: readonly (readonly StoreTransaction[])[]): Promise<StoreReading> {
    return joinedReading(readUntilPassed(alternatives, (batch) => checked(batch, this.read(batch))));
  }

  clock(): StoreReading {
    return { nowTicks: this.nowTicks(), levelsTicks: [] };
  }

  async spend(batch: readonly StoreTransaction[]): Promise<StoreReading> {
    const reading = this.read(batch);
    const passed = this.passes(batch, reading);
    if (passed) this.takeAll(batch, reading);
    return decided(reading, passed);
  }

  async spendFirst(alternatives: readonly (readonly StoreTransaction[])[]): Promise<readonly StoreReading[]> {
    const readings: StoreReading[] = [];
    for (const batch of alternatives) {
      const reading = this.read(batch);
      const passed = this.passes(batch, reading);
      readings.push(decided(reading, passed));
      if (!passed) continue;
      this.takeAll(batch, reading);
      break;
    }
    return readings;
  }

  async check(batch: readonly StoreTransaction[]): Promise<StoreReading> {
    return checked(batch, this.read(batch));
  }

  async charge(batch: readonly StoreCharge[]): Promise<StoreReading> {
    return this.change(batch, (one, level) => charged(level, one.incrementTicks, one.capTicks));
  }

  async refund(batch: readonly StoreRefund[]): Promise<StoreReading> {
    return this.change(batch, (one, level, now) =>
      this.isOvertaken(one, level, now) ? level : refunded(level, this.refundable(one, now)),
    );
  }

  async cap(batch: readonly StoreCap[]): Promise<StoreReading> {
    return this.change(batch, (one, level) => Math.min(level, one.capTicks));
  }

  async renew(holds: readonly StoreHold[]): Promise<void> {
    this.demandOpen();
    for (const hold of holds) this.slots.renew(this.key(hold), hold, this.nowTicks());
  }

  async release(holds: readonly StoreHold[]): Promise<void> {
    this.demandOpen();
    for (const hold of holds) this.slots.release(this.key(hold), hold);
  }

  async reset(batch: readonly StoreBucket[]): Promise<void> {
    this.demandOpen();
    for (const bucket of batch) {
      if (bucket.slots === true) this.slots.reset(this.key(bucket));
      else this.tats.delete(this.key(bucket));
    }
  }

  async close(): Promise<void> {
    this.closed = true;
  }

  key({ limit, id, calendar }: StoreBucket): string {
    return JSON.stringify([limit, id, calendar]);
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

  takeAll(batch: readonly StoreTransaction[], reading: StoreReading): void {
    for (const [place, one] of batch.entries()) {
      const level = at(reading.levelsTicks, place);
      const now = nowTicksAt(reading, place);
      if (one.incrementTicks === 0) continue;
      if (one.holding !== undefined) this.slots.take(this.key(one), one, level, now);
      else if (one.mode === 'charge') this.write(one, now + this.charged(level, one), now);
      else if (one.mode !== 'check-only' && this.fits(level, one))
        this.write(one, now + level + one.incrementTicks, now);
    }
  }

  charged(level: number, { incrementTicks, capTicks }: StoreTransaction): number {
    return charged(level, incrementTicks, capTicks);
  }

  refundable({ incrementTicks, tatAfterSpendTicks = Infinity }: StoreRefund, now: number): number {
    return refundable(incrementTicks, tatAfterSpendTicks, now);
  }

  /** Whether requests that came later wait in the queue, or the bucket was reset before the turn of the decision. */
  isOvertaken({ lineTicks = Infinity, tatAfterSpendTicks }: StoreRefund, level: number, now: number): boolean {
    if (tatAfterSpendTicks === undefined) return false;
    const ahead = tatAfterSpendTicks - now;
    return Math.max(level, ahead) > lineTicks && level !== ahead;
  }

  heal(bucket: StoreBucket, tat: number, now: number): void {
    this.write(bucket, tat, now);
  }

  write(bucket: StoreBucket, tat: number, now = this.nowTicks()): void {
    this.tats.set(this.key(bucket), tat);
    this.written.set(this.key(bucket), tat - now);
  }

  read(batch: readonly Entry[]): StoreReading {
    this.demandOpen();
    const nowTicks = this.nowTicks();
    const wallMs = this.time.wallNow();
    const bucketNowTicks = batch.map(({ period }) => (period ? this.endOf(period, wallMs) * UNITS_PER_MS : nowTicks));
    const levelsTicks = batch.map((one, place) => this.level(one, at(bucketNowTicks, place)));
    const bucketWallMs = batch.map(({ period }) => (period ? wallMs : undefined));
    return { nowTicks, levelsTicks, bucketNowTicks, bucketWallMs };
  }

  endOf(period: CalendarPeriod, wallMs: number): number {
    const end = endOfPeriod(period, wallMs);
    if (end === undefined) throw new StalePeriodError(period, wallMs);
    return end;
  }

  level(one: Entry, now: number): number {
    if (one.slots === true) return this.slots.level(this.key(one), now);
    const level = levelOf(this.tats.get(this.key(one)) ?? -Infinity, now);
    const written = this.written.get(this.key(one)) ?? Infinity;
    if (level <= Math.max(written, 1.75 * this.lengthOf(one))) return level;
    this.heal(one, now + written, now);
    return written;
  }

  /** The length of the next period of a bucket; 0 if it has none. */
  lengthOf({ period }: Entry): number {
    return period === undefined ? 0 : (period[2] - period[1]) * UNITS_PER_MS;
  }

  /** Whether a bucket was written in the period after the one that runs. */
  isAhead(one: Entry, level: number): boolean {
    return one.period !== undefined && level > 0.75 * this.lengthOf(one);
  }

  change<T extends Entry>(
    batch: readonly T[],
    levelAfter: (one: T, level: number, now: number) => number,
  ): StoreReading {
    const reading = this.read(batch);
    const levelsTicks = batch.map((one, place) => {
      const level = at(reading.levelsTicks, place);
      return this.isAhead(one, level) ? level : levelAfter(one, level, nowTicksAt(reading, place));
    });
    for (const [place, one] of batch.entries()) {
      const now = nowTicksAt(reading, place);
      const level = at(levelsTicks, place);
      if (level !== at(reading.levelsTicks, place)) this.write(one, now + level, now);
    }
    return { ...reading, levelsTicks };
  }

  demandOpen(): void {
    if (this.closed) throw new SluiceError('ERR_CLOSED', 'This store was closed.');
  }
}

/** A reading with its verdict. */
export function decided(reading: StoreReading, passed: boolean): StoreReading {
  return { ...reading, passed: passed ? 0 : -1 };
}

/** A reading with the verdict of its levels. */
export function checked(batch: readonly StoreTransaction[], reading: StoreReading): StoreReading {
  return decided(reading, passes(batch, reading.levelsTicks));
}

/** The level at a place of a batch. */
export function at(levelsTicks: readonly number[], place: number): number {
  return levelsTicks[place] ?? NaN;
}
