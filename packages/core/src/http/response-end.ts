import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { Duplex } from 'node:stream';
import { http2StreamOf } from './http2-stream.ts';

/**
 * How a response ended. `finished`: all of it was handed to the operating system. `aborted`: the client disconnected
 * before, or reset its HTTP/2 stream. `never-begun`: the client had disconnected before the handler could run.
 * `unknown`: the object is not a response of Node and emits no events.
 */
export type End = 'finished' | 'aborted' | 'never-begun' | 'unknown';

/** Calls `done` once, when the response has ended; at once when it already has, or when its end can't be observed. */
export function onceOver(incoming: IncomingMessage, response: ServerResponse, done: (end: End) => void): void {
  if (typeof response.once !== 'function') return done('unknown');
  const stream = http2StreamOf(response);
  if (stream === undefined) onceResponseOver(incoming, response, done);
  else onceStreamOver(stream, done);
}

function onceResponseOver(incoming: IncomingMessage, response: ServerResponse, done: (end: End) => void): void {
  const socket = incoming.socket as Duplex | undefined;
  // The client disconnected while the store was called: no event will follow.
  if (response.closed || response.destroyed || socket?.destroyed === true) {
    return done(response.writableFinished ? 'finished' : 'never-begun');
  }
  const others = waitingAt(socket);
  const over = (end: End): void => {
    response.off('finish', onFinish).off('close', onClose);
    others?.delete(onClose);
    done(end);
  };
  const onFinish = (): void => over('finished');
  const onClose = (): void => over('aborted');
  response.once('finish', onFinish).once('close', onClose);
  others?.add(onClose);
}

/** On HTTP/2, Node emits `finish` on the response even if the stream was reset: only the stream shows how it ended. */
function onceStreamOver(stream: ServerHttp2Stream, done: (end: End) => void): void {
  // A reset also ends the writable side, so `writableFinished` alone does not mean that the response was written.
  const isFinished = (): boolean => stream.writableFinished && !stream.aborted;
  if (stream.destroyed || stream.aborted) done(isFinished() ? 'finished' : 'never-begun');
  else stream.once('close', () => done(isFinished() ? 'finished' : 'aborted'));
}

const waiting = new WeakMap<Duplex, Set<() => void>>();

/**
 * Returns the callbacks to run when a connection closes. A response that is queued behind another one (HTTP pipelining)
 * emits no event then. One listener serves all callbacks, so that a client can't make Node warn of too many listeners.
 *
 * @returns `undefined` for an object in place of a socket that emits no events, as in serverless adapters.
 */
function waitingAt(socket: Duplex | undefined): Set<() => void> | undefined {
  if (typeof socket?.once !== 'function') return undefined;
  let all = waiting.get(socket);
  if (all === undefined) {
    const callbacks = new Set<() => void>();
    socket.once('close', () => {
      for (const call of callbacks) call();
    });
    waiting.set(socket, (all = callbacks));
  }
  return all;
}
