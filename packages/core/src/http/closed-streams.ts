import type { ServerHttp2Stream } from 'node:http2';
import { systemTime } from '../time/time.ts';

/** How often open streams are looked at. */
const LOOK_MS = 250;

/** A stream whose end somebody waits for. */
interface OpenStream {
  readonly stream: ServerHttp2Stream;
  /** Called when it has closed without an event. */
  readonly onClosed: () => void;
  /** Whether it was closed at the last look. */
  wasClosed: boolean;
}

/**
 * Finds HTTP/2 streams that have closed without an event. Node emits none when the client resets a stream with NO_ERROR
 * (RFC 9113 section 8.1) while data is still to be sent, for which the client has left no room: the stream is `closed` and
 * is never destroyed. Without looking, its slots would be held for ever.
 */
class ClosedStreams {
  readonly #open = new Map<ServerHttp2Stream, OpenStream>();
  #isLooking = false;

  add(stream: ServerHttp2Stream, onClosed: () => void): void {
    this.#open.set(stream, { stream, onClosed, wasClosed: false });
    if (!this.#isLooking) this.#lookLater();
  }

  delete(stream: ServerHttp2Stream): void {
    this.#open.delete(stream);
  }

  /** A stream that ends as usual is closed for a moment before its last event, so it counts at the second look. */
  #look(): void {
    for (const open of this.#open.values()) {
      if (!open.stream.closed) continue;
      if (open.wasClosed) open.onClosed();
      open.wasClosed = true;
    }
    this.#isLooking = this.#open.size > 0;
    if (this.#isLooking) this.#lookLater();
  }

  /** By the time of the system, which sockets have, too. */
  #lookLater(): void {
    this.#isLooking = true;
    systemTime.alarm(LOOK_MS, () => this.#look()).unref();
  }
}

/** Those of this process: the server of a stream is not known, and a timer for each would be one too many. */
export const closedStreams: ClosedStreams = new ClosedStreams();
