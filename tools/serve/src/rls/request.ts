import { FRAME_HEAD, TooLargeMessage } from '../grpc/frames.ts';
import { GrpcError, STATUS } from '../grpc/grpc-error.ts';
import { ProtoReader, WIRE } from '../protobuf/reader.ts';
import type { DescriptorEntry } from '../tables/descriptor-tree.ts';

/** A request of Envoy: `envoy.service.ratelimit.v3.RateLimitRequest`. */
export interface RlsRequest {
  readonly domain: string;
  readonly descriptors: readonly Descriptor[];
}

/** One descriptor: `envoy.extensions.common.ratelimit.v3.RateLimitDescriptor`. */
export interface Descriptor {
  readonly entries: readonly DescriptorEntry[];
  /** How many hits; 0 for a check that takes nothing. The number of the descriptor, or of the request, or 1. */
  readonly hits: number;
  /** Whether the hits are given back. */
  readonly isNegative: boolean;
}

/** More would make one request arbitrarily expensive. */
const MAX_DESCRIPTORS = 64;
const MAX_ENTRIES = 64;

/**
 * Reads a request from its frame.
 *
 * @throws {TooLargeMessage} If it has too many descriptors, or one too many entries.
 * @throws {GrpcError} If it has no domain or no descriptors.
 * @throws {MalformedMessage} If the bytes are not such a message.
 */
export function readRequest(frame: Buffer): RlsRequest {
  const reader = new ProtoReader(frame, FRAME_HEAD);
  const descriptors: Mutable<Descriptor>[] = [];
  let domain = '';
  let hitsAddend = 0;
  while (reader.next()) {
    if (reader.is(1, WIRE.bytes)) domain = reader.text();
    else if (reader.is(2, WIRE.bytes)) {
      if (descriptors.length === MAX_DESCRIPTORS)
        throw new TooLargeMessage(`A request must have at most ${MAX_DESCRIPTORS} descriptors.`);
      descriptors.push(readDescriptor(reader.message()));
    } else if (reader.is(3, WIRE.varint)) hitsAddend = reader.uint64();
    else reader.skip();
  }
  if (domain === '') throw refused('A request must have a domain.');
  if (descriptors.length === 0) throw refused('A request must have a descriptor.');
  // The addend of the request comes behind the descriptors that need it.
  for (const descriptor of descriptors) if (descriptor.hits === UNSET) descriptor.hits = Math.max(1, hitsAddend);
  return { domain, descriptors };
}

function refused(message: string): GrpcError {
  return new GrpcError(STATUS.invalidArgument, message);
}

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

/** The hits of a descriptor without an addend of its own. */
const UNSET = -1;

// Field 2, numbers that the caller wants to have, is not read: the numbers are those of the file of limits.
function readDescriptor(reader: ProtoReader): Mutable<Descriptor> {
  const entries: DescriptorEntry[] = [];
  let hits = UNSET;
  let isNegative = false;
  while (reader.next()) {
    if (reader.is(1, WIRE.bytes)) {
      if (entries.length === MAX_ENTRIES)
        throw new TooLargeMessage(`A descriptor must have at most ${MAX_ENTRIES} entries.`);
      entries.push(readEntry(reader.message()));
    } else if (reader.is(3, WIRE.bytes)) hits = readWrapped(reader.message());
    else if (reader.is(4, WIRE.varint)) isNegative = reader.uint64() !== 0;
    else reader.skip();
  }
  return { entries, hits, isNegative };
}

function readEntry(reader: ProtoReader): DescriptorEntry {
  let key = '';
  let value = '';
  while (reader.next()) {
    if (reader.is(1, WIRE.bytes)) key = reader.text();
    else if (reader.is(2, WIRE.bytes)) value = reader.text();
    else reader.skip();
  }
  return { key, value };
}

/** Reads a `google.protobuf.UInt64Value`, which is there even if its value is 0. */
function readWrapped(reader: ProtoReader): number {
  let value = 0;
  while (reader.next()) {
    if (reader.is(1, WIRE.varint)) value = reader.uint64();
    else reader.skip();
  }
  return value;
}
