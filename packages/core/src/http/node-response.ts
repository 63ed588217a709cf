import type { ServerHttp2Stream } from 'node:http2';
import type { Duplex, Writable } from 'node:stream';
import type { RequestLimiter } from '../limiter/request-limiter.ts';
import { closedStreams } from './closed-streams.ts';
import type { ExchangeEnd } from './exchange.ts';
import { openSessions } from './open-sessions.ts';

/** What is used of a response of Node, of HTTP/1 or of the HTTP/2 compatibility layer. */
export interface NodeResponse extends Writable {
  readonly headersSent: boolean;
  readonly statusCode: number;
  getHeader(name: string): number | string | readonly string[] | undefined;
}

/** What only some responses have. */
interface NodeResponseParts {
  /** Responses that are not Node's own may lack it. */
  readonly req?: { readonly method?: string; readonly httpVersionMajor: number };
  /** The stream of an HTTP/2 response. Others may have any property of this name. */
  readonly stream?: ServerHttp2Stream;
  /** Whether the body is sent in chunks; undefined for HTTP/2, which has no chunked encoding. */
  readonly chunkedEncoding?: boolean;
}

/** Returns the parts of a response that not all responses have. */
function partsOf(response: NodeResponse): NodeResponseParts {
  return response as NodeResponseParts;
}

/** Returns the stream of a response of Node's HTTP/2 compatibility layer; `undefined` for an HTTP/1 response. */
function http2StreamOf(response: NodeResponse): ServerHttp2Stream | undefined {
  const { req, stream } = response as NodeResponseParts;
  return req?.httpVersionMajor === 2 ? stream : undefined;
}

/**
 * Ends the response to a denied request if its head was already sent, and emits an event `denial-not-sent`. The status
 * can no longer be sent, and no other code would end the response. A response with a declared length is aborted, so
 * that the client does not take it for complete.
 *
 * @returns Whether the head was sent: the adapter can then send nothing.
 */
export function endIfBegun({ limiter }: { readonly limiter: RequestLimiter<never> }, outgoing: NodeResponse): boolean {
  if (!outgoing.headersSent) return false;
  if (outgoing.writableEnded || outgoing.destroyed) return true;
  // The code that began the response may continue to write, and an `error` event without a listener ends the process.
  outgoing.on('error', ignore);
  const breaks = promisesBytes(outgoing);
  if (breaks) breakOff(outgoing);
  else outgoing.end();
  limiter.emit({
    type: 'denial-not-sent',
    message: `A request was denied after its response had begun. Its status could not be sent, so the response was ${breaks ? 'aborted' : 'ended'}. Put rateLimit before the middleware that begins responses (flushHeaders, writeHead, write).`,
  });
  return true;
}

function ignore(): void {}

function promisesBytes(outgoing: NodeResponse): boolean {
  const { statusCode } = outgoing;
  const { req, chunkedEncoding } = partsOf(outgoing);
  if (req?.method === 'HEAD' || statusCode === 204 || statusCode === 304) return false;
  const length = outgoing.getHeader('content-length');
  if (length !== undefined) return Number(length) > 0;
  // A length that was passed only to writeHead can't be read back. HTTP/2 has no chunked encoding.
  return chunkedEncoding === false;
}

/** RFC 9113 section 7. For this code Node emits no `error` event, which frameworks would report. */
const CANCEL = 8;

function breakOff(outgoing: NodeResponse): void {
  const stream = http2StreamOf(outgoing);
  if (stream === undefined) outgoing.destroy();
  else stream.close(CANCEL);
}

/**
 * Calls `done` once, when the response has ended; at once when it already has, or when its end can't be observed.
 *
 * @param socket - The socket of the request. Serverless adapters and tests may have none, or an object that emits no events.
 */
export function onceOver(
  socket: Duplex | null | undefined,
  response: NodeResponse,
  done: (end: ExchangeEnd) => void,
): void {
  if (typeof response.once !== 'function') return done('unknown');
  const stream = http2StreamOf(response);
  if (stream === undefined) onceResponseOver(socket, response, done);
  else onceStreamOver(stream, done);
}

/** Whether the client disconnected, or reset its stream, before the response was finished. */
export function hasLeft(socket: Duplex | null | undefined, response: NodeResponse): boolean {
  const { req, stream } = response as NodeResponseParts;
  if (req?.httpVersionMajor !== 2 || stream === undefined)
    return (response.closed || response.destroyed || socket?.destroyed === true) && !response.writableFinished;
  // Here, where the protocol is known: to ask each request for it once more would cost a part of a microsecond.
  openSessions.addOfServer(stream);
  return isStreamOver(stream) && !isFinished(stream);
}

// A client that disconnected while the store was called: no event will follow.
function isResponseOver(socket: Duplex | null | undefined, response: NodeResponse): boolean {
  return response.closed || response.destroyed || socket?.destroyed === true;
}

function isStreamOver(stream: ServerHttp2Stream): boolean {
  return stream.destroyed || stream.closed;
}

function onceResponseOver(
  socket: Duplex | null | undefined,
  response: NodeResponse,
  done: (end: ExchangeEnd) => void,
): void {
  if (isResponseOver(socket, response)) return done(response.writableFinished ? 'finished' : 'never-begun');
  if (!addFirst(response, done)) return;
  const others = waitingAt(socket);
  const over = (end: ExchangeEnd): void => {
    response.off('finish', onFinish).off('close', onClose);
    others?.delete(onClose);
    callAll(response, end);
  };
  const onFinish = (): void => over('finished');
  const onClose = (): void => over('aborted');
  // Not `once`, which allocates a wrapper for each listener: `over` removes both.
  response.on('finish', onFinish).on('close', onClose);
  others?.add(onClose);
}

function onceStreamOver(stream: ServerHttp2Stream, done: (end: ExchangeEnd) => void): void {
  if (isFinished(stream)) return done('finished');
  if (isStreamOver(stream)) return done('never-begun');
  if (!addFirst(stream, done)) return;
  const over = (end: ExchangeEnd): void => {
    closedStreams.delete(stream);
    stream.off('finish', onFinish).off('close', onClose);
    callAll(stream, end);
  };
  // The stream closes later, if the client does not end its request.
  const onFinish = (): void => {
    if (isFinished(stream)) over('finished');
  };
  const onClose = (): void => over('aborted');
  stream.on('finish', onFinish).on('close', onClose);
  closedStreams.add(stream, onClose);
}

/**
 * On HTTP/2, Node emits `finish` on the response even if the stream was reset: only the stream shows how it ended. A
 * reset also ends the writable side, so `writableFinished` alone does not mean that the response was written.
 */
function isFinished(stream: ServerHttp2Stream): boolean {
  return stream.writableFinished && !stream.aborted;
}

const callbacks = new WeakMap<object, ((end: ExchangeEnd) => void)[]>();

/**
 * Adds a callback for the end of a response or stream. Only the first one needs listeners: many limits with `settle`
 * must not make Node warn of too many.
 *
 * @returns Whether it is the first one.
 */
function addFirst(emitter: object, done: (end: ExchangeEnd) => void): boolean {
  const known = callbacks.get(emitter);
  if (known === undefined) callbacks.set(emitter, [done]);
  else known.push(done);
  return known === undefined;
}

function callAll(emitter: object, end: ExchangeEnd): void {
  const all = callbacks.get(emitter)!;
  callbacks.delete(emitter);
  for (const call of all) call(end);
}

const waiting = new WeakMap<Duplex, Set<() => void>>();

/**
 * Returns the callbacks to run when a connection closes. A response that is queued behind another one (HTTP pipelining)
 * emits no event then. One listener serves all callbacks, so that a client can't make Node warn of too many listeners.
 *
 * @returns `undefined` for an object in place of a socket that emits no events, as in serverless adapters.
 */
function waitingAt(socket: Duplex | null | undefined): Set<() => void> | undefined {
  if (typeof socket?.once !== 'function') return undefined;
  let all = waiting.get(socket);
  if (all === undefined) {
    const closing = new Set<() => void>();
    socket.once('close', () => {
      for (const call of closing) call();
    });
    waiting.set(socket, (all = closing));
  }
  return all;
}
