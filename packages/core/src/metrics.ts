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
export { metricsText } from './counts/metrics-text.ts';
export type { Correction, CorrectionDirection } from './limiter/observer.ts';
export type { CorrectionMessage } from './limiter/reports.ts';
