import type { Target } from './routes.ts';

/** Receives the requests of a log, in the order of the log. */
export interface EntrySink {
  /**
   * @param micros - When the request arrived, in microseconds since 1970.
   * @param packed - What its ids are found in, at the beginning of these bytes. They are valid during the call only.
   * @param length - How many bytes that is.
   * @param status - Of its response; 0 if it is not known.
   * @param durationMicros - From its arrival to its end; 0 if it is not known or not needed.
   */
  take(micros: number, packed: Buffer, length: number, target: Target, status: number, durationMicros: number): void;
}
