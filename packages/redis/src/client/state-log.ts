import type { Time } from '@sluice/core';
import { ThrottledChanges } from '@sluice/core/kit';
import type { ConnectionChange, ConnectionState } from './connection-status.ts';

/** The server that a change came from. */
export interface ChangeSource {
  readonly server: string;
  readonly lastError: unknown;
}

/** Keeps the state of the connections and reports its changes: at once, but of many in a short time only the last. */
export class StateLog {
  readonly #time: Time;
  readonly #onChange: (change: ConnectionChange) => void;
  #state: ConnectionState = 'connecting';
  #since: Date;
  #lastError: { readonly cause: unknown; readonly at: Date } | undefined;
  readonly #changes: ThrottledChanges<ConnectionChange>;
  #reportedState: ConnectionState = 'connecting';

  constructor(time: Time, onChange: (change: ConnectionChange) => void) {
    this.#time = time;
    this.#since = this.#now();
    this.#onChange = onChange;
    this.#changes = new ThrottledChanges(time, (change) => {
      if (change.state !== this.#reportedState) this.#report(change);
    });
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** When the state began, by the wall clock of this process. */
  get since(): Date {
    return this.#since;
  }

  get lastError(): { readonly cause: unknown; readonly at: Date } | undefined {
    return this.#lastError;
  }

  /** Records the state, which may be unchanged, and the last error of the server that caused the change. */
  note(state: ConnectionState, { server, lastError: error }: ChangeSource): void {
    if (error !== undefined && error !== this.#lastError?.cause) this.#lastError = { cause: error, at: this.#now() };
    if (state === this.#state) return;
    this.#state = state;
    this.#since = this.#now();
    this.#changes.add({ state, server, cause: state === 'up' ? undefined : this.#lastError?.cause });
  }

  /** Sets the state `closed` and reports it at once. */
  close(): void {
    this.#changes.cancel();
    this.#state = 'closed';
    this.#since = this.#now();
    this.#report({ state: 'closed', server: undefined, cause: undefined });
  }

  #now(): Date {
    return new Date(this.#time.wallNow());
  }

  #report(change: ConnectionChange): void {
    this.#reportedState = change.state;
    this.#onChange(change);
  }
}
