import { FRAME_HEAD, framed } from '../grpc/frames.ts';
import { ProtoWriter } from '../protobuf/writer.ts';

/** `RateLimitResponse.Code`. */
export const CODE = { ok: 1, overLimit: 2 } as const;
export type Code = (typeof CODE)[keyof typeof CODE];

/** The answer to Envoy: `envoy.service.ratelimit.v3.RateLimitResponse`. */
export interface RlsResponse {
  readonly overallCode: Code;
  /** One for each descriptor, in their order. */
  readonly statuses: readonly DescriptorStatus[];
  /** Fields for the response to the client. */
  readonly headers: Iterable<readonly [name: string, value: string]>;
  /** The body of the response to the client; '' for none. */
  readonly body: string;
  readonly metadata: Metadata | undefined;
}

/** `RateLimitResponse.DescriptorStatus`. */
export interface DescriptorStatus {
  readonly code: Code;
  readonly currentLimit: CurrentLimit | undefined;
  readonly remaining: number;
  readonly untilResetMs: number | undefined;
}

/** `RateLimitResponse.RateLimit`. */
export interface CurrentLimit {
  readonly name: string;
  readonly requestsPerUnit: number;
  /** `Unit` of the protocol; 0 if none of them is the period of the limit. */
  readonly unit: number;
}

/** What Envoy passes on to its other filters and to its access log. */
export interface Metadata {
  readonly limit: string;
  readonly remaining: number;
  readonly retryAfterMs: number;
  readonly violatedPolicies: readonly string[];
}

/** Writes a response as a frame. */
export function writeResponse(response: RlsResponse): Buffer {
  const writer = new ProtoWriter(FRAME_HEAD);
  writer.uint(1, response.overallCode);
  for (const status of response.statuses) writeStatus(writer, status);
  for (const [name, value] of response.headers) {
    const start = writer.beginMessage(3);
    writer.text(1, name);
    writer.text(2, value);
    writer.endMessage(start);
  }
  writer.text(5, response.body);
  if (response.metadata !== undefined) writeMetadata(writer, response.metadata);
  return framed(writer.finish());
}

/** The protocol has 32 bits for a number of requests. */
const MOST_UINT32 = 2 ** 32 - 1;

function writeStatus(writer: ProtoWriter, { code, currentLimit, remaining, untilResetMs }: DescriptorStatus): void {
  const start = writer.beginMessage(2);
  writer.uint(1, code);
  if (currentLimit !== undefined) writeCurrentLimit(writer, currentLimit);
  writer.uint(3, Math.min(remaining, MOST_UINT32));
  if (untilResetMs !== undefined && Number.isFinite(untilResetMs)) writeDuration(writer, untilResetMs);
  writer.endMessage(start);
}

function writeCurrentLimit(writer: ProtoWriter, { requestsPerUnit, unit, name }: CurrentLimit): void {
  const start = writer.beginMessage(2);
  writer.uint(1, Math.min(requestsPerUnit, MOST_UINT32));
  writer.uint(2, unit);
  writer.text(3, name);
  writer.endMessage(start);
}

/** `google.protobuf.Duration`, exact to the microsecond of our waits. */
function writeDuration(writer: ProtoWriter, ms: number): void {
  const micros = Math.round(ms * 1000);
  const start = writer.beginMessage(4);
  writer.uint(1, Math.floor(micros / 1e6));
  writer.uint(2, (micros % 1e6) * 1000);
  writer.endMessage(start);
}

/** The fields of `google.protobuf.Value`. */
const VALUE = { number: 2, text: 3, list: 6 } as const;

/** A `google.protobuf.Struct`. */
function writeMetadata(writer: ProtoWriter, { limit, remaining, retryAfterMs, violatedPolicies }: Metadata): void {
  const start = writer.beginMessage(6);
  writeEntry(writer, 'limit', limit);
  writeEntry(writer, 'remaining', remaining);
  if (Number.isFinite(retryAfterMs)) writeEntry(writer, 'retry_after_ms', retryAfterMs);
  if (violatedPolicies.length > 0) writeEntry(writer, 'violated_policies', violatedPolicies);
  writer.endMessage(start);
}

function writeEntry(writer: ProtoWriter, key: string, value: string | number | readonly string[]): void {
  const start = writer.beginMessage(1);
  writer.text(1, key);
  writeValue(writer, 2, value);
  writer.endMessage(start);
}

function writeValue(writer: ProtoWriter, field: number, value: string | number | readonly string[]): void {
  const start = writer.beginMessage(field);
  if (typeof value === 'number') writer.double(VALUE.number, value);
  else if (typeof value === 'string') writer.text(VALUE.text, value);
  else {
    const list = writer.beginMessage(VALUE.list);
    for (const each of value) writeValue(writer, 1, each);
    writer.endMessage(list);
  }
  writer.endMessage(start);
}
