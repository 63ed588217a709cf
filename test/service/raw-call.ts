import { once } from 'node:events';
import type { ClientHttp2Session } from 'node:http2';

const PATH = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit';

/** A number in the encoding of protocol buffers. */
export function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value % 0x80) | 0x80, ...varint(Math.floor(value / 0x80))];
}

/** A field with bytes: a text or a message. */
export function bytesField(field: number, content: readonly number[]): number[] {
  return [...varint(field * 8 + 2), ...varint(content.length), ...content];
}

export function text(value: string): number[] {
  return [...Buffer.from(value)];
}

/** What came of a call. */
export interface Called {
  readonly status: string | undefined;
  readonly httpStatus: unknown;
  /** The message of the answer, in its frame; empty for none. */
  readonly answer: Buffer;
}

/** Sends bytes as a call, and returns the status. */
export async function call(
  session: ClientHttp2Session,
  body: Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): Promise<Called> {
  const stream = session.request({
    ':method': 'POST',
    ':path': PATH,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...headers,
  });
  let status: string | undefined;
  let httpStatus: unknown;
  const parts: Buffer[] = [];
  const take = (given: Record<string, unknown>): void => {
    httpStatus ??= given[':status'];
    status ??= given['grpc-status'] as string | undefined;
  };
  stream
    .on('response', take)
    .on('trailers', take)
    .on('error', () => undefined);
  stream.end(body);
  stream.on('data', (chunk: Buffer) => parts.push(chunk));
  await once(stream, 'close');
  return { status, httpStatus, answer: Buffer.concat(parts) };
}

/** A message behind the head of its frame. */
export function frame(message: ArrayLike<number>, flag = 0, length: number = message.length): Uint8Array {
  const head = Buffer.alloc(5);
  head[0] = flag;
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, Uint8Array.from(message)]);
}
