import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { Duplex } from 'node:stream';
import { http2StreamOf } from './http2-stream.ts';

/**
 * How a response ended: `finished` when all of it was handed to the system, `aborted` when the client left before, over
 * HTTP/2 also by resetting the stream. `never-begun`: the client was gone before anybody could work for it. `unknown`:
 * the response stands in for one of Node's, and emits nothing.
 */
export type End = 'finished' | 'aborted' | 'never-begun' | 'unknown';

/** Calls back once, when a response is over. At once, when it is already, or when nobody can know. */
export function onceOver(incoming: IncomingMessage, response: ServerResponse, done: (end: End) => void): void {
  if (typeof response.once !== 'function') return done('unknown');
  const stream = http2StreamOf(response);
  if (stream === undefined) onceResponseOver(incoming, response, done);
  else onceStreamOver(stream, done);
}

function onceResponseOver(incoming: IncomingMessage, response: ServerResponse, done: (end: End) => void): void {
  const socket = incoming.socket as Duplex | undefined;
  // The store took its time and the client is gone: no event comes any more.
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

/** Node emits `finish` on the response of a stream that was reset, too: only the stream itself knows how it ended. */
function onceStreamOver(stream: ServerHttp2Stream, done: (end: End) => void): void {
  // A reset ends the writable side, so that alone does not mean that the response was written.
  const isFinished = (): boolean => stream.writableFinished && !stream.aborted;
  if (stream.destroyed || stream.aborted) done(isFinished() ? 'finished' : 'never-begun');
  else stream.once('close', () => done(isFinished() ? 'finished' : 'aborted'));
}

const waiting = new WeakMap<Duplex, Set<() => void>>();

/**
 * Who waits for the end of a connection. A response that is still queued behind another (HTTP pipelining) hears nothing
 * of it. One listener for all of them: a client can't make Node warn of too many.
 *
 * @returns `undefined` for what stands in for a connection and emits nothing, as in serverless adapters.
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
