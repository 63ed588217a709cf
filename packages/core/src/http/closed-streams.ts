import type { ServerHttp2Stream } from 'node:http2';
import { openSessions } from './open-sessions.ts';
import { PeriodicLook } from './periodic-look.ts';

/** A stream whose end somebody waits for. */
interface OpenStream {
  readonly stream: ServerHttp2Stream;
  /** Called when it has closed without an event. */
  readonly onClosed: () => void;
  /** Whether it was closed at the last look. */
  wasClosed: boolean;
}

/**
 * Finds HTTP/2 streams that are over without an event; without looking, their slots would be held forever. Node emits
 * none when the client resets a stream with NO_ERROR (RFC 9113 section 8.1) while data is still to be sent, for which the
 * client has left no room: the stream is `closed` and is never destroyed. Nor does it emit one when the session is stuck,
 * so the session is looked at, too.
 */
class ClosedStreams {
  readonly #open = new Map<ServerHttp2Stream, OpenStream>();
  readonly #looks = new PeriodicLook(() => this.#look());

  add(stream: ServerHttp2Stream, onClosed: () => void): void {
    this.#open.set(stream, { stream, onClosed, wasClosed: false });
    openSessions.addOfServer(stream);
    this.#looks.begin();
  }

  delete(stream: ServerHttp2Stream): void {
    this.#open.delete(stream);
  }

  #look(): boolean {
    for (const open of this.#open.values()) {
      if (open.stream.closed) this.#lookAtClosed(open);
    }
    return this.#open.size > 0;
  }

  /** A stream that ends as usual is closed for a moment before its last event, so it counts at the second look. */
  #lookAtClosed(open: OpenStream): void {
    if (open.wasClosed) open.onClosed();
    open.wasClosed = true;
  }
}

/** The streams of this process: the server of a stream is not known, and a timer for each would be one too many. */
export const closedStreams: ClosedStreams = new ClosedStreams();
