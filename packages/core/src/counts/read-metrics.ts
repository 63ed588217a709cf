import { coreOf } from '../limiter/create-limiter.ts';
import type { Limiter } from '../limiter/limiter.ts';
import { countsOf, type CountsListener } from './counts.ts';
import { INSTRUMENTS as READ, readingsOf, type Instrument, type Sample } from './instruments.ts';

/** All that can be read of a limiter, in the order of the documentation. */
export const INSTRUMENTS: readonly Instrument[] = READ;

/**
 * Returns the values of all instruments, of all limiters together: for a monitoring system of your own. Counting begins with
 * the first call for a limiter.
 *
 * @throws {SluiceError} `ERR_OPTION` when a value is not a limiter.
 */
export function readMetrics(...limiters: readonly Limiter<never>[]): ReadonlyMap<Instrument, readonly Sample[]> {
  const all = limiters.map((limiter) => readingsOf(coreOf(limiter)));
  return new Map(
    READ.map((instrument) => [instrument, summed(all.flatMap((readings) => [...instrument.read(readings)]))]),
  );
}

/**
 * Calls a listener with each duration and each wait of a limiter, for systems that have no histograms which are read now and
 * then. It is called only by stores that do not answer at once, and for requests that are queued.
 *
 * @returns Ends it.
 * @throws {SluiceError} `ERR_OPTION` when the value is not a limiter.
 */
export function listenToTimes(limiter: Limiter<never>, listener: CountsListener): () => void {
  const { listeners } = countsOf(coreOf(limiter));
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Adds the values with the same attributes. */
function summed(samples: readonly Sample[]): readonly Sample[] {
  const sums = new Map<string, Sample>();
  for (const sample of samples) {
    const key = JSON.stringify(sample.attributes);
    const before = sums.get(key);
    sums.set(key, before === undefined ? sample : { ...sample, value: sumOf(before.value, sample.value) });
  }
  return [...sums.values()];
}

function sumOf(one: Sample['value'], other: Sample['value']): Sample['value'] {
  if (typeof one === 'number' || typeof other === 'number') return (one as number) + (other as number);
  return { ...one, counts: one.counts.map((count, i) => count + other.counts[i]!), sum: one.sum + other.sum };
}
