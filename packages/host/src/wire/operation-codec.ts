import { SluiceError } from '@sluice/core';
import {
  MODES,
  type StoreBucket,
  type StoreHold,
  type StoreOperation,
  type StoreRefund,
  type StoreTransaction,
} from '@sluice/core/store';
import type { Frame } from './frame.ts';
import type { FrameWriter } from './frame-writer.ts';

const KINDS = ['spend', 'check', 'charge', 'refund', 'cap', 'renew', 'release', 'reset', 'holders'] as const;

/** What a process can ask the one that serves: the operations of a store, and who holds slots. */
export type HostOperation = StoreOperation | { readonly kind: 'holders'; readonly batch: readonly StoreBucket[] };

/** An entry of any batch. All have the same properties, so that the code that reads them sees one kind of object. */
type WireEntry = StoreBucket & {
  readonly [Name in keyof Fields]?: Fields[Name] | undefined;
};
type Fields = StoreTransaction & StoreRefund & Omit<StoreHold, 'slots'>;

// What an entry has beside its names, two numbers and its mode: the bits of one number.
const MODE_BITS = 4;
const CALENDAR = 4;
const SLOTS = 8;
const LINE = 16;
const TAT = 32;
const PERIOD = 64;
const HOLDING = 128;
const HOLD = 256;
const CAP = 512;
/** The entry has the limit of the one before it in the frame, whose name is left out. */
const SAME_LIMIT = 1024;
const ALL_BITS = 2047;

/** An operation as it was received. */
export interface ReceivedOperation {
  readonly operation: HostOperation;
  /** When the caller stops waiting, by the clock that all processes of the host share. 0: not known. */
  readonly dueMicros: number;
}

/** @param dueMicros - As in a {@link ReceivedOperation}. */
export function encodeOperation(writer: FrameWriter, operation: HostOperation, dueMicros: number): void {
  writer.number(KINDS.indexOf(operation.kind));
  writer.number(dueMicros);
  if ('alternatives' in operation) {
    writer.number(operation.alternatives.length);
    for (const batch of operation.alternatives) encodeBatch(writer, batch);
  } else {
    encodeBatch(writer, operation.batch);
  }
}

/** @throws {Error} If it is malformed. */
export function decodeOperation(frame: Frame): ReceivedOperation {
  const kind = KINDS[frame.number()];
  const dueMicros = frame.number();
  if (kind === undefined) throw new Error('sent an unknown operation');
  if (kind === 'spend' || kind === 'check') {
    const alternatives = decodeList(frame, decodeBatch) as readonly (readonly StoreTransaction[])[];
    return { operation: { kind, alternatives }, dueMicros };
  }
  // The sender has the same version, so its entries are those of this kind.
  return { operation: { kind, batch: decodeBatch(frame) } as HostOperation, dueMicros };
}

function encodeBatch(writer: FrameWriter, batch: readonly WireEntry[]): void {
  writer.number(batch.length);
  for (let i = 0; i < batch.length; i++) encodeEntry(writer, batch[i]!);
}

function decodeBatch(frame: Frame): readonly WireEntry[] {
  return decodeList(frame, decodeEntry);
}

/** Reads a number of things, and that many of them. */
export function decodeList<T>(frame: Frame, decode: (frame: Frame) => T): T[] {
  const list: T[] = [];
  for (let left = frame.count(); left > 0; left--) list.push(decode(frame));
  return list;
}

function encodeEntry(writer: FrameWriter, entry: WireEntry): void {
  const { capTicks, calendar, lineTicks, tatAfterSpendTicks, period, holding, holder } = entry;
  const isSameLimit = entry.limit === writer.limit;
  writer.number(isSameLimit ? bitsOf(entry) + SAME_LIMIT : bitsOf(entry));
  if (!isSameLimit) writer.text((writer.limit = entry.limit));
  writer.text(entry.id);
  writer.number(entry.incrementTicks ?? 0);
  writer.number(entry.fitTicks ?? 0);
  if (capTicks !== undefined) writer.number(capTicks);
  if (calendar !== undefined) writer.text(calendar);
  if (lineTicks !== undefined) writer.number(lineTicks);
  if (tatAfterSpendTicks !== undefined) writer.number(tatAfterSpendTicks);
  if (period !== undefined) for (const ms of period) writer.number(ms);
  if (holding !== undefined) {
    writer.text(holding.holder);
    writer.number(holding.expiryMs);
  }
  if (holder !== undefined) {
    writer.text(holder);
    for (const number of [entry.expiryMs, entry.first, entry.count]) writer.number(number!);
  }
}

function bitsOf(entry: WireEntry): number {
  const { mode, capTicks, calendar, slots, lineTicks, tatAfterSpendTicks, period, holding, holder } = entry;
  let bits = mode === undefined ? 0 : MODES.indexOf(mode);
  if (capTicks !== undefined) bits += CAP;
  if (calendar !== undefined) bits += CALENDAR;
  if (slots) bits += SLOTS;
  if (lineTicks !== undefined) bits += LINE;
  if (tatAfterSpendTicks !== undefined) bits += TAT;
  if (period !== undefined) bits += PERIOD;
  if (holding !== undefined) bits += HOLDING;
  if (holder !== undefined) bits += HOLD;
  return bits;
}

// In the order in which `encodeEntry` writes: an object literal is evaluated from top to bottom.
function decodeEntry(frame: Frame): WireEntry {
  const bits = frame.number();
  if (!Number.isInteger(bits) || bits < 0 || bits > ALL_BITS) throw new Error('sent an unknown kind of entry');
  const has = (bit: number): boolean => (bits & bit) !== 0;
  return {
    mode: MODES[bits % MODE_BITS],
    limit: decodeLimit(frame, has(SAME_LIMIT)),
    id: frame.text(),
    incrementTicks: frame.number(),
    fitTicks: frame.number(),
    capTicks: has(CAP) ? frame.number() : undefined,
    calendar: has(CALENDAR) ? frame.text() : undefined,
    slots: has(SLOTS) ? true : undefined,
    lineTicks: has(LINE) ? frame.number() : undefined,
    tatAfterSpendTicks: has(TAT) ? frame.number() : undefined,
    period: has(PERIOD) ? [frame.number(), frame.number(), frame.number()] : undefined,
    holding: has(HOLDING) ? { holder: copyText(frame.text()), expiryMs: frame.number() } : undefined,
    holder: has(HOLD) ? copyText(frame.text()) : undefined,
    expiryMs: has(HOLD) ? frame.number() : undefined,
    first: has(HOLD) ? frame.number() : undefined,
    count: has(HOLD) ? frame.number() : undefined,
  };
}

/** The name that was read last. Most calls have the same limit, and the hash of a known string is computed once. */
let lastLimit = '';

function decodeLimit(frame: Frame, isSame: boolean): string {
  if (!isSame) {
    const limit = frame.text();
    if (limit !== lastLimit) lastLimit = copyText(limit);
    frame.limit = lastLimit;
  }
  if (frame.limit === undefined) throw new Error('sent an entry without a limit');
  return frame.limit;
}

/** Copies a text that the store keeps: a part of a text keeps the whole frame's text in memory. */
function copyText(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}

/** The error for an operation that does not fit into a frame. */
export function tooLargeError(bytes: number, maxBytes: number): SluiceError {
  return new SluiceError(
    'ERR_OPTION',
    `An operation of up to ${bytes} bytes is too large for a host store, which accepts ${maxBytes}. Name fewer ` +
      'buckets in one call.',
  );
}
