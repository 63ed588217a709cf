import type {
  Attributes,
  BatchObservableResult,
  Counter,
  Histogram,
  Meter,
  MeterProvider,
  MetricOptions,
  Observable,
} from '@opentelemetry/api';
import type { Limiter } from '@sluice/core';
import { SluiceError } from '@sluice/core';
import {
  INSTRUMENTS,
  joinedMetrics,
  listenToTimes,
  readSources,
  type Attributes as Labels,
  type CountsListener,
  type Instrument,
  type MetricsSource,
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
 * counters. Limits of one name of several limiters are added. Attributes are names of limits and outcomes, never ids.
 *
 * What a limiter has counted stays when the function that is returned is called, or the limiter is closed: that ends it, too. A
 * closed limiter can be instrumented: its limits are reported, without decisions.
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
  readSources(limiter);
  const instruments = ofProviders.get(meterProvider) ?? new Instruments(meterProvider.getMeter(SCOPE));
  ofProviders.set(meterProvider, instruments);
  return instruments.add(limiter);
}

/** The instruments of one meter provider, and the limiters that they show. */
class Instruments {
  readonly #meter: Meter;
  /**
   * By name. They get what was counted since the last time: the values of a limiter that ended stay, a view that drops attributes
   * adds up, and readers of any temporality get the same sums.
   */
  readonly #counters: ReadonlyMap<string, Counter>;
  /** By name. */
  readonly #gauges: ReadonlyMap<string, Observable>;
  readonly #recorder: CountsListener;
  /** With the function that ends each. */
  readonly #limiters = new Map<Limiter<never>, () => void>();
  /** What the counters got of each limiter and of each store. */
  readonly #reported = new WeakMap<object, Map<string, number>>();
  readonly #callback = (result: BatchObservableResult): void => this.#observe(result);

  constructor(meter: Meter) {
    this.#meter = meter;
    this.#counters = ofType('counter', (name, options) => meter.createCounter(name, options));
    this.#gauges = ofType('gauge', (name, options) => meter.createObservableGauge(name, options));
    this.#recorder = { ...recorderOf(meter), closed: (limiter) => this.#limiters.get(limiter)?.() };
  }

  add(limiter: Limiter<never>): () => void {
    if (this.#limiters.has(limiter)) throw instrumentedAlready();
    if (this.#limiters.size === 0) this.#meter.addBatchObservableCallback(this.#callback, [...this.#gauges.values()]);
    const stopListening = listenToTimes(limiter, this.#recorder);
    const end = (): void => {
      if (this.#limiters.get(limiter) !== end) return;
      stopListening();
      this.#limiters.delete(limiter);
      if (this.#limiters.size === 0)
        this.#meter.removeBatchObservableCallback(this.#callback, [...this.#gauges.values()]);
      for (const source of readSources(limiter)) this.#count(source, false);
    };
    this.#limiters.set(limiter, end);
    return end;
  }

  #observe(result: BatchObservableResult): void {
    const sources = readSources(...this.#limiters.keys());
    for (const source of sources) this.#count(source, true);
    for (const { name, samples } of joinedMetrics(sources.map(({ metrics }) => metrics))) {
      const gauge = this.#gauges.get(name);
      if (gauge === undefined) continue;
      for (const { attributes, value } of samples) result.observe(gauge, value as number, withoutEmpty(attributes));
    }
  }

  /** @param begins - Whether a counter begins with 0: an alert on a rise compares the first values with it. */
  #count({ source, metrics }: MetricsSource, begins: boolean): void {
    const reported = this.#reported.get(source) ?? new Map<string, number>();
    this.#reported.set(source, reported);
    for (const { name, samples } of metrics) {
      const counter = this.#counters.get(name);
      if (counter === undefined) continue;
      for (const { attributes, value } of samples) {
        // The kind of a limit changes when the limit is removed or another one gets its name: its counts go on.
        const key = JSON.stringify([name, { ...attributes, kind: '' }]);
        const before = reported.get(key);
        const more = (value as number) - (before ?? 0);
        if (more <= 0 && !(begins && before === undefined)) continue;
        reported.set(key, value as number);
        counter.add(more, withoutEmpty(attributes));
      }
    }
  }
}

function ofType<T>(
  type: Instrument['type'],
  make: (name: string, options: MetricOptions) => T,
): ReadonlyMap<string, T> {
  const all = INSTRUMENTS.filter((each) => each.type === type);
  return new Map(all.map(({ name, unit, description }) => [name, make(name, { unit, description })]));
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
