import { FRAME_HEAD, framed } from '../grpc/frames.ts';
import { ProtoWriter } from '../protobuf/writer.ts';

/** `RateLimitResponse.Code`. */
export const CODE = { ok: 1, overLimit: 2 } as const;
type Code = (typeof CODE)[keyof typeof CODE];

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
  readonly currentLimit?: CurrentLimit;
  readonly remaining?: number;
  readonly untilResetMs?: number;
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
  for (const status of response.statuses) writer.message(2, () => writeStatus(writer, status));
  for (const [name, value] of response.headers) {
    writer.message(3, () => {
      writer.text(1, name);
      writer.text(2, value);
    });
  }
  writer.text(5, response.body);
  const { metadata } = response;
  if (metadata !== undefined) writer.message(6, () => writeMetadata(writer, metadata));
  return framed(writer.finish());
}

function writeStatus(writer: ProtoWriter, { code, currentLimit, remaining = 0, untilResetMs }: DescriptorStatus): void {
  writer.uint(1, code);
  if (currentLimit !== undefined) {
    writer.message(2, () => {
      writer.uint(1, currentLimit.requestsPerUnit);
      writer.uint(2, currentLimit.unit);
      writer.text(3, currentLimit.name);
    });
  }
  writer.uint(3, Math.min(remaining, 2 ** 32 - 1));
  if (untilResetMs !== undefined && Number.isFinite(untilResetMs))
    writer.message(4, () => writeDuration(writer, untilResetMs));
}

/** `google.protobuf.Duration`, exact to the microsecond of our waits. */
function writeDuration(writer: ProtoWriter, ms: number): void {
  const micros = Math.round(ms * 1000);
  writer.uint(1, Math.floor(micros / 1e6));
  writer.uint(2, (micros % 1e6) * 1000);
}

/** A `google.protobuf.Struct`. */
function writeMetadata(writer: ProtoWriter, metadata: Metadata): void {
  entry(writer, 'limit', () => writer.text(3, metadata.limit));
  entry(writer, 'remaining', () => writer.double(2, metadata.remaining));
  if (Number.isFinite(metadata.retryAfterMs))
    entry(writer, 'retry_after_ms', () => writer.double(2, metadata.retryAfterMs));
  if (metadata.violatedPolicies.length === 0) return;
  entry(writer, 'violated_policies', () => {
    writer.message(6, () => {
      for (const name of metadata.violatedPolicies) writer.message(1, () => writer.text(3, name));
    });
  });
}

function entry(writer: ProtoWriter, key: string, value: () => void): void {
  writer.message(1, () => {
    writer.text(1, key);
    writer.message(2, value);
  });
}
