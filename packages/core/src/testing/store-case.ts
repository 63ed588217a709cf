import type { Awaitable } from '../async/awaitable.ts';
import type { Store } from '../store/store.ts';

/** A fresh store, and its time. */
export interface StoreUnderTest {
  /** Empty, and used by nobody else. The case closes it. */
  readonly store: Store;
  /** Lets milliseconds pass on the store's clock: moves a steered clock, waits for a real one. */
  readonly advance: (ms: number) => Awaitable<void>;
}

/** A fresh store whose clock stands still until it is moved. */
export interface SteeredStoreUnderTest extends StoreUnderTest {
  /** Sets the store's clock back by milliseconds. */
  readonly stepBack: (ms: number) => Awaitable<void>;
}

/** A promise that holds on every clock. */
export interface StoreCase {
  /** The promise, as a sentence. */
  readonly name: string;
  readonly clock: 'any';
  readonly check: (subject: StoreUnderTest) => Promise<void>;
}

/** A promise that only a clock at a standstill can show. */
export interface SteeredStoreCase {
  readonly name: string;
  readonly clock: 'steered';
  readonly check: (subject: SteeredStoreUnderTest) => Promise<void>;
}

export function promise(name: string, check: StoreCase['check']): StoreCase {
  return { name, clock: 'any', check };
}

export function steeredPromise(name: string, check: SteeredStoreCase['check']): SteeredStoreCase {
  return { name, clock: 'steered', check };
}
