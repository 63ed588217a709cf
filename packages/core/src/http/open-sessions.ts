import type { ServerHttp2Session } from 'node:http2';
import { PeriodicLook } from './periodic-look.ts';
import { endIfStuck } from './stuck-sessions.ts';

/** Ends sessions of HTTP/2 that are stuck, see {@link endIfStuck}, as long as they are open. */
class OpenSessions {
  readonly #open = new Set<ServerHttp2Session>();
  readonly #looks = new PeriodicLook(() => this.#look());

  /** Does nothing for a session that was added before. */
  add(session: ServerHttp2Session): void {
    if (this.#open.has(session) || session.destroyed) return;
    this.#open.add(session);
    session.once('close', () => this.#open.delete(session));
    this.#looks.begin();
  }

  #look(): boolean {
    for (const session of this.#open) endIfStuck(session);
    return this.#open.size > 0;
  }
}

/** Those of servers that limit nothing themselves, as that for Envoy. */
export const openSessions: OpenSessions = new OpenSessions();
