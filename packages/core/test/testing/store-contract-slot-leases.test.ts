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
    mistake: 'has one lease for all slots of a bucket',
    Broken: withSlots(
      class extends MapSlots {
        override hold(key: string, hold: Hold, now: number): void {
          super.hold(key, hold, now);
          const { endTicks } = this.heldIn(key).at(-1) ?? { endTicks: 0 };
          for (const slot of this.heldIn(key)) slot.endTicks = endTicks;
        }
      },
    ),
    breaks: 'slots are free again after their lease, and those of a longer lease are not',
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
    breaks: 'renewed slots are held for a new lease, and only those',
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
    mistake: 'renews for ever',
    Broken: withSlots(
      class extends MapSlots {
        override renew(key: string, hold: Hold, now: number): void {
          super.renew(key, { ...hold, leaseMs: hold.leaseMs * 1000 }, now);
        }
      },
    ),
    breaks: 'a renewed lease ends too',
  },
  {
    mistake: 'never shortens a lease',
    Broken: withSlots(
      class extends MapSlots {
        override renew(key: string, hold: Hold, now: number): void {
          const before = new Map(this.heldIn(key).map((slot) => [slot.number, slot.endTicks]));
          super.renew(key, hold, now);
          for (const slot of this.heldIn(key)) slot.endTicks = Math.max(slot.endTicks, before.get(slot.number) ?? 0);
        }
      },
    ),
    breaks: 'a lease counts from the last time that it was renewed',
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
    mistake: 'renews no lease that has ended',
    Broken: withSlots(
      class extends MapSlots {
        override renew(key: string, hold: Hold, now: number): void {
          const known = this.heldIn(key);
          this.level(key, now);
          if (known.length === this.heldIn(key).length) super.renew(key, hold, now);
        }
      },
    ),
    breaks: 'renew holds slots again whose lease has ended',
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
    mistake: 'ends a lease a tick late',
    Broken: withSlots(
      class extends MapSlots {
        override isOver({ endTicks }: HeldSlot, now: number): boolean {
          return endTicks < now;
        }
      },
    ),
    breaks: 'a lease ends exactly when it is over, and not before',
  },
  {
    mistake: 'ends a lease a millisecond early',
    Broken: withSlots(
      class extends MapSlots {
        override isOver(slot: HeldSlot, now: number): boolean {
          return super.isOver(slot, now + 16_000);
        }
      },
    ),
    breaks: 'a lease ends exactly when it is over, and not before',
  },
  {
    mistake: 'lets a lease last longer when its clock steps back',
    Broken: withSlots(
      class extends MapSlots {
        override cutLease(): void {}
      },
    ),
    breaks: 'a clock that steps back by 900 ms frees no slot, and lets none be held for longer than its lease',
  },
  {
    mistake: 'frees slots when its clock steps back',
    Broken: withSlots(
      class extends MapSlots {
        override isOver(slot: HeldSlot, now: number): boolean {
          return super.isOver(slot, now) || slot.endTicks - slot.leaseTicks > now;
        }
      },
    ),
    breaks: 'a clock that steps back by 86400000 ms frees no slot, and lets none be held for longer than its lease',
  },
])('the contract finds a store that $mistake', async ({ Broken, breaks }) => {
  expect(await brokenPromises(Broken)).toContain(breaks);
});
