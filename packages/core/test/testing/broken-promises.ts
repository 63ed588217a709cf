import type { Time } from '../../src/time/time.ts';
import { FakeTime, storeContract } from '../../src/testing/index.ts';
import type { MapSlots } from './map-slots.ts';
import { MapStore } from './map-store.ts';

export type MakeStore = new (time: Time) => MapStore;

/** Returns a store that has its slots in another way. */
export function withSlots(Slots: new () => MapSlots): MakeStore {
  return class extends MapStore {
    override readonly slots = new Slots();
  };
}

/** Returns the contract for a store that a test steers. */
export function contractOf(Broken: MakeStore): ReturnType<typeof storeContract> {
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

/** Returns the names of the cases of the contract that a store fails. */
export async function brokenPromises(Broken: MakeStore): Promise<string[]> {
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

/** A store with a mistake, and a case of the contract that fails for it. */
export interface Mistake {
  readonly mistake: string;
  readonly Broken: MakeStore;
  readonly breaks: string;
}
