import type { ConnectionReport } from './connection-status.ts';
import type { ScriptServers } from './script-servers.ts';

type Listener = (report: ConnectionReport) => void;

/**
 * Reports when no server can be reached any more, and each time that one can be reached again. Unlike the changes of
 * state in `StateLog`, no report is delayed or left out: failure policies decide by them.
 */
export class ConnectionReports {
  readonly #listeners = new Set<Listener>();
  /** The last report, if it was `down`. */
  #down: ConnectionReport | undefined;
  #openServers = 0;

  /** @returns A function that removes the listener. */
  watch(listener: Listener): () => void {
    this.#listeners.add(listener);
    if (this.#down !== undefined) listener(this.#down);
    return () => void this.#listeners.delete(listener);
  }

  /** Reports what has changed since the last call, if anything. */
  note(servers: Pick<ScriptServers, 'list' | 'downCause'>): void {
    const openServers = servers.list().filter(({ isOpen }) => isOpen).length;
    const hasOpened = openServers > this.#openServers;
    this.#openServers = openServers;
    const cause = servers.downCause;
    if (hasOpened) {
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
