import type { Http2Session } from 'node:http2';
import type { Socket } from 'node:net';
import { systemTime } from '../time/system-time.ts';

/** A PING with ACK, with its header (RFC 9113 section 6.7). */
const PING_ACK_BYTES = 17;

/** What is read of a socket beyond its public properties. Other runtimes and sockets of other kinds may lack it. */
interface SocketParts {
  readonly _handle?: HandleParts | null;
}

interface HandleParts {
  readonly writeQueueSize?: number;
  /** A socket of TLS has the one below it here. */
  readonly _parent?: HandleParts;
  readonly _parentWrap?: Socket;
}

const states = new WeakMap<Http2Session, SessionState>();

/**
 * Ends a session of HTTP/2 that is stuck. After most connection errors of a client (RFC 9113 section 5.4.1), such as a PING
 * of 3 bytes, Node before 22.23, 24.17 and 26.1 sends GOAWAY, then reads and writes no more, and emits no event: neither on the
 * session, nor on its streams, nor on its socket, which stays open even when the client has closed it.
 *
 * What shows it is that no frame is written any more, although the socket is idle. Only bytes of the client can cause an
 * error, and none are read after it. So a session is asked once for each time that its client has sent something and is
 * then silent: by a PING, whose answer is not waited for. A client that is slow, or silent for days, is never ended.
 *
 * Call it at each look, see `PeriodicLook`: it takes three of them.
 */
export function endIfStuck(session: Http2Session): void {
  if (session.destroyed) return;
  let state = states.get(session);
  if (state === undefined) states.set(session, (state = new SessionState(session)));
  state.look();
}

class SessionState {
  readonly #session: Http2Session;
  readonly #socket: Socket & SocketParts;
  #bytesRead = 0;
  /** The number of bytes that had been read when a frame was last written after them. */
  #provenBytes = 0;
  #isSuspect = false;

  constructor(session: Http2Session) {
    this.#session = session;
    this.#socket = session.socket;
  }

  look(): void {
    const { bytesRead } = this.#socket;
    const isSilent = bytesRead === this.#bytesRead;
    this.#bytesRead = bytesRead;
    if (isSilent && bytesRead !== this.#provenBytes && isIdle(this.#socket)) this.#ask();
  }

  #ask(): void {
    const { bytesRead, bytesWritten } = this.#socket;
    this.#submitFrame();
    // Node writes frames before it runs what waits for the end of the turn.
    systemTime.endOfTurn(() => {
      if (this.#session.destroyed) return;
      const { outboundQueueSize = 0 } = this.#session.state;
      if (outboundQueueSize === 0 && this.#socket.bytesWritten !== bytesWritten) return this.#prove(bytesRead);
      if (!isIdle(this.#socket)) return;
      if (this.#isSuspect) return end(this.#session);
      // A write that has just ended may not be reported yet.
      this.#isSuspect = true;
    });
  }

  /** GOAWAY says that this server takes no new streams on the connection. Those that are open continue. */
  #submitFrame(): void {
    // Refused on a session that is being closed, and for a client that has left ten PING unanswered.
    const isSubmitted = this.#session.ping((error) => {
      // The answer consists of bytes of the client, too.
      if (error === null) this.#provenBytes += PING_ACK_BYTES;
    });
    if (!isSubmitted) this.#session.goaway();
  }

  #prove(bytes: number): void {
    this.#provenBytes = bytes;
    this.#isSuspect = false;
  }
}

/** Whether all that was written is at the system. Unknown is no: even when a client does not read, it may be as slow as it is. */
function isIdle({ _handle: handle }: SocketParts): boolean {
  // After a write that has failed, the handle of TLS still has its bytes.
  const { _parent: below = handle } = handle ?? {};
  return below?.writeQueueSize === 0;
}

function end(session: Http2Session): void {
  // It was idle a moment ago, so it has a handle.
  const { _handle: handle } = session.socket as Socket & SocketParts;
  const { _parentWrap: below } = handle!;
  session.destroy();
  // The socket of TLS would wait for the end of a write that has failed.
  below?.destroy();
}
