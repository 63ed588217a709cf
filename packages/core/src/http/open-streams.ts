import type { ServerHttp2Stream } from 'node:http2';
import { systemTime } from '../time/time.ts';

/** How often the open streams are looked at. */
const LOOK_MS = 250;

const open = new Map<ServerHttp2Stream, () => void>();
let isLooking = false;

/**
 * Calls a function when a stream of HTTP/2 has closed without an event: a client that leaves no room for the response and
 * then resets its stream with NO_ERROR. Node then emits neither `finish` nor `close`, also when the connection ends, and
 * only the property `closed` of the stream shows it. One timer of the process looks at all open streams, and it does not
 * keep the process alive.
 *
 * @param onClosed - Called at most once, unless {@link unwatchStream} comes first.
 */
export function watchStream(stream: ServerHttp2Stream, onClosed: () => void): void {
  open.set(stream, onClosed);
  if (!isLooking) lookLater();
}

/** Ends the watch of a stream. */
export function unwatchStream(stream: ServerHttp2Stream): void {
  open.delete(stream);
}

function lookLater(): void {
  isLooking = true;
  // The process's own time, whatever the time of a limiter is: streams are closed by clients.
  systemTime.alarm(LOOK_MS, look).unref();
}

function look(): void {
  isLooking = false;
  for (const [stream, onClosed] of open) {
    if (!stream.closed) continue;
    open.delete(stream);
    onClosed();
  }
  if (open.size > 0) lookLater();
}
