import { coreOf } from '../limiter/create-limiter.ts';
import type { Limiter } from '../limiter/limiter.ts';
import { countsOf, type CountsListener } from './counts.ts';
import { leaseCountsOf } from './lease-counts.ts';
import {
  INSTRUMENTS as READ,
  readingsOf,
  type Instrument,
  type Readings,
  type ReadInstrument,
  type Sample,
} from './instruments.ts';

/** All that can be read of a limiter, in the order of the documentation. */
export const INSTRUMENTS: readonly Instrument[] = READ.map(instrumentOf);

/** An instrument, and its values: plain data, which can be sent to another process. */
export interface Metric extends Instrument {
  readonly samples: readonly Sample[];
}

/** What one limiter has counted, or one store, which several limiters may share. */
export interface MetricsSource {
  /** The limiter or the store: compared by identity. */
  readonly source: object;
  readonly metrics: readonly Metric[];
}

/**
 * Returns the values of all instruments, of all limiters together: for a monitoring system of your own. Counting begins with
 * the first call for a limiter.
 *
 * @throws {SluiceError} `ERR_OPTION` when a value is not a limiter.
 */
export function readMetrics(...limiters: readonly Limiter<never>[]): readonly Metric[] {
  const all = joinedMetrics(readSources(...limiters).map(({ metrics }) => metrics));
  return INSTRUMENTS.map((each) => all.find(({ name }) => name === each.name) ?? { ...each, samples: [] });
}

/**
 * Returns the same values, those of each limiter and of each store by themselves: for a monitoring system that adds what was
 * counted since the last time. Store values are read once, also if several limiters share the store.
 *
 * @throws {SluiceError} `ERR_OPTION` when a value is not a limiter.
 */
export function readSources(...limiters: readonly Limiter<never>[]): readonly MetricsSource[] {
  const cores = limiters.map((limiter) => coreOf(limiter));
  const all = cores.map((core) => [core, readingsOf(core)] as const);
  const ofStores = new Map(all.map(([{ store }, readings]) => [store, readings]));
  return [
    ...all.map(([source, readings]) => ({ source, metrics: metricsOf(readings, false) })),
    ...Array.from(ofStores, ([source, readings]) => ({ source, metrics: metricsOf(readings, true) })),
  ];
}

function metricsOf(readings: Readings, ofStore: boolean): readonly Metric[] {
  return READ.filter((each) => (each.ofStore ?? false) === ofStore).map((each) =>
    combined(instrumentOf(each), [...each.read(readings)]),
  );
}

/** Puts together what several processes have read: the sums, or the largest values of an instrument that has no sum. */
export function joinedMetrics(processes: readonly (readonly Metric[])[]): readonly Metric[] {
  const all = new Map<string, Metric>();
  for (const metric of processes.flat()) {
    const before = all.get(metric.name)?.samples ?? [];
    all.set(metric.name, combined(metric, [...before, ...metric.samples]));
  }
  return [...all.values()];
}

/**
 * Calls a listener with each duration and each wait of a limiter, for systems that have no histograms which are read now and
 * then. It is called only by stores that do not answer at once, and for requests that are queued.
 *
 * @returns Ends it. Repeated calls do nothing.
 * @throws {SluiceError} `ERR_OPTION` when the value is not a limiter.
 */
export function listenToTimes(limiter: Limiter<never>, listener: CountsListener): () => void {
  const core = coreOf(limiter);
  const { listeners } = countsOf(core);
  const leases = leaseCountsOf(core.store);
  listeners.add(listener);
  leases?.add(listener);
  let isListening = true;
  return () => {
    if (!isListening) return;
    isListening = false;
    listeners.delete(listener);
    leases?.remove(listener);
  };
}

/** An instrument as plain data. */
function instrumentOf(readable: ReadInstrument): Instrument {
  const instrument: Instrument & Partial<ReadInstrument> = { ...readable };
  delete instrument.read;
  return instrument;
}

/** A metric of all samples, with one for each set of attributes. */
function combined(instrument: Instrument, samples: readonly Sample[]): Metric {
  const values = new Map<string, Sample>();
  for (const sample of samples) {
    const key = JSON.stringify(sample.attributes);
    const before = values.get(key);
    values.set(key, before === undefined ? sample : { ...sample, value: both(instrument, before.value, sample.value) });
  }
  return { ...instrument, samples: [...values.values()] };
}

function both({ together }: Instrument, one: Sample['value'], other: Sample['value']): Sample['value'] {
  if (typeof one === 'number' || typeof other === 'number')
    return together === 'largest' ? Math.max(one as number, other as number) : (one as number) + (other as number);
  return { ...one, counts: one.counts.map((count, i) => count + other.counts[i]!), sum: one.sum + other.sum };
}
