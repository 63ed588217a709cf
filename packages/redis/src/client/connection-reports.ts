import type { ConnectionReport } from './connection-status.ts';
import type { ScriptServers, ServerState } from './script-servers.ts';

type Listener = (report: ConnectionReport) => void;

/**
 * Reports when no server can be reached any more, and each time that one can be used again. Unlike the changes of state
 * in `StateLog`, no report is delayed or left out: failure policies decide by them.
 *
 * A server that has rejected a write can be reached, but is not reported until it has executed the script again: each
 * `up` leads to a call without a write, which a read-only replica answers, and so would begin and end outages in turn.
 */
export class ConnectionReports {
  readonly #listeners = new Set<Listener>();
  /** The last report, if it was `down`. */
  #down: ConnectionReport | undefined;
  #healthy: ReadonlySet<ServerState> = new Set();

  /** @returns A function that removes the listener. */
  watch(listener: Listener): () => void {
    this.#listeners.add(listener);
    if (this.#down !== undefined) listener(this.#down);
    return () => void this.#listeners.delete(listener);
  }

  /** Reports what has changed since the last call, if anything. */
  note(servers: Pick<ScriptServers, 'list' | 'downCause'>): void {
    const all = servers.list();
    const before = this.#healthy;
    this.#healthy = new Set(all.filter(({ isHealthy }) => isHealthy));
    const isUp =
      this.#down === undefined
        ? [...this.#healthy].some((server) => !before.has(server))
        : all.some(({ isOpen }) => isOpen);
    const cause = servers.downCause;
    if (isUp) {
      this.#down = undefined;
      this.#report({ type: 'up' });
    } else if (cause !== undefined && this.#down === undefined) {
      this.#report((this.#down = { type: 'down', cause }));
    }
  }

  close(): void {
    this.#listeners.clear();
  }

  #report(report: ConnectionReport): void {
    for (const listener of this.#listeners) listener(report);
  }
}
