import type { Time } from '@sluice/core';
import type { ServerHttp2Session } from 'node:http2';

/** How often sessions are looked at. */
const LOOK_EVERY_MS = 60_000;
/** After so many looks without a call, a session ends: an hour, after which Envoy closes its own idle connections, too. */
const MOST_IDLE_LOOKS = 60;

/** What is known of a session. */
interface SessionState {
  /** How many looks there were since it was opened, or had a call. */
  idleLooks: number;
  /** Whether its client has not answered a PING yet. */
  isAsked: boolean;
}

/**
 * The sessions of a server, of which those that are left to themselves are ended. Without calls, a session is asked at each look
 * by a PING: a client that has not answered at the next one is gone, or has begun what it does not end, such as the head of a
 * call. Others keep their idle connections for an hour, and know by GOAWAY that a call which is on its way was not seen.
 *
 * @see RFC 9113 sections 6.7 and 6.8.
 */
export class OpenSessions {
  readonly #open = new Map<ServerHttp2Session, SessionState>();
  readonly #time: Time;
  #alarm: ReturnType<Time['alarm']> | undefined;

  constructor(time: Time) {
    this.#time = time;
  }

  /** Begins to look at the sessions, until {@link close}. */
  watch(): void {
    this.#alarm = this.#time.alarm(LOOK_EVERY_MS, () => {
      for (const [session, state] of this.#open) look(session, state);
      this.watch();
    });
    this.#alarm.unref();
  }

  add(session: ServerHttp2Session): void {
    const state: SessionState = { idleLooks: 0, isAsked: false };
    this.#open.set(session, state);
    session.on('stream', () => (state.idleLooks = 0));
    session.on('close', () => this.#open.delete(session));
  }

  /** Tells callers to open no new stream (GOAWAY). Streams that are open end as usual. */
  close(): void {
    this.#alarm?.cancel();
    for (const session of this.#open.keys()) session.close();
  }

  destroy(): void {
    for (const session of this.#open.keys()) session.destroy();
  }
}

function look(session: ServerHttp2Session, state: SessionState): void {
  if (session.destroyed || state.idleLooks++ === 0) return;
  if (state.isAsked) return session.destroy();
  if (state.idleLooks > MOST_IDLE_LOOKS) return session.close();
  state.isAsked = true;
  session.ping(() => (state.isAsked = false));
}
