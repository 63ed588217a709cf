/**
 * What a limiter has decided, as numbers: for dashboards and alerts. Counting begins with the first call of a function of this
 * entry, so call one when the limiter is made.
 *
 * @module
 */
export {
  counts,
  gauges,
  top,
  type DecisionCount,
  type LimitCounts,
  type LimitGauges,
  type LimiterCounts,
  type LimiterGauges,
} from './counts/limiter-counts.ts';
export type { DeniedId } from './counts/denied-ids.ts';
export type { CountsListener } from './counts/counts.ts';
export type { HistogramCounts } from './counts/histogram.ts';
export type { Attributes, Instrument, Sample } from './counts/instruments.ts';
export type { DecidedBy, DecidedCount } from './counts/limit-tally.ts';
export type { SyncState } from './counts/lease-counts.ts';
export { metricsText, textOfMetrics } from './counts/metrics-text.ts';
export {
  INSTRUMENTS,
  joinedMetrics,
  listenToTimes,
  readMetrics,
  readSources,
  type Metric,
  type MetricsSource,
} from './counts/read-metrics.ts';
export type { Correction, CorrectionDirection } from './limiter/observer.ts';
export type { CorrectionMessage } from './limiter/reports.ts';
export type { TraceMessage } from './events/trace.ts';
