import type { KindAndNumbers } from '../../limits/limit-kind.ts';
import type { SkippedLine, SkipReason } from '../entries/entry-reader.ts';
import type { Arrivals } from '../deciding/arrivals.ts';
import type { LogOutcome } from '../reading/merged-logs.ts';
import type { Band } from './band.ts';
import type { BurstCurve } from './curve.ts';
import type { TimelineReport } from './timeline.ts';

/**
 * What limits would have done to the requests of a log: the JSON of `sluice replay --json`, of which all other reports are
 * drawn.
 *
 * Times are milliseconds since 1970 (UTC), parts are numbers from 0 to 1. Counts that depend on the decisions are a {@link
 * Band}: two outcomes for logs of whole seconds, twice the same for others.
 */
export interface ReplayReport {
  /** The version of this shape grows by one when a field is removed or means something else. */
  readonly version: 1;
  /** Why the report is about a part of the log only; empty if it is about all of it. */
  readonly partial: readonly string[];
  readonly input: InputReport;
  /** How often, and with which arrivals, the log was replayed. */
  readonly passes: readonly Arrivals[];
  /**
   * What `denied` of the totals and of limits, and `deniedIds` of limits are: exact counts; or for a log of whole seconds
   * bounds, whenever in their seconds requests arrived, or if bounds are not known the outcomes of two replays. All other
   * bands of such a log are the outcomes of two replays.
   */
  readonly denials: 'exact' | 'bounds' | 'examples';
  readonly totals: TotalsReport;
  /** In the order of the file. */
  readonly limits: readonly LimitReport[];
  /** Limits of the file that were not replayed, and why. */
  readonly leftOut: readonly { readonly limit: string; readonly reason: string }[];
  /** In the order of their requests, most first. `other` are the routes beyond the largest number of routes. */
  readonly routes: readonly RouteReport[];
  /** The ten most denied ids of all limits, most denied first. */
  readonly mostDenied: readonly DeniedReport[];
  /** Requests, then the denied ones in each pass. */
  readonly timeline: TimelineReport;
  /** What the log can't show, and what limits the figures: sentences for people. */
  readonly notes: readonly string[];
}

/** What was read. */
export interface InputReport {
  readonly files: readonly LogOutcome[];
  readonly lines: number;
  /** Lines that were requests. */
  readonly requests: number;
  /** Requests more than 60 s older than a line before them. They are left out of all other counts. */
  readonly late: number;
  readonly skipped: Readonly<Record<SkipReason, number>>;
  readonly examples: readonly SkippedLine[];
  /** The arrivals of the first and the last request; null without requests. */
  readonly fromMs: number | null;
  readonly toMs: number | null;
  readonly time: {
    /** The fields in the log that most times come from, such as `$msec − $request_time`. */
    readonly field: string;
    readonly resolution: 'second' | 'fraction';
    /** What the times are that the requests were decided at. */
    readonly moment: 'arrival' | 'end of the request';
  };
}

/** The decisions by all limits together: a request is denied if any limit denies it. */
interface TotalsReport {
  readonly requests: number;
  readonly denied: Band;
  /** Denied requests that the server had answered with a status from 200 to 299. */
  readonly deniedSuccesses: Band;
  readonly delayed: Band;
  /** The most requests in one second, and the most that would have been allowed. */
  readonly peakPerSecond: number;
  readonly allowedPeakPerSecond: Band;
  /** Requests that a server could not have decided, because their cost is above the burst. */
  readonly undecidable: number;
}

/** What one limit would have done. */
export interface LimitReport extends KindAndNumbers {
  readonly name: string;
  /** Where its ids come from: the word after `--key`, otherwise the format of the ids, such as `ipAddress`. */
  readonly key: string;
  readonly kind: 'rate' | 'quota' | 'concurrency';
  /** Requests that it applies to. */
  readonly requests: number;
  readonly denied: Band;
  readonly deniedSuccesses: Band;
  readonly delayed: Band;
  /** Distinct ids, and how many of them were denied at least once. Estimates if `sampling` is above 1. */
  readonly ids: number;
  readonly deniedIds: Band;
  /** One id in so many was counted: 1 unless there were more than fit into memory. */
  readonly sampling: number;
  /** Requests of ids with overrides. */
  readonly overridden: number;
  /** Requests without an id, and with text that is not a valid id: the limit does not apply to them. */
  readonly withoutId: number;
  readonly invalidIds: number;
  readonly invalidExample: string | null;
  /** Null if there is none: what a limit that borrows denies depends on its pool. */
  readonly curve: BurstCurve | null;
  readonly suggestion: SuggestionReport | null;
}

/** A burst for the rate of a limit, and its price. Exact, as the curve. */
export interface SuggestionReport {
  /** The smallest that denies at most the part `denyAtMost` of the ids. */
  readonly burst: number;
  readonly denyAtMost: number;
  readonly deniedIds: Band;
  /** The requests of these ids, as a part of all requests that the limit applies to. Not all of them would be denied. */
  readonly theirPart: Band;
}

/** One route. */
export interface RouteReport {
  readonly route: string;
  readonly requests: number;
  readonly denied: Band;
  /** The limits that denied requests of the route, in the order of the file. */
  readonly limits: readonly RouteLimitReport[];
}

/** What one limit would have denied of the requests of one route. */
export interface RouteLimitReport {
  readonly limit: string;
  readonly denied: Band;
  /** Distinct ids that it denied there at least once. An estimate if the `sampling` of the limit is above 1. */
  readonly deniedIds: Band;
}

/** An id that was denied. */
export interface DeniedReport {
  readonly limit: string;
  /** The id with `--show-ids`, otherwise a hash of it that is different in each report. */
  readonly id: string;
  readonly requests: number;
  readonly denied: Band;
  /** Since its first denial: its requests, and the denied ones in the first pass. */
  readonly timeline: TimelineReport;
}
