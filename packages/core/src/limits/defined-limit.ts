import type { StoreWall } from '../time/store-wall.ts';

/** The limit that is defined. */
export interface DefinedLimit {
  /** Its path in error messages: `limits.Orders`. */
  readonly where: string;
  readonly name: string;
  /** The wall clock of the store, by which periods of a calendar are named. Default: that of this process. */
  readonly wall?: StoreWall;
}
