import type { Http2Server, Http2Session } from 'node:http2';
import { leavesSessionsOpen } from '../runtime/node-version.ts';
import { PeriodicLook } from './periodic-look.ts';
import { endIfStuck } from './stuck-sessions.ts';

/** What the types of Node lack. */
interface SessionParts {
  /** Undefined for a session that was made without a server, by `performServerHandshake`. */
  readonly server?: Http2Server;
}

/**
 * Ends sessions of HTTP/2 that are stuck, see {@link endIfStuck}, as long as they are open. Does nothing where Node ends
 * them itself.
 */
class OpenSessions {
  readonly #open = new Set<Http2Session>();
  readonly #servers = new WeakSet<Http2Server>();
  readonly #looks = new PeriodicLook(() => this.#look());

  /** Does nothing for a session that was added before. */
  add(session: Http2Session): void {
    if (this.#open.has(session) || session.destroyed || !leavesSessionsOpen()) return;
    this.#open.add(session);
    this.#looks.begin();
  }

  /** Adds the session of a stream, and from then on every session of its server: a client needs no request for its error. */
  addOfServer({ session }: { readonly session?: Http2Session | undefined }): void {
    if (session === undefined || this.#open.has(session) || !leavesSessionsOpen()) return;
    this.add(session);
    const { server } = session as SessionParts;
    if (server === undefined || this.#servers.has(server)) return;
    this.#servers.add(server);
    server.on('session', (next) => this.add(next));
  }

  #look(): boolean {
    for (const session of this.#open) {
      if (session.destroyed) this.#open.delete(session);
      else endIfStuck(session);
    }
    return this.#open.size > 0;
  }
}

/** The sessions of servers in this process. */
export const openSessions: OpenSessions = new OpenSessions();
