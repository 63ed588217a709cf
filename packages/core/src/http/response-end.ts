import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/**
 * Calls back once, when a response is over: with true when all of it was handed to the system, false when the client
 * left before.
 */
export function onceOver(incoming: IncomingMessage, response: ServerResponse, done: (finished: boolean) => void): void {
  const { socket } = incoming;
  // The store took its time and the client is gone: no event comes any more.
  if (response.closed || response.destroyed || socket.destroyed) return done(response.writableFinished);
  const end = (finished: boolean): void => {
    response.off('finish', onFinish).off('close', onClose);
    waitingAt(socket).delete(onClose);
    done(finished);
  };
  const onFinish = (): void => end(true);
  const onClose = (): void => end(false);
  response.once('finish', onFinish).once('close', onClose);
  waitingAt(socket).add(onClose);
}

const waiting = new WeakMap<Duplex, Set<() => void>>();

/**
 * Who waits for the end of a connection. A response that is still queued behind another (HTTP pipelining) hears nothing
 * of it. One listener for all of them: a client can't make Node warn of too many.
 */
function waitingAt(socket: Duplex): Set<() => void> {
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
