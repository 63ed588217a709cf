import type { ServerHttp2Stream } from 'node:http2';
import type { Duplex } from 'node:stream';
import type { ExchangeEnd } from './exchange.ts';
import { http2StreamOf, type NodeResponse } from './node-response.ts';

/**
 * Calls `done` once, when the response has ended; at once when it already has, or when its end can't be observed.
 *
 * @param socket - That of the request. Serverless adapters and tests may have none, or an object that emits no events.
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

function onceResponseOver(
  socket: Duplex | null | undefined,
  response: NodeResponse,
  done: (end: ExchangeEnd) => void,
): void {
  // The client disconnected while the store was called: no event will follow.
  if (response.closed || response.destroyed || socket?.destroyed === true) {
    return done(response.writableFinished ? 'finished' : 'never-begun');
  }
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
  if (stream.destroyed || stream.aborted) return done(isFinished(stream) ? 'finished' : 'never-begun');
  if (!addFirst(stream, done)) return;
  stream.once('close', () => callAll(stream, isFinished(stream) ? 'finished' : 'aborted'));
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
