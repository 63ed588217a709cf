import type { DetectedFormat } from '../formats/detect.ts';
import type { Second } from '../order/second.ts';

/** When the requests of a second arrive in a pass. */
export type Arrivals = 'as logged' | 'at the start of the second' | 'spread over the second';

/**
 * The passes of a replay. A log of whole seconds does not show when in its second a request arrived, so it is replayed twice, as
 * two examples.
 */
export function passesOf(logs: readonly Pick<DetectedFormat, 'resolution'>[]): readonly Arrivals[] {
  return hasWholeSeconds(logs) ? ['at the start of the second', 'spread over the second'] : ['as logged'];
}

/** Whether a log has no fractions of a second. */
export function hasWholeSeconds(logs: readonly Pick<DetectedFormat, 'resolution'>[]): boolean {
  return logs.some(({ resolution }) => resolution === 'second');
}

/**
 * Returns when a request of a second arrives, in whole microseconds since 1970.
 *
 * @param micros - When it arrived according to the log: with whole seconds, at the earliest. With a duration in the log that is
 *   not the start of a second.
 */
export function arrivalOf(arrivals: Arrivals, { size }: Second, index: number, micros: number): number {
  return arrivals === 'spread over the second' ? micros + Math.floor((index * 1_000_000) / size) : micros;
}
