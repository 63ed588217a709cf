import type { Awaitable } from '../async/awaitable.ts';
import type { EventSink } from '../events/event.ts';
import type { LimitMap } from '../limits/limit.ts';
import type { Store, StoreBucket, StoreHold } from '../store/store.ts';
import type { Time } from '../time/time.ts';
import type { Changed, Charge } from './batch-answer.ts';
import type { Stage } from './stage.ts';
import type { Transaction } from './transaction.ts';

/** What the limits of one kind need of a limiter beside their numbers. */
export interface Part {
  readonly stage: Stage;
  /** The order in which stages decide, the lowest first: what asks no store comes before what does. */
  readonly place: number;
  /** Whether the stage is asked for batches that a store can decide as they are, too, while it is active. */
  readonly watches?: true;

  /** Called with the limits in effect, whenever they have changed. */
  changed?(limits: LimitMap): void;
  /** Replaces the transactions of a charge or a refund by those for a store. */
  stored?(batch: readonly Transaction[]): readonly Transaction[];
  /** Called after a charge of the limiter's store. */
  charged?(change: Changed<Charge>): void;
  /** Forgets what this process knows of buckets that are reset. */
  reset?(buckets: readonly StoreBucket[]): void;
  /**
   * Returns the store for the time in which the limiter's store can't answer.
   *
   * @param tokens - A store of this process, which answers at once. The same for each call.
   */
  localStore?(tokens: Store): Store;
  /** How much of each limit this process holds. */
  heldByLimit?(): ReadonlyMap<string, number>;
  close?(): void;
}

/** What a limiter gives to its parts. */
export interface PartContext {
  readonly store: Store;
  readonly time: Time;
  readonly emit: EventSink;
  /** Whether the store answers at once. */
  readonly answersAtOnce: boolean;
  /** Renews in the store what is held. */
  readonly renew: (holds: readonly StoreHold[]) => Awaitable<unknown>;
  /** Releases it. */
  readonly release: (holds: readonly StoreHold[]) => Awaitable<unknown>;
}
