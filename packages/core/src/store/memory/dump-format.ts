import { complaint, SluiceError } from '../../checks/errors.ts';
import { SECRET_BYTES } from './id-hasher.ts';
import { BYTES_PER_SLOT } from './segment.ts';

// The format of a dump. All numbers are little-endian.
//
// head    MAGIC; uint32 VERSION; the secret of the hashes; float64 wall clock in ms; uint32 number of tables
// table   uint8 1 if on the wall clock, else 0; float64 latest end of its periods; uint32 bytes of the limit's name;
//         uint32 number of buckets; the name in UTF-8; the buckets
// bucket  int32 low and int32 high word of the hash; float64 TAT if on the wall clock, else TAT − now
const MAGIC = 'SluiceMS';
const VERSION = 1;
const SECRET_AT = MAGIC.length + 4;
const WALL_AT = SECRET_AT + SECRET_BYTES;
const COUNT_AT = WALL_AT + 8;
const HEAD_BYTES = COUNT_AT + 4;
const TABLE_HEAD_BYTES = 1 + 8 + 4 + 4;

/** The buckets of a limit that are on one clock. */
export interface DumpedTable {
  readonly limit: string;
  readonly isOnWall: boolean;
  readonly latestEnd: number;
  /** The largest number of buckets that `forEach` visits. */
  readonly size: number;
  /** Visits each bucket that is not full, with the TAT of a bucket with a period, and else the TAT − now. */
  readonly forEach: (visit: (low: number, high: number, value: number) => void) => void;
}

/** What a dump contains. */
export interface Dump {
  readonly secret: Uint8Array;
  /** The wall clock when it was made, in milliseconds. */
  readonly wallMs: number;
  readonly tables: readonly DumpedTable[];
}

/** Writes a dump. */
export function writeDump({ secret, wallMs, tables }: Dump): Uint8Array {
  const names = tables.map(({ limit }) => new TextEncoder().encode(limit));
  const sizes = tables.map(({ size }, i) => TABLE_HEAD_BYTES + names[i]!.length + size * BYTES_PER_SLOT);
  const bytes = new Uint8Array(sizes.reduce((sum, size) => sum + size, HEAD_BYTES));
  const view = new DataView(bytes.buffer);
  bytes.set(new TextEncoder().encode(MAGIC));
  view.setUint32(MAGIC.length, VERSION, true);
  bytes.set(secret, SECRET_AT);
  view.setFloat64(WALL_AT, wallMs, true);
  view.setUint32(COUNT_AT, tables.length, true);
  let at = HEAD_BYTES;
  for (const [i, table] of tables.entries()) at = writeTable(view, at, table, names[i]!);
  return bytes.subarray(0, at);
}

/** @returns The position after the table. */
function writeTable(view: DataView, at: number, table: DumpedTable, name: Uint8Array): number {
  new Uint8Array(view.buffer).set(name, at + TABLE_HEAD_BYTES);
  const first = at + TABLE_HEAD_BYTES + name.length;
  let next = first;
  table.forEach((low, high, value) => {
    view.setInt32(next, low, true);
    view.setInt32(next + 4, high, true);
    view.setFloat64(next + 8, value, true);
    next += BYTES_PER_SLOT;
  });
  view.setUint8(at, table.isOnWall ? 1 : 0);
  view.setFloat64(at + 1, table.latestEnd, true);
  view.setUint32(at + 9, name.length, true);
  view.setUint32(at + 13, (next - first) / BYTES_PER_SLOT, true);
  return next;
}

/**
 * Reads a dump, and checks all of it.
 *
 * @throws {SluiceError} `ERR_DUMP` if it is not a whole dump of this version.
 */
export function readDump(dump: unknown): Dump {
  if (!(dump instanceof Uint8Array)) throw notADump(dump);
  const view = new DataView(dump.buffer, dump.byteOffset, dump.byteLength);
  if (dump.length < HEAD_BYTES || textOf(dump.subarray(0, MAGIC.length)) !== MAGIC) throw notADump(dump);
  const version = view.getUint32(MAGIC.length, true);
  if (version !== VERSION) throw unreadable(`is of format ${version}, and this version of Sluice reads ${VERSION}`);
  const wallMs = view.getFloat64(WALL_AT, true);
  if (!Number.isFinite(wallMs)) throw damaged();
  const tables: DumpedTable[] = [];
  let at = HEAD_BYTES;
  for (let count = view.getUint32(COUNT_AT, true); count > 0; count--) {
    const { table, end } = readTable(view, at);
    tables.push(table);
    at = end;
  }
  if (at !== dump.length) throw damaged();
  // A copy: `slice` of a Node Buffer is not one.
  return { secret: new Uint8Array(dump.subarray(SECRET_AT, WALL_AT)), wallMs, tables };
}

/** @returns A table, and the position after it. */
function readTable(view: DataView, at: number): { readonly table: DumpedTable; readonly end: number } {
  const nameAt = at + TABLE_HEAD_BYTES;
  if (nameAt > view.byteLength) throw damaged();
  const first = nameAt + view.getUint32(at + 9, true);
  const size = view.getUint32(at + 13, true);
  const end = first + size * BYTES_PER_SLOT;
  if (end > view.byteLength) throw damaged();
  forEachBucket(view, first, end, checkBucket);
  const limit = textOf(new Uint8Array(view.buffer, view.byteOffset + nameAt, first - nameAt));
  const latestEnd = view.getFloat64(at + 1, true);
  const forEach: DumpedTable['forEach'] = (visit) => forEachBucket(view, first, end, visit);
  return { table: { limit, isOnWall: view.getUint8(at) === 1, latestEnd, size, forEach }, end };
}

function forEachBucket(view: DataView, first: number, end: number, visit: Parameters<DumpedTable['forEach']>[0]): void {
  for (let at = first; at < end; at += BYTES_PER_SLOT) {
    visit(view.getInt32(at, true), view.getInt32(at + 4, true), view.getFloat64(at + 8, true));
  }
}

// 0 marks an empty slot, and a TAT that is not a number would never pass.
function checkBucket(low: number, _high: number, value: number): void {
  if ((low & 1) === 0 || !Number.isFinite(value)) throw damaged();
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

function notADump(value: unknown): SluiceError {
  return complaint('ERR_DUMP', {
    option: 'dump',
    demand: 'the bytes that dump() of a memory store has returned',
    value,
    remedy: 'Without a dump, do not call restore(): all buckets are then full.',
  });
}

function damaged(): SluiceError {
  return unreadable('is incomplete or damaged');
}

function unreadable(reason: string): SluiceError {
  return new SluiceError('ERR_DUMP', `The dump ${reason}. Do not restore it: all buckets are then full.`);
}
