import type { EventSink } from '../../events/event.ts';
import type { Time } from '../../time/time.ts';

/** How loaded this process is, as a level that moves slowly. Made by `eventLoop` and `loadFrom`. */
export interface LoadSource {
  /**
   * What is shed, from 0 (nothing) to 1 (everything). 0 while no limiter uses the source, and while it is not
   * `enabled`.
   */
  readonly level: number;
  /**
   * Called by a limiter that begins to use the source. The signal is read while there are users; all of them see one
   * level.
   */
  start(user: LoadUser): LoadUse;
}

/** The limit for which a limiter uses a source. */
export interface LoadUser {
  /** The name of the limit, for events. */
  readonly limit: string;
  readonly time: Time;
  readonly emit: EventSink;
}

/** The use of a source for one limit. */
export interface LoadUse {
  /**
   * Whether requests of a client are shed now. Within a client's minute it is true from some level upwards, and it is
   * the same in all processes with that level.
   *
   * @param share - The part of the worker that the request may use up, above 0, at most 1.
   */
  sheds(id: string, share: number): boolean;
  /**
   * Returns the time after which a client that is shed may pass at the same level: above 0, at most 60,000 ms. It spreads
   * the retries of the clients that are shed over a minute.
   */
  retryAfterMs(id: string): number;
  /** Ends the use. The last one to end stops the reading of the signal. */
  stop(): void;
}
