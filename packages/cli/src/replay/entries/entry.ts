import type { Identity } from '../keys/identity.ts';
import type { Target } from './routes.ts';

/** Receives the requests of a log, in the order of the log. */
export interface EntrySink {
  /**
   * @param micros - When the request arrived, in microseconds since 1970.
   * @param status - Of its response; 0 if it is not known.
   * @param durationMicros - From its arrival to its end; 0 if it is not known or not needed.
   */
  take(micros: number, identity: Identity, target: Target, status: number, durationMicros: number): void;
}
