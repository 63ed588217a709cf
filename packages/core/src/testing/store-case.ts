import type { Awaitable } from '../async/awaitable.ts';
import type { Store } from '../store/store.ts';

/** A fresh store and its time. */
export interface StoreUnderTest {
  /** An empty store that is used nowhere else. The contract closes it after the case. */
  readonly store: Store;
  /** Lets milliseconds pass on the store's clock: moves a clock that tests control, waits for a real one. */
  readonly advance: (ms: number) => Awaitable<void>;
  /**
   * Runs a function while nothing answers the store: for example while its server is stopped. Only stores with the trait
   * `keepsDeadline` need it.
   */
  readonly hang?: ((whileHanging: () => Promise<void>) => Promise<void>) | undefined;
  /**
   * Makes the store report something to its listeners, and resolves when it has: for example cuts its connection and
   * waits until it is made again. It may be called several times. Only stores with the method `watch` need it.
   */
  readonly provokeReport?: (() => Awaitable<void>) | undefined;
}

/** A fresh store whose clock moves only when a test moves it. */
export interface SteeredStoreUnderTest extends StoreUnderTest {
  /** Sets the store's clock back by milliseconds. */
  readonly stepBack: (ms: number) => Awaitable<void>;
}

/** A promise that can be tested on any clock. */
export interface StoreCase {
  /** The promise, as a sentence. */
  readonly name: string;
  readonly clock: 'any';
  readonly check: (subject: StoreUnderTest) => Promise<void>;
  /** Whether it calls `hang` or `provokeReport`, which other stores on the same server notice. */
  readonly disturbs?: true;
}

/** A promise that can be tested only on a clock that the test controls. */
export interface SteeredStoreCase {
  readonly name: string;
  readonly clock: 'steered';
  readonly check: (subject: SteeredStoreUnderTest) => Promise<void>;
  readonly disturbs?: undefined;
}

export function promise(name: string, check: StoreCase['check']): StoreCase {
  return { name, clock: 'any', check };
}

/** A promise whose case disturbs the server of the store. */
export function disturbingPromise(name: string, check: StoreCase['check']): StoreCase {
  return { name, clock: 'any', check, disturbs: true };
}

export function steeredPromise(name: string, check: SteeredStoreCase['check']): SteeredStoreCase {
  return { name, clock: 'steered', check };
}
