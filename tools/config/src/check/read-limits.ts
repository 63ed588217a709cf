// The room check: what limits and overrides contain together, and the text of problems.
import { createHash } from 'node:crypto';
import type { Awaitable, OverrideList } from '@sluice/core';
import { Problems } from '../nodes/problems.ts';
import type { LimitRow } from '../shape/limits-shape.ts';
import { contentsOf, type Content, type Source } from '../sources/source.ts';
import { rowsOfData, rowsOfText } from '../sources/rows.ts';
import type { Rows, SourcePart } from '../sources/parse.ts';
import type { ThreadBounds } from '../sources/parser-thread.ts';
import { TimeSlice } from '../sources/time-slice.ts';
import type { Formats } from './formats.ts';
import { OverrideCheck } from './override-check.ts';
import { PoolCheck } from './pool-check.ts';
import { problemsOf, type Problem } from './problem.ts';

/** The sources of a reading and their bounds. */
export interface ReadOptions {
  readonly defaults: Source<'defaults'>;
  readonly overrides: Source<'overrides'> | undefined;
  readonly maxBytes: number;
  readonly bounds: ThreadBounds;
}

interface Checking extends ReadOptions {
  readonly formats: Formats;
  /** Aborted when the check has succeeded or failed, to end the parsing threads. */
  readonly signal: AbortSignal;
}

/** The result of a reading. Use limits and overrides only if `problemCount` is 0. */
export interface LimitsRead {
  readonly limits: ReadonlyMap<string, LimitRow>;
  readonly overrides: OverrideList;
  /** A hash of the content of both sources. */
  readonly version: string;
  readonly problems: readonly Problem[];
  /** The number of problems, including those that are not listed. */
  readonly problemCount: number;
}

/** Reads and validates both sources, in slices of a few milliseconds. */
export async function readLimits(options: ReadOptions, formats: Formats): Promise<LimitsRead> {
  const { defaults, overrides, maxBytes, bounds } = options;
  const sources = overrides === undefined ? [defaults] : [defaults, overrides];
  const contents = await contentsOf(sources, { maxBytes, timeMs: bounds.timeMs, time: bounds.time });
  // Concatenating the chunks of a large file takes a few milliseconds.
  await new TimeSlice().pass();
  const ended = new AbortController();
  try {
    return await checkContents(contents, { ...options, formats, signal: ended.signal });
  } finally {
    ended.abort();
  }
}

async function checkContents(contents: readonly Content[], options: Checking): Promise<LimitsRead> {
  const { defaults, overrides, formats } = options;
  const [ofDefaults, ofOverrides, slice] = [new Problems(), new Problems(), new TimeSlice()];
  const [ofFirst, ofSecond] = contents;
  const defaultRows = rowsFrom(defaults.part, ofFirst!, options, ofDefaults);
  // Starting a thread takes a few milliseconds.
  await slice.pass();
  const listedRows = overrides && rowsFrom(overrides.part, ofSecond!, options, ofOverrides);
  const limits = new Map<string, LimitRow>();
  const defaultsHash = await eachRow(defaultRows, { slice, problems: ofDefaults }, (row) => {
    limits.set(row.name, row);
    formats.check(row, ofDefaults);
  });
  const names = ofDefaults.unreadable ? undefined : new Set(limits.keys());
  if (names !== undefined) formats.finish(names, ofDefaults);
  const pools = new PoolCheck(limits, formats, ofDefaults);
  const check = new OverrideCheck({ formats, limits: names && limits, pools }, ofOverrides);
  const overridesHash =
    listedRows && (await eachRow(listedRows, { slice, problems: ofOverrides }, (row) => check.take(row, slice)));
  pools.finish(check.list, ofOverrides, ofDefaults);
  return {
    limits,
    overrides: check.list,
    version: versionOf(defaultsHash, overridesHash),
    problems: [
      ...problemsOf(defaults.label, ofDefaults),
      ...(overrides === undefined ? [] : problemsOf(overrides.label, ofOverrides)),
    ],
    problemCount: ofDefaults.count + ofOverrides.count,
  };
}

type Reading<P extends SourcePart> = AsyncGenerator<Rows[P], string>;

function rowsFrom<P extends SourcePart>(
  part: P,
  content: Content,
  { bounds, signal }: Checking,
  problems: Problems,
): Reading<P> {
  if ('rejected' in content) return rejected(content.rejected, problems);
  return 'bytes' in content
    ? rowsOfText({ part, bytes: content.bytes }, problems, { ...bounds, signal })
    : rowsOfData({ part, value: content.value }, problems);
}

// oxlint-disable-next-line require-yield -- There are no rows.
async function* rejected(reason: string, problems: Problems): AsyncGenerator<never, string> {
  problems.addUnreadable('', reason);
  return '';
}

async function eachRow<Row>(
  rows: AsyncGenerator<Row, string>,
  { slice, problems }: { readonly slice: TimeSlice; readonly problems: Problems },
  take: (row: Row) => Awaitable<void>,
): Promise<string> {
  for (;;) {
    const step = await rows.next();
    if (step.done === true) return step.value;
    await take(step.value);
    // The rest would only add to them.
    if (problems.isFull) {
      await rows.return('');
      return '';
    }
    if (slice.isOver) await slice.pass();
  }
}

function versionOf(...hashes: readonly (string | undefined)[]): string {
  return createHash('sha256').update(hashes.join(' ')).digest('hex').slice(0, 16);
}
