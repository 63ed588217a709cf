import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, InMemorySpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import { instrument, spans } from '@sluice/opentelemetry';

const EVERY_MS = 1000;

/**
 * Instruments a limiter with a real SDK, which collects every second. The measured time includes that.
 *
 * @param {import('@sluice/core').Limiter} limiter
 */
export function withMetrics(limiter) {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({
    exporter,
    exportIntervalMillis: EVERY_MS,
    exportTimeoutMillis: EVERY_MS,
  });
  instrument(limiter, { meterProvider: new MeterProvider({ readers: [reader] }) });
  setInterval(() => exporter.reset(), EVERY_MS).unref();
}

/**
 * The same with a span for each asynchronous decision. All spans are sampled, and exported in batches.
 *
 * @param {import('@sluice/core').Limiter} limiter
 */
export function withMetricsAndSpans(limiter) {
  withMetrics(limiter);
  const exporter = new InMemorySpanExporter();
  spans(new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter })] }));
  setInterval(() => exporter.reset(), EVERY_MS).unref();
}
