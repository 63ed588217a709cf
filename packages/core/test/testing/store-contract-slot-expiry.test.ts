import { expect, test } from 'vitest';
import type { StoreHold } from '../../src/store/store.ts';
import { brokenPromises, withSlots, type Mistake } from './broken-promises.ts';
import { MapSlots, type HeldSlot, type Hold } from './map-slots.ts';
import { MapStore } from './map-store.ts';

test.each<Mistake>([
  {
    mistake: 'counts what is released',
    Broken: withSlots(
      class extends MapSlots {
        override release(key: string): void {
          this.buckets.set(key, this.heldIn(key).slice(1));
        }
        override hold(key: string, hold: Hold, now: number): void {
          const before = this.heldIn(key);
          super.hold(key, hold, now);
          const added = this.heldIn(key).slice(-hold.count);
          this.buckets.set(key, hold.count === 0 ? before : [...before, ...added]);
        }
      },
    ),
    breaks: 'a released slot is free, and releasing it again frees no other',
  },
  {
    mistake: 'releases all slots of a holder',
    Broken: withSlots(
      class extends MapSlots {
        override release(key: string, hold: Hold): void {
          super.release(key, { ...hold, first: 1, count: Infinity });
        }
      },
    ),
    breaks: 'some slots of a holder are released, by the number of the first and how many',
  },
  {
    mistake: 'releases the slots of a holder in all buckets',
    Broken: withSlots(
      class extends MapSlots {
        override release(_key: string, hold: Hold): void {
          for (const each of this.buckets.keys()) super.release(each, hold);
        }
      },
    ),
    breaks: 'a holder in two buckets holds the slots of each by itself',
  },
  {
    mistake: 'releases only the first of its holds',
    Broken: class extends MapStore {
      override async release(holds: readonly StoreHold[]): Promise<void> {
        return super.release(holds.slice(0, 1));
      }
    },
    breaks: 'one call releases slots of several holders and buckets',
  },
  {
    mistake: 'has one expiry for all slots of a bucket',
    Broken: withSlots(
      class extends MapSlots {
        override hold(key: string, hold: Hold, now: number): void {
          super.hold(key, hold, now);
          const { endTicks } = this.heldIn(key).at(-1) ?? { endTicks: 0 };
          for (const slot of this.heldIn(key)) slot.endTicks = endTicks;
        }
      },
    ),
    breaks: 'slots are free again after their expiry, and those of a longer one are not',
  },
  {
    mistake: 'renews all slots of a bucket',
    Broken: withSlots(
      class extends MapSlots {
        override renew(key: string, hold: Hold, now: number): void {
          super.renew(key, hold, now);
          for (const { holder, number } of this.heldIn(key)) {
            super.renew(key, { ...hold, holder, first: number, count: 1 }, now);
          }
        }
      },
    ),
    breaks: 'renewed slots are held for a new expiry, and only those',
  },
  {
    mistake: 'renews only the first of its holds',
    Broken: class extends MapStore {
      override async renew(holds: readonly StoreHold[]): Promise<void> {
        return super.renew(holds.slice(0, 1));
      }
    },
    breaks: 'one call renews slots of several holders and buckets',
  },
  {
    mistake: 'renews forever',
    Broken: withSlots(
      class extends MapSlots {
        override renew(key: string, hold: Hold, now: number): void {
          super.renew(key, { ...hold, expiryMs: hold.expiryMs * 1000 }, now);
        }
      },
    ),
    breaks: 'renewed slots expire too',
  },
  {
    mistake: 'never shortens an expiry',
    Broken: withSlots(
      class extends MapSlots {
        override renew(key: string, hold: Hold, now: number): void {
          const before = new Map(this.heldIn(key).map((slot) => [slot.number, slot.endTicks]));
          super.renew(key, hold, now);
          for (const slot of this.heldIn(key)) slot.endTicks = Math.max(slot.endTicks, before.get(slot.number) ?? 0);
        }
      },
    ),
    breaks: 'an expiry counts from the last renewal',
  },
  {
    mistake: 'renews only what it has',
    Broken: withSlots(
      class extends MapSlots {
        override renew(key: string, hold: Hold, now: number): void {
          if (this.heldIn(key).length > 0) super.renew(key, hold, now);
        }
      },
    ),
    breaks: 'renew holds slots again that the store has lost',
  },
  {
    mistake: 'renews no slot that has expired',
    Broken: withSlots(
      class extends MapSlots {
        override renew(key: string, hold: Hold, now: number): void {
          const known = this.heldIn(key);
          this.level(key, now);
          if (known.length === this.heldIn(key).length) super.renew(key, hold, now);
        }
      },
    ),
    breaks: 'renew holds slots again that have expired',
  },
  {
    mistake: 'renews only what fits',
    Broken: withSlots(
      class extends MapSlots {
        override renew(key: string, hold: Hold, now: number): void {
          if (this.heldIn(key).length < 3) super.renew(key, hold, now);
        }
      },
    ),
    breaks: 'renew holds slots beyond the limit, and then nothing fits until enough are free',
  },
  {
    mistake: 'lets slots expire a tick late',
    Broken: withSlots(
      class extends MapSlots {
        override isOver({ endTicks }: HeldSlot, now: number): boolean {
          return endTicks < now;
        }
      },
    ),
    breaks: 'slots expire exactly at their end, and not before',
  },
  {
    mistake: 'lets slots expire a millisecond early',
    Broken: withSlots(
      class extends MapSlots {
        override isOver(slot: HeldSlot, now: number): boolean {
          return super.isOver(slot, now + 16_000);
        }
      },
    ),
    breaks: 'slots expire exactly at their end, and not before',
  },
  {
    mistake: 'lets slots expire later when its clock steps back',
    Broken: withSlots(
      class extends MapSlots {
        override cutExpiry(): void {}
      },
    ),
    breaks: 'a clock that steps back by 900 ms frees no slot, and lets none be held for longer than its expiry',
  },
  {
    mistake: 'frees slots when its clock steps back',
    Broken: withSlots(
      class extends MapSlots {
        override isOver(slot: HeldSlot, now: number): boolean {
          return super.isOver(slot, now) || slot.endTicks - slot.expiryTicks > now;
        }
      },
    ),
    breaks: 'a clock that steps back by 86400000 ms frees no slot, and lets none be held for longer than its expiry',
  },
])('the contract finds a store that $mistake', async ({ Broken, breaks }) => {
  expect(await brokenPromises(Broken)).toContain(breaks);
});
