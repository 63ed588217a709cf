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
  listenOnce(response, done, (over) => {
    const others = waitingAt(socket);
    const end = (how: ExchangeEnd): void => {
      response.off('finish', onFinish).off('close', onClose);
      others?.delete(onClose);
      over(how);
    };
    const onFinish = (): void => end('finished');
    const onClose = (): void => end('aborted');
    response.once('finish', onFinish).once('close', onClose);
    others?.add(onClose);
  });
}

/** On HTTP/2, Node emits `finish` on the response even if the stream was reset: only the stream shows how it ended. */
function onceStreamOver(stream: ServerHttp2Stream, done: (end: ExchangeEnd) => void): void {
  // A reset also ends the writable side, so `writableFinished` alone does not mean that the response was written.
  const isFinished = (): boolean => stream.writableFinished && !stream.aborted;
  if (stream.destroyed || stream.aborted) return done(isFinished() ? 'finished' : 'never-begun');
  listenOnce(stream, done, (over) => {
    stream.once('close', () => over(isFinished() ? 'finished' : 'aborted'));
  });
}

const callbacks = new WeakMap<object, ((end: ExchangeEnd) => void)[]>();

/**
 * Adds a callback for the end of a response or stream. Only the first one listens for events: many limits with `settle`
 * must not make Node warn of too many listeners.
 */
function listenOnce(
  emitter: object,
  done: (end: ExchangeEnd) => void,
  listen: (over: (end: ExchangeEnd) => void) => void,
): void {
  const known = callbacks.get(emitter);
  if (known !== undefined) {
    known.push(done);
    return;
  }
  const all = [done];
  callbacks.set(emitter, all);
  listen((end) => {
    callbacks.delete(emitter);
    for (const call of all) call(end);
  });
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
