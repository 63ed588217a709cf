import type { StoreHold, StoreTransaction } from '../../src/store/store.ts';
import { levelAfter } from '../../src/store/transaction-rule.ts';
import { TICKS_PER_MS } from '../../src/rule/ticks.ts';

/** A slot that is held. */
export interface HeldSlot {
  readonly holder: string;
  readonly number: number;
  readonly expiryTicks: number;
  endTicks: number;
}

/** Slots of one holder. */
export type Hold = Pick<StoreHold, 'holder' | 'expiryMs' | 'first' | 'count'>;

/** The slots of a store as plain as can be, by the keys of buckets; its parts can be broken one at a time. */
export class MapSlots {
  readonly buckets = new Map<string, readonly HeldSlot[]>();

  level(key: string, now: number): number {
    const held = this.heldIn(key).filter((slot) => !this.isOver(slot, now));
    for (const slot of held) this.cutExpiry(slot, now);
    this.buckets.set(key, held);
    return held.length;
  }

  take(key: string, transaction: StoreTransaction, level: number, now: number): void {
    const { holder, expiryMs } = transaction.holding!;
    this.hold(key, { holder, expiryMs, first: 1, count: this.taken(transaction, level) }, now);
  }

  taken(transaction: StoreTransaction, level: number): number {
    return levelAfter(transaction, level) - level;
  }

  renew(key: string, hold: Hold, now: number): void {
    this.hold(key, hold, now);
  }

  release(key: string, { holder, first, count }: Hold): void {
    const isFreed = (slot: HeldSlot): boolean =>
      slot.holder === holder && slot.number >= first && slot.number < first + count;
    this.buckets.set(
      key,
      this.heldIn(key).filter((slot) => !isFreed(slot)),
    );
  }

  reset(key: string): void {
    this.buckets.delete(key);
  }

  hold(key: string, hold: Hold, now: number): void {
    this.release(key, hold);
    const { holder, expiryMs, first, count } = hold;
    const expiryTicks = expiryMs * TICKS_PER_MS;
    const added = Array.from({ length: count }, (_, index) => {
      return { holder, number: first + index, expiryTicks, endTicks: now + expiryTicks };
    });
    this.buckets.set(key, [...this.heldIn(key), ...added]);
  }

  isOver({ endTicks }: HeldSlot, now: number): boolean {
    return endTicks <= now;
  }

  /** A slot that expires later than it can was written before the clock stepped back. */
  cutExpiry(slot: HeldSlot, now: number): void {
    slot.endTicks = Math.min(slot.endTicks, now + slot.expiryTicks);
  }

  heldIn(key: string): readonly HeldSlot[] {
    return this.buckets.get(key) ?? [];
  }
}
