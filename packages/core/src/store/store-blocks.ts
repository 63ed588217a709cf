import type { Awaitable } from '../async/awaitable.ts';
import type { BucketName } from './store.ts';

/** An id that is blocked at one limit until an instant, whatever is in its bucket. */
export interface StoreBlock extends BucketName {
  /** The first millisecond of Unix time at which it is not blocked any more. */
  readonly untilMs: number;
  /** Why, for people. */
  readonly reason: string;
  /** Who has blocked it. */
  readonly by: string;
}

/** The blocks of a store: all of them as this process knows them, and the calls that change them for every process. */
export interface StoreBlocks {
  /** Whether this process knows of none. */
  readonly isEmpty: boolean;
  /** Returns the block of an id, which may have ended. No call of a server: each decision asks for it. */
  find(limit: string, id: string): StoreBlock | undefined;
  /**
   * Adds blocks, in place of those of the same ids, and deletes those that have ended.
   *
   * @param nowMs - The wall clock of the limiter.
   * @param deadlineMs - How long the caller waits, in milliseconds.
   * @throws {SluiceError} `ERR_OPTION` when there would be more than 10,000; when the store can't answer, what it rejects with.
   */
  put(blocks: readonly StoreBlock[], nowMs: number, deadlineMs: number): Awaitable<void>;
  /** Deletes the blocks of ids. Returns those that there were. */
  delete(buckets: readonly BucketName[], deadlineMs: number): Awaitable<readonly StoreBlock[]>;
  /** Reads all blocks from the store. Some may have ended. */
  list(deadlineMs: number): Awaitable<readonly StoreBlock[]>;
  /**
   * Called at each decision, for a store that other processes use: reads the blocks at most once a second, while nobody waits.
   * Omitted where this process alone makes blocks.
   */
  note?(): void;
  /**
   * Registers a listener for changes, and for an error that a person has to see to.
   *
   * @returns A function that removes the listener.
   */
  watch(listener: (error?: unknown) => void): () => void;
}
