// The room files: the content of all files at one moment, and their changes.
import {
  contentsOf,
  FileSignatures,
  Problems,
  problemsError,
  problemsOf,
  readWithoutKeys,
  type Source,
} from '@sluice/config/kit';
import type { LimitSource } from '@sluice/config';
import { SluiceError, type IdFormat, type Limits, type OverrideList, type Time } from '@sluice/core';
import { createHash } from 'node:crypto';
import { checkTables } from '../tables/check-tables.ts';
import { readTables } from '../tables/read-tables.ts';
import type { Tables } from '../tables/table.ts';

/** The content of all files at one moment, validated as a whole. */
export interface Snapshot {
  /** With the failure policies of the tables. */
  readonly limits: Limits;
  readonly overrides: OverrideList;
  readonly tables: Tables;
  /** The id format of each limit. */
  readonly formats: ReadonlyMap<string, IdFormat>;
  /** A hash of the content. Every process with the same files has the same. */
  readonly version: string;
}

/** Where a snapshot is read from. */
export interface SnapshotSources {
  readonly limits: LimitSource;
  readonly overrides: LimitSource | undefined;
  readonly tables: Source;
  /** Id formats beside those of core. */
  readonly formats: readonly IdFormat[];
  /** The largest size of the files of limits and of overrides. */
  readonly maxBytes: number | undefined;
  readonly files: FileSignatures;
  readonly time: Time;
}

/** The largest file of tables: it is parsed in the thread that answers. */
const MAX_TABLE_BYTES = 262_144;
/** How often files are read again that change while they are read. */
const READINGS = 5;

/**
 * Reads all files, those of one moment.
 *
 * @throws {SluiceError} `ERR_LIMIT_FILES` if they have problems.
 */
export async function readSnapshot(sources: SnapshotSources): Promise<Snapshot> {
  for (let reading = 1; ; reading++) {
    // oxlint-disable-next-line no-await-in-loop -- one reading after the other
    const before = await sources.files.now();
    // oxlint-disable-next-line no-await-in-loop
    const outcome = await readOnce(sources).then(
      (snapshot) => ({ snapshot }),
      (error: unknown) => ({ error }),
    );
    // oxlint-disable-next-line no-await-in-loop
    if ((await sources.files.now()) !== before && reading < READINGS) continue;
    if ('error' in outcome) throw outcome.error;
    return outcome.snapshot;
  }
}

async function readOnce(sources: SnapshotSources): Promise<Snapshot> {
  const { limits: defaults, overrides, formats, maxBytes } = sources;
  const problems = new Problems();
  const [loaded, content] = await Promise.all([
    readWithoutKeys({ defaults, overrides, formats, maxBytes }, sources.files.follow).catch((error: unknown) =>
      asProblems(error),
    ),
    contentsOf([sources.tables], { maxBytes: MAX_TABLE_BYTES, timeMs: 60_000, time: sources.time }),
  ]);
  const tables = readTables(content[0]!, problems);
  if (problems.count > 0) throw withProblems(loaded, problemsOfTables(sources, problems));
  if (loaded instanceof SluiceError) throw loaded;
  checkTables(tables, loaded.limits, problems);
  if (problems.count > 0) throw problemsOfTables(sources, problems);
  return {
    limits: withPolicies(loaded.limits, tables),
    overrides: loaded.overrides,
    tables,
    formats: new Map(Object.entries(loaded.limits).map(([name, { key }]) => [name, key!.format])),
    version: versionOf(loaded.version, content[0]!),
  };
}

function problemsOfTables({ tables }: SnapshotSources, problems: Problems): SluiceError {
  return problemsError(problemsOf(tables.label, problems), problems.count, 'tables');
}

function asProblems(error: unknown): SluiceError {
  if (error instanceof SluiceError && error.code === 'ERR_LIMIT_FILES') return error;
  throw error;
}

/** Both kinds of files may have problems: all are reported together. */
function withProblems(loaded: unknown, ofTables: SluiceError): SluiceError {
  if (!(loaded instanceof SluiceError)) return ofTables;
  return new SluiceError('ERR_LIMIT_FILES', `${loaded.message}\n${ofTables.message}`);
}

function withPolicies(limits: Limits, { onFailure }: Tables): Limits {
  const entries = Object.entries(limits).map(([name, definition]) => {
    const own = onFailure.get(name);
    return [name, own === undefined ? definition : { ...definition, onFailure: own.policy }] as const;
  });
  return Object.fromEntries(entries);
}

function versionOf(limits: string, content: object): string {
  const text = 'bytes' in content ? (content.bytes as Uint8Array) : JSON.stringify(content);
  return createHash('sha256').update(limits).update(text).digest('hex').slice(0, 16);
}
