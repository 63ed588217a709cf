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
 * Shows a limiter to a real SDK, which reads it each second. That is a part of the time that is measured.
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
 * The same with a span of each decision that takes time, all of which are kept by the sampler and exported in batches.
 *
 * @param {import('@sluice/core').Limiter} limiter
 */
export function withMetricsAndSpans(limiter) {
  withMetrics(limiter);
  const exporter = new InMemorySpanExporter();
  spans(new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter })] }));
  setInterval(() => exporter.reset(), EVERY_MS).unref();
}
