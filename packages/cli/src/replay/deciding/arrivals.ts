import type { DetectedFormat } from '../formats/detect.ts';
import type { Second } from '../order/second.ts';

/** When the requests of a second arrive in a pass. */
export type Arrivals = 'as logged' | 'at the start of the second' | 'spread over the second';

/**
 * The passes of a replay. A log of whole seconds does not show when in its second a request arrived, so it is replayed twice:
 * the outcomes are the two ends of a band.
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
 * @param micros - When it arrived according to the log.
 */
export function arrivalOf(arrivals: Arrivals, { startMicros, size }: Second, index: number, micros: number): number {
  if (arrivals === 'as logged') return micros;
  if (arrivals === 'at the start of the second') return startMicros;
  return startMicros + Math.floor((index * 1_000_000) / size);
}
