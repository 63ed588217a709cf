// The room grpc: unary calls of gRPC over `node:http2`, and health checks.
import type { Awaitable, Time } from '@sluice/core';
import { grpcTimeoutMs } from '@sluice/core/http';
import { afterInput, Deadlines, type Wait } from '@sluice/core/kit';
import { constants, type IncomingHttpHeaders, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { MalformedMessage } from '../protobuf/reader.ts';
import { UnaryBody } from './frames.ts';
import { GrpcError, STATUS } from './grpc-error.ts';

/**
 * Answers one unary method: takes the body of a call, returns a framed message. It may throw or reject.
 *
 * @param leftMs - For how long the caller still waits, in milliseconds; undefined if the call does not say it.
 */
export type UnaryMethod = (body: UnaryBody, leftMs?: number) => Awaitable<Buffer>;

/** What a {@link GrpcHandler} asks of its service. */
export interface GrpcParts {
  /** The methods, by their paths. */
  readonly methods: ReadonlyMap<string, UnaryMethod>;
  readonly isTrusted: (stream: ServerHttp2Stream) => boolean;
  readonly time: Time;
  /** Reports an error of this program. */
  readonly failed: (cause: unknown) => void;
}

const { HTTP2_HEADER_STATUS, HTTP2_HEADER_CONTENT_TYPE, HTTP2_HEADER_PATH, HTTP2_HEADER_METHOD } = constants;
const HEAD = { [HTTP2_HEADER_STATUS]: 200, [HTTP2_HEADER_CONTENT_TYPE]: 'application/grpc' } as const;
/**
 * A proxy sends its message, and takes the answer, at once. A call whose client takes longer for either would stay open as long
 * as it likes.
 */
const CALL_TIMEOUT_MS = 60_000;
const OK = { 'grpc-status': '0' } as const;
/** gRPC has no use for the field Date. */
const WITH_TRAILERS = { waitForTrailers: true, sendDate: false } as const;
const FIELDS_ALONE = { endStream: true, sendDate: false } as const;

/**
 * Answers unary calls of gRPC over HTTP/2.
 *
 * @see https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
 */
export class GrpcHandler {
  readonly #parts: GrpcParts;
  readonly #calls: Deadlines;

  constructor(parts: GrpcParts) {
    this.#parts = parts;
    this.#calls = new Deadlines(CALL_TIMEOUT_MS, parts.time);
  }

  /** Answers the call of one stream. */
  handle(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    // A caller that leaves resets its stream; there is nobody left to tell.
    stream.on('error', ignore);
    if (headers[HTTP2_HEADER_METHOD] !== 'POST' || !isGrpc(headers)) {
      return refuse(stream, { [HTTP2_HEADER_STATUS]: 415 });
    }
    if (!this.#parts.isTrusted(stream)) {
      return fail(stream, new GrpcError(STATUS.permissionDenied, 'This service answers only trusted peers.'));
    }
    const method = this.#parts.methods.get(String(headers[HTTP2_HEADER_PATH]));
    if (method === undefined) return fail(stream, new GrpcError(STATUS.unimplemented, 'There is no such method.'));
    const encoding = headers['grpc-encoding'];
    if (encoding !== undefined && encoding !== 'identity') {
      return fail(stream, new GrpcError(STATUS.unimplemented, 'Compressed messages are not supported.'));
    }
    this.#receive(stream, method, grpcTimeoutMs(headers['grpc-timeout'] as string | undefined));
  }

  #receive(stream: ServerHttp2Stream, method: UnaryMethod, timeoutMs: number | undefined): void {
    const beganMicros = this.#parts.time.nowMicros();
    const body = new UnaryBody();
    const wait = new CallWait(stream);
    this.#calls.begin(wait);
    stream.on('data', (chunk: Buffer) => body.take(chunk));
    stream.on('end', () => {
      if (!isOpen(stream)) return;
      const leftMs = timeoutMs && timeoutMs - (this.#parts.time.nowMicros() - beganMicros) / 1000;
      this.#answer(stream, () => method(body, leftMs));
    });
    stream.on('close', () => this.#calls.end(wait));
  }

  /** A method that answers at once needs no promise. */
  #answer(stream: ServerHttp2Stream, method: () => Awaitable<Buffer>): void {
    try {
      const answer = method();
      if (answer instanceof Promise) void this.#answerLater(stream, answer);
      else respond(stream, answer);
    } catch (error) {
      fail(stream, this.#grpcError(error));
    }
  }

  async #answerLater(stream: ServerHttp2Stream, answer: Promise<Buffer>): Promise<void> {
    try {
      respond(stream, await answer);
    } catch (error) {
      fail(stream, this.#grpcError(error));
    }
  }

  #grpcError(error: unknown): GrpcError {
    if (error instanceof GrpcError) return error;
    if (error instanceof MalformedMessage)
      return new GrpcError(STATUS.invalidArgument, `The message is malformed: ${error.message}.`);
    this.#parts.failed(error);
    return new GrpcError(STATUS.internal, 'The request could not be decided.');
  }
}

/** Ends a call that is not over in time. */
class CallWait implements Wait {
  dueMicros = 0;
  isIn = false;
  before: Wait | undefined = undefined;
  after: Wait | undefined = undefined;
  readonly #stream: ServerHttp2Stream;

  constructor(stream: ServerHttp2Stream) {
    this.#stream = stream;
  }

  miss(): void {
    if (this.#stream.headersSent) this.#stream.close(constants.NGHTTP2_CANCEL);
    else fail(this.#stream, new GrpcError(STATUS.deadlineExceeded, 'The call was not over within 60 seconds.'));
  }
}

function isGrpc(headers: IncomingHttpHeaders): boolean {
  const type = headers[HTTP2_HEADER_CONTENT_TYPE];
  return type === 'application/grpc' || /^application\/grpc(?:\+proto)?(?:;|$)/.test(String(type));
}

/** Whether the caller still waits, and was sent nothing. */
function isOpen(stream: ServerHttp2Stream): boolean {
  return !stream.closed && !stream.destroyed && !stream.headersSent;
}

function respond(stream: ServerHttp2Stream, answer: Buffer): void {
  if (!isOpen(stream)) return;
  stream.respond(HEAD, WITH_TRAILERS);
  stream.on('wantTrailers', sendOk);
  stream.end(answer);
}

function sendOk(this: ServerHttp2Stream): void {
  this.sendTrailers(OK);
}

/** Ends a call with a status alone. */
function fail(stream: ServerHttp2Stream, { status, message }: GrpcError): void {
  if (!isOpen(stream)) return;
  refuse(stream, { ...HEAD, 'grpc-status': String(status), 'grpc-message': encodeURIComponent(message) });
}

/** Answers with fields alone. What the caller still sends is not read. */
function refuse(stream: ServerHttp2Stream, headers: OutgoingHttpHeaders): void {
  stream.respond(headers, FIELDS_ALONE);
  stream.resume();
  // On Node 22 a stream that is closed in the same turn loses the fields. It is the turn of real sockets, not of a clock.
  if (!stream.readableEnded) afterInput(() => stream.close(constants.NGHTTP2_NO_ERROR));
}

function ignore(): void {}
