import type { Result } from '@sluice/core';
import { countText } from '../../console/number-text.ts';
import { MAX_IN_PROGRESS } from '../deciding/requests-in-progress.ts';
import { hasWholeSeconds } from '../deciding/arrivals.ts';
import { MAX_EARLIER_MICROS, type ReadingCounts } from '../entries/entry-reader.ts';
import type { AddressRule, IdentifiedLimit } from '../keys/identities.ts';
import type { SortWindow } from '../order/sort-window.ts';
import type { KnownLog, LogOutcome } from '../reading/merged-logs.ts';

/** The part of lines, and of ids, that may be missing before a report is one about a part of the log. */
const MAX_MISSING = 0.01;

/** What may be missing in a report. */
interface Read {
  readonly files: readonly LogOutcome[];
  readonly counts: Pick<ReadingCounts, 'lines' | 'requests' | 'skipped'>;
  /** Requests that came too late to be sorted in. */
  readonly late: number;
  readonly identified: readonly IdentifiedLimit[];
  readonly wasInterrupted: boolean;
}

/** Returns why a report is about a part of the logs only. */
export function partsMissing({ files, counts, late, identified, wasInterrupted }: Read): string[] {
  const damaged = files.filter(({ problem }) => problem !== null).map(({ name, problem }) => `${name}: ${problem}`);
  return [
    ...(wasInterrupted ? ['interrupted by Ctrl-C'] : []),
    ...damaged,
    ...linesMissing(counts, late),
    ...idsMissing(identified, counts.requests),
  ];
}

/** What a limit can't count may be most of the log, if the log has another format than the one it was taken for. */
function idsMissing(identified: readonly IdentifiedLimit[], requests: number): string[] {
  return identified
    .filter(({ invalidIds }) => invalidIds > MAX_MISSING * requests)
    .map(({ name, invalidIds, invalidExample }) => {
      return `${invalidIds} of ${requests} requests (${percent(invalidIds, requests)}) have an invalid id for ${name}, which does not apply to them: ${invalidExample}`;
    });
}

function linesMissing({ lines, requests, skipped }: Read['counts'], late: number): string[] {
  const missing: string[] = [];
  const bad = Object.values(skipped).reduce((sum, each) => sum + each, 0);
  if (bad > MAX_MISSING * lines)
    missing.push(`${bad} of ${lines} lines (${percent(bad, lines)}) could not be read and are left out`);
  if (late > MAX_MISSING * requests) {
    const remedy = 'Sort the log by time, or give each file by its name instead of one pipe';
    missing.push(
      `${late} of ${requests} requests (${percent(late, requests)}) are more than 60 s older than a line before them and are left out. ${remedy}`,
    );
  }
  return missing;
}

/** What was seen while a log was read. */
interface Seen {
  readonly counts: ReadingCounts;
  /** Requests that came too late to be sorted in. */
  readonly late: number;
  readonly window: Pick<SortWindow, 'wasFull'>;
  readonly logs: readonly KnownLog[];
  readonly identified: readonly IdentifiedLimit[];
  readonly evicted: number;
  /** The first result of a cost above the burst, for which a server would have thrown. */
  readonly rejected: Result | undefined;
  /** Whether the counts of denials are bounds. */
  readonly hasBounds: boolean;
  /** Undefined without concurrency limits. */
  readonly slots: SlotsSeen | undefined;
}

/** What was seen of concurrency limits. */
interface SlotsSeen {
  /** Requests whose slots were released before their end, because too many were in progress. */
  readonly endedEarly: number;
  /** The limits that each process counts by itself. */
  readonly ofProcess: readonly string[];
}

const EARLIER_SECONDS = MAX_EARLIER_MICROS / 1_000_000;

const EXAMPLES = 'two examples, not bounds: all requests at the start of their second, and spread over it';
const BOUNDS =
  'The times are whole seconds. Two numbers of denied requests and ids are the fewest and the most that the limits can have denied. Other two numbers are';

/** What no log can show. */
const ALWAYS = [
  'A denied client would have retried, or not: the requests that denials cause or prevent are not in the log.',
  'A log shows what clients sent, not what they would send under limits that they know.',
];

/** Returns what the log can't show, and what limits the figures. */
export function notesOn({
  counts,
  late,
  window,
  logs,
  identified,
  evicted,
  slots,
  rejected,
  hasBounds,
}: Seen): string[] {
  const { requests } = counts;
  const notes: string[] = [];
  const most = (part: number): boolean => requests === 0 || part > requests / 2;
  if (hasWholeSeconds(logs.map(({ detected }) => detected)))
    notes.push(hasBounds ? `${BOUNDS} ${EXAMPLES}.` : `The times are whole seconds. Two numbers are ${EXAMPLES}.`);
  if (requests > 0 && !most(counts.withArrival))
    notes.push('The times are those of the end of each request. A log with $request_time shows when it arrived.');
  if (counts.movedArrivals > 0)
    notes.push(
      `${counts.movedArrivals} requests took longer than ${EARLIER_SECONDS} s: they are decided ${EARLIER_SECONDS} s before their end.`,
    );
  if (counts.tooLongDurations > 0)
    notes.push(`${counts.tooLongDurations} requests have a duration above a day, which is taken as unknown.`);
  if (!most(counts.withStatus))
    notes.push('Most lines have no status: which denied requests had succeeded is not known.');
  if (!most(counts.withTarget)) notes.push('Most lines have no method and path: routes and costs are not known.');
  if (identified.length > 1)
    notes.push(
      'Each curve, knee and smallest burst is about one limit alone. The other figures are about all limits together: a request that one limit denies takes no tokens of the others.',
    );
  for (const { name, clients } of identified) {
    if (requests > 0 && clients.size === 0) notes.push(`${name} applies to no request: no line has an id for it.`);
  }
  for (const { name, withoutId, rule } of identified) {
    const what = rule.from === 'field' ? rule.field : 'id';
    if (withoutId > requests / 10)
      notes.push(`${percent(withoutId, requests)} of the requests have no ${what}: ${name} does not apply to them.`);
  }
  for (const { name, invalidIds, invalidExample } of identified) {
    // More are said at the top of the report.
    if (invalidIds > 0 && invalidIds <= MAX_MISSING * requests)
      notes.push(`${invalidIds} requests have an invalid id for ${name}: ${invalidExample}`);
  }
  if (rejected !== undefined)
    notes.push(
      `Requests with a cost above the burst are not decided: a server would throw. The cost of the first is ${rejected.cost}, and the burst of ${rejected.limit} ${rejected.burst}. Raise the burst or lower the cost.`,
    );
  if (late > 0)
    notes.push(
      `${late} requests are more than 60 s older than a line before them. They are left out. Sort the log by time.`,
    );
  if (window.wasFull)
    notes.push('There were more requests in 60 s than fit into 32 MB, so lines could be less than 60 s out of order.');
  if (evicted > 0) notes.push(`The store was full: ${evicted} buckets were evicted, and denials may be missing.`);
  if (slots !== undefined) notes.push(...notesOnSlots(slots, requests - counts.withEnd));
  return [...notes, ...ALWAYS];
}

function notesOnSlots({ endedEarly, ofProcess }: SlotsSeen, withoutEnd: number): string[] {
  const notes = ofProcess.map((name) => {
    return `Each process counts ${name} by itself, but a log does not show the processes: it is replayed as one process.`;
  });
  if (withoutEnd > 0)
    notes.push(`${withoutEnd} requests have no duration: for concurrency limits they end as soon as they arrive.`);
  if (endedEarly > 0)
    notes.push(
      `More than ${countText(MAX_IN_PROGRESS)} requests held slots at once: ${endedEarly} released theirs before their end, and denials may be missing.`,
    );
  return notes;
}

function percent(part: number, whole: number): string {
  return `${((100 * part) / whole).toFixed(part / whole < 0.1 ? 1 : 0)} %`;
}

/** Returns what is to be known about the addresses of a log that a proxy or a server behind one has written. */
export function notesOnAddresses(
  logs: readonly KnownLog[],
  { trustedProxies, addressHeader = 'x-forwarded-for' }: AddressRule,
): string[] {
  const isForwarded = logs.some(({ detected }) => detected.isForwarded);
  if (trustedProxies === undefined && isForwarded)
    return ['The log has X-Forwarded-For, which is not read without --trust: all clients of a proxy count as one.'];
  if (trustedProxies !== undefined && !isForwarded && addressHeader.toLowerCase() === 'x-forwarded-for')
    return ['The first lines have no X-Forwarded-For, so --trust may have no effect.'];
  return [];
}
