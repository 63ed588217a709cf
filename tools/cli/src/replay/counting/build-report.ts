import { createHmac, randomBytes } from 'node:crypto';
import { MAX_TOKENS, type Limit } from '@sluice/core/kit';
import type { ReadingCounts } from '../entries/entry-reader.ts';
import type { Arrivals } from '../deciding/arrivals.ts';
import type { IdentifiedLimit } from '../keys/identities.ts';
import type { LogOutcome } from '../reading/merged-logs.ts';
import { bandOf, NONE, type Band } from './band.ts';
import { burstCurve, type BurstCurve } from './curve.ts';
import type { LimitTally } from './limit-tally.ts';
import type { DenialBounds } from './second-bounds.ts';
import type {
  DeniedReport,
  InputReport,
  LimitReport,
  ReplayReport,
  RouteLimitReport,
  RouteReport,
  SuggestionReport,
} from './report.ts';
import type { Tally, TotalCounts } from './tally.ts';

/** What a report is made of. */
export interface ReportParts {
  readonly arrivals: readonly Arrivals[];
  readonly counts: ReadingCounts;
  readonly files: readonly LogOutcome[];
  readonly late: number;
  readonly time: InputReport['time'];
  readonly partial: readonly string[];
  readonly leftOut: ReplayReport['leftOut'];
  readonly notes: readonly string[];
  readonly routeNames: readonly string[];
  readonly showIds: boolean;
  /** The part of ids that a suggested burst may deny, from 0 to 1. */
  readonly denyAtMost: number;
  /** Undefined if there was no request. */
  readonly decided: DecidedParts | undefined;
}

/** What was counted of the decisions. */
export interface DecidedParts {
  readonly tally: Tally;
  readonly undecidable: number;
  /** Undefined if they are not known, and for a log with fractions of a second. */
  readonly bounds: DenialBounds | undefined;
  readonly limits: readonly DecidedLimit[];
}

/** A limit with its counts. */
interface DecidedLimit {
  readonly limit: Limit;
  readonly tally: LimitTally;
  readonly identified: IdentifiedLimit;
}

const TOP = 10;

/** Returns the report of a replay. */
export function buildReport(parts: ReportParts): ReplayReport {
  const { arrivals, decided, partial, leftOut, notes, showIds } = parts;
  const bounds = decided?.bounds;
  return {
    version: 1,
    partial,
    input: inputOf(parts),
    passes: arrivals,
    denials: arrivals.length === 1 ? 'exact' : bounds === undefined ? 'examples' : 'bounds',
    totals: { ...totalsOf(decided), ...(bounds && { denied: bounds.total }) },
    limits: decided?.limits.map((each, i) => ({ ...limitOf(each, parts.denyAtMost), ...bounds?.limits[i] })) ?? [],
    leftOut,
    routes: decided === undefined ? [] : routesOf(decided, parts.routeNames),
    mostDenied: decided === undefined ? [] : mostDeniedOf(decided.limits, shownIds(showIds)),
    timeline: decided?.tally.timeline.report() ?? { startMs: 0, stepMs: 1000, counts: [] },
    notes,
  };
}

function inputOf({ counts, files, late, time, decided }: ReportParts): InputReport {
  const { lines, requests, skipped, examples } = counts;
  const { firstMicros, lastMicros } = decided?.tally ?? { firstMicros: NaN, lastMicros: NaN };
  return {
    files,
    lines,
    requests,
    late,
    skipped,
    examples,
    fromMs: decided === undefined ? null : firstMicros / 1000,
    toMs: decided === undefined ? null : lastMicros / 1000,
    time,
  };
}

function totalsOf(decided: DecidedParts | undefined): ReplayReport['totals'] {
  const totals = decided?.tally.totals ?? [];
  const band = (pick: (each: TotalCounts) => number): Band => (totals.length === 0 ? NONE : bandOf(totals.map(pick)));
  return {
    requests: decided?.tally.requests ?? 0,
    denied: band(({ denied }) => denied),
    deniedSuccesses: band(({ deniedSuccesses }) => deniedSuccesses),
    delayed: band(({ delayed }) => delayed),
    peakPerSecond: decided?.tally.peak ?? 0,
    allowedPeakPerSecond: band(({ peak }) => peak),
    undecidable: decided?.undecidable ?? 0,
  };
}

function limitOf({ limit, tally, identified }: DecidedLimit, denyAtMost: number): LimitReport {
  const { clients, passes } = tally;
  const curve = tally.hasCurve ? (burstCurve(clients) ?? null) : null;
  const ids = clients.size * clients.sampling;
  return {
    name: limit.name,
    key: identified.rule.text,
    kind: limit.rate.kind.name as LimitReport['kind'],
    burst: limit.rate.burst,
    count: limit.rate.count,
    periodMs: limit.rate.periodMs,
    per: limit.periods?.unit ?? null,
    requests: tally.asked,
    denied: bandOf(passes.map(({ denied }) => denied)),
    deniedSuccesses: bandOf(passes.map(({ deniedSuccesses }) => deniedSuccesses)),
    delayed: bandOf(passes.map(({ delayed }) => delayed)),
    ids,
    deniedIds: bandOf(passes.map((_, pass) => clients.sampling * deniedIn(tally, pass))),
    sampling: clients.sampling,
    overridden: tally.overridden,
    withoutId: identified.withoutId,
    invalidIds: identified.invalidIds,
    invalidExample: identified.invalidExample ?? null,
    curve,
    suggestion:
      curve &&
      suggestionOf(curve, { ids, requests: tally.asked, denyAtMost, most: limit.periods?.mostTokens ?? MAX_TOKENS }),
  };
}

function deniedIn({ clients }: LimitTally, pass: number): number {
  let count = 0;
  for (const row of clients.used()) if (clients.denied[pass]![row]! > 0) count++;
  return count;
}

function suggestionOf(
  { points }: BurstCurve,
  { ids, requests, denyAtMost, most }: Readonly<Record<'ids' | 'requests' | 'denyAtMost' | 'most', number>>,
): SuggestionReport | null {
  const point = points.find(({ deniedIds }) => deniedIds.high <= denyAtMost * ids);
  // A limit can't have more.
  if (point === undefined || point.burst > most) return null;
  const { burst, deniedIds, theirRequests } = point;
  const theirPart = { low: theirRequests.low / requests, high: theirRequests.high / requests };
  return { burst, denyAtMost, deniedIds, theirPart };
}

function routesOf({ tally, limits }: DecidedParts, names: readonly string[]): RouteReport[] {
  const all = limits.map(({ tally: each }) => routeLimitsOf(each));
  return tally.routes
    .map(({ requests, denied }, i): RouteReport => {
      const ofLimits = all.map((routes) => routes[i]!).filter((each) => each.denied.high > 0);
      return { route: names[i]!, requests, denied: bandOf(denied), limits: ofLimits };
    })
    .filter(({ requests }) => requests > 0)
    .toSorted((a, b) => b.requests - a.requests);
}

/** Returns what a limit has denied of each route. */
function routeLimitsOf({ name, deniedRoutes, clients: { sampling } }: LimitTally): RouteLimitReport[] {
  const clients = deniedRoutes.map((pass) => pass.clients());
  return deniedRoutes[0]!.requests.map((_, route) => ({
    limit: name,
    denied: bandOf(deniedRoutes.map(({ requests }) => requests[route]!)),
    deniedIds: bandOf(clients.map((counts) => sampling * counts[route]!)),
  }));
}

function mostDeniedOf(limits: readonly DecidedLimit[], shown: (limit: string, id: string) => string): DeniedReport[] {
  const all = limits.flatMap(({ tally }) => tally.mostDenied.top(TOP).map((each) => ({ ...each, tally })));
  const sorted = all.toSorted((a, b) => Math.max(...b.denied) - Math.max(...a.denied)).slice(0, TOP);
  return sorted.map(({ client, denied, timeline, tally }): DeniedReport => {
    const { clients, name } = tally;
    const row = clients.rowOf(client);
    const isKept = row !== -1;
    const report = timeline.report();
    return {
      limit: name,
      id: shown(name, client.text),
      requests: isKept ? clients.requests[row]! : report.counts[0]!.reduce((sum, count) => sum + count, 0),
      denied: bandOf(isKept ? clients.denied.map((column) => column[row]!) : denied),
      timeline: report,
    };
  });
}

/** Ids are hashed with a key of this report, because an address could be found by trying all of them. */
function shownIds(showIds: boolean): (limit: string, id: string) => string {
  const key = randomBytes(32);
  const hashed = (limit: string, id: string): string =>
    `client-${createHmac('sha256', key).update(`${limit}\n${id}`).digest('hex').slice(0, 10)}`;
  return showIds ? (_, id) => id : hashed;
}
