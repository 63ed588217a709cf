import { SluiceError } from '../../checks/errors.ts';
import { TICKS_PER_MS } from '../../rule/ticks.ts';
import type { BucketTable } from './bucket-table.ts';
import type { Dumped } from './buckets.ts';
import { readDump, writeDump, type DumpedTable } from './dump-format.ts';

/** The wall clock counts whole milliseconds, so the time between two readings may be shorter than they say by this. */
const ROUNDING_MS = 1;

/** Returns the buckets that are not full, as bytes. */
export function dumpOf({ tables, hasher, wall }: Dumped, now: number): Uint8Array {
  const wallMs = wall.nowMs();
  const dropTime = wall.dropTime(wallMs);
  const dumped = tables.all.map((table) => dumpedTable(table, table, { now, dropTime }));
  return writeDump({ secret: hasher.secret, wallMs, tables: dumped });
}

/**
 * Returns the same as dumps of one segment each, so that no step takes long. The store must not change meanwhile.
 */
export function* dumpsOf({ tables, hasher, wall }: Dumped, now: number, wallMs: number): Generator<Uint8Array> {
  const dropTime = wall.dropTime(wallMs);
  for (const table of tables.all) {
    let prefix = 0;
    do {
      const segment = table.segmentAt(prefix);
      const part = dumpedTable(table, segment, { now, dropTime });
      if (segment.size > 0) yield writeDump({ secret: hasher.secret, wallMs, tables: [part] });
      prefix = segment.nextPrefix;
    } while (prefix !== 0);
  }
}

// Buckets with a period are on the wall clock already. The clock of the others begins anew with each store.
function dumpedTable(
  { limit, latestEnd, wall }: BucketTable,
  part: Pick<BucketTable, 'size' | 'forEachLive'>,
  { now, dropTime }: { readonly now: number; readonly dropTime: number },
): DumpedTable {
  return {
    limit,
    isOnWall: wall !== undefined,
    latestEnd,
    size: part.size,
    forEach: (visit) => {
      if (wall !== undefined) part.forEachLive(dropTime, visit);
      else part.forEachLive(now, (low, high, tat) => visit(low, high, tat - now));
    },
  };
}

/**
 * Adds the buckets of a dump to a store that has none.
 *
 * @throws {SluiceError} `ERR_DUMP` if it has some, or the bytes are not a dump. Nothing has changed.
 */
export function restoreInto(into: Dumped, dump: Uint8Array, now: number): void {
  if (into.tables.totals.size > 0) throw notEmpty();
  addDump(into, dump, now);
}

/** Adds the buckets of a dump to a store that has none but those of other dumps of the same store. */
export function addDump({ tables, hasher, wall }: Dumped, dump: Uint8Array, now: number): void {
  const { secret, wallMs, tables: dumped } = readDump(dump);
  hasher.secret = secret;
  const nowMs = wall.nowMs();
  const passedTicks = passedSince(wallMs, nowMs);
  for (const { limit, isOnWall, latestEnd, size, forEach } of dumped) {
    if (size === 0) continue;
    const table =
      (isOnWall ? tables.findOnWall(limit) : tables.find(limit)) ?? tables.create(limit, isOnWall ? wall : undefined);
    table.latestEnd = Math.max(table.latestEnd, latestEnd);
    if (isOnWall) forEach((low, high, tat) => table.put(low, high, tat, wall.dropTime(nowMs)));
    else
      forEach((low, high, level) => {
        if (level > passedTicks) table.put(low, high, now + level - passedTicks, now);
      });
    tables.ranked(table);
  }
}

/** The least time since another reading of the wall clock, in ticks. */
export function passedSince(wallMs: number, nowMs: number): number {
  return Math.max(0, nowMs - wallMs - ROUNDING_MS) * TICKS_PER_MS;
}

function notEmpty(): SluiceError {
  return new SluiceError(
    'ERR_DUMP',
    'This memory store already has buckets. Restore a dump before the first decision.',
  );
}
