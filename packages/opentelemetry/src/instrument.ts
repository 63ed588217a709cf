import type {
  Attributes,
  BatchObservableResult,
  Histogram,
  Meter,
  MeterProvider,
  Observable,
} from '@opentelemetry/api';
import type { Limiter } from '@sluice/core';
import { SluiceError } from '@sluice/core';
import {
  INSTRUMENTS,
  listenToTimes,
  readMetrics,
  type Attributes as Labels,
  type CountsListener,
  type Instrument,
} from '@sluice/core/metrics';

/** The options of {@link instrument}. */
export interface InstrumentOptions {
  /** Where the instruments are made. For example `metrics.getMeterProvider()` of `@opentelemetry/api`. */
  readonly meterProvider: MeterProvider;
}

/** The instrumentation scope of all metrics and spans. */
export const SCOPE = '@sluice/opentelemetry';

const ofProviders = new WeakMap<MeterProvider, Instruments>();

/**
 * Reports the numbers of a limiter to OpenTelemetry: they are read when a reader collects, so that a decision costs some plain
 * counters. Limits of one name of several limiters are added. Attributes are names of limits and outcomes, never ids. A closed
 * limiter can be instrumented: its limits are reported, without decisions.
 *
 *     const stop = instrument(limiter, { meterProvider: metrics.getMeterProvider() });
 *
 * @returns Ends it. Repeated calls do nothing.
 * @throws {SluiceError} `ERR_OPTION` when the value is not a limiter, when there is no meter provider, and when the limiter is
 * instrumented already with this one. What the provider throws is thrown on.
 */
export function instrument(limiter: Limiter<never>, options: InstrumentOptions): () => void {
  const meterProvider = (options as Partial<InstrumentOptions> | undefined)?.meterProvider;
  if (typeof meterProvider?.getMeter !== 'function') throw noProvider();
  // Counting begins here.
  readMetrics(limiter);
  const instruments = ofProviders.get(meterProvider) ?? new Instruments(meterProvider.getMeter(SCOPE));
  ofProviders.set(meterProvider, instruments);
  return instruments.add(limiter);
}

/** The instruments of one meter provider, and the limiters that they show. */
class Instruments {
  readonly #meter: Meter;
  /** By the names of their instruments. */
  readonly #observables: ReadonlyMap<string, Observable>;
  readonly #recorder: CountsListener;
  readonly #limiters = new Set<Limiter<never>>();
  readonly #callback = (result: BatchObservableResult): void => this.#observe(result);

  constructor(meter: Meter) {
    this.#meter = meter;
    const read = INSTRUMENTS.filter(({ type }) => type !== 'histogram');
    this.#observables = new Map(read.map((each) => [each.name, observableOf(meter, each)]));
    this.#recorder = recorderOf(meter);
  }

  add(limiter: Limiter<never>): () => void {
    if (this.#limiters.has(limiter)) throw instrumentedAlready();
    if (this.#limiters.size === 0) this.#meter.addBatchObservableCallback(this.#callback, this.#all);
    this.#limiters.add(limiter);
    const stopListening = listenToTimes(limiter, this.#recorder);
    let isEnded = false;
    return () => {
      if (isEnded) return;
      isEnded = true;
      stopListening();
      this.#limiters.delete(limiter);
      if (this.#limiters.size === 0) this.#meter.removeBatchObservableCallback(this.#callback, this.#all);
    };
  }

  get #all(): Observable[] {
    return [...this.#observables.values()];
  }

  #observe(result: BatchObservableResult): void {
    for (const { name, samples } of readMetrics(...this.#limiters)) {
      const observable = this.#observables.get(name);
      if (observable === undefined) continue;
      for (const { attributes, value } of samples)
        result.observe(observable, value as number, withoutEmpty(attributes));
    }
  }
}

function observableOf(meter: Meter, { name, type, unit, description }: Instrument): Observable {
  return type === 'counter'
    ? meter.createObservableCounter(name, { unit, description })
    : meter.createObservableGauge(name, { unit, description });
}

/** Records what has no numbers that are read now and then. One for all limiters, so that a store that they share is recorded once. */
function recorderOf(meter: Meter): CountsListener {
  const durations = histogramOf(meter, 'sluice.decision.duration');
  const waits = histogramOf(meter, 'sluice.queue.wait');
  const syncs = histogramOf(meter, 'sluice.lease.duration');
  return {
    duration: (seconds, outcome) => durations.record(seconds, { outcome }),
    wait: (seconds, limit) => waits.record(seconds, { limit }),
    sync: (seconds, state) => syncs.record(seconds, { state }),
  };
}

function histogramOf(meter: Meter, name: string): Histogram {
  const { unit, description, bounds } = INSTRUMENTS.find((each) => each.name === name)!;
  return meter.createHistogram(name, { unit, description, advice: { explicitBucketBoundaries: [...bounds!] } });
}

/** In OpenTelemetry an attribute that says nothing is left out. */
function withoutEmpty(labels: Labels): Attributes {
  return Object.fromEntries(Object.entries(labels).filter(([, text]) => text !== ''));
}

function noProvider(): SluiceError {
  return new SluiceError(
    'ERR_OPTION',
    '`meterProvider` must be a MeterProvider. For example instrument(limiter, { meterProvider: metrics.getMeterProvider() }), with `metrics` of @opentelemetry/api.',
  );
}

function instrumentedAlready(): SluiceError {
  return new SluiceError(
    'ERR_OPTION',
    'This limiter is instrumented already with this meter provider. Call the function that the first call returned before.',
  );
}
