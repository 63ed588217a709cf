import type { Cancel, Time } from '@sluice/core';
import type { ConnectionChange, ConnectionState } from './connection-status.ts';

/** The maximum number of reported changes within {@link SPAN_MS}, for a server that connects and disconnects. */
const MAX_REPORTS = 4;
const SPAN_MS = 10_000;

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
  #server: string | undefined;
  #reportedState: ConnectionState = 'connecting';
  /** The times of the last {@link MAX_REPORTS} reports, the oldest first. */
  readonly #reportedMicros: number[] = Array.from({ length: MAX_REPORTS }, () => -Infinity);
  #cancelReport: Cancel | undefined;

  constructor(time: Time, onChange: (change: ConnectionChange) => void) {
    this.#time = time;
    this.#since = this.#now();
    this.#onChange = onChange;
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
    this.#server = server;
    this.#since = this.#now();
    if (this.#cancelReport === undefined) this.#reportWhenDue();
  }

  /** Sets the state `closed` and reports it at once. */
  close(): void {
    this.#cancelReport?.();
    this.#cancelReport = undefined;
    this.#state = 'closed';
    this.#server = undefined;
    this.#since = this.#now();
    this.#report();
  }

  #now(): Date {
    return new Date(this.#time.wallNow());
  }

  #reportWhenDue(): void {
    const waitMs = SPAN_MS - (this.#time.nowMicros() - this.#reportedMicros[0]!) / 1000;
    if (waitMs <= 0) return this.#report();
    const alarm = this.#time.alarm(waitMs, () => {
      this.#cancelReport = undefined;
      if (this.#state !== this.#reportedState) this.#report();
    });
    this.#cancelReport = alarm.cancel;
  }

  #report(): void {
    this.#reportedState = this.#state;
    this.#reportedMicros.shift();
    this.#reportedMicros.push(this.#time.nowMicros());
    const isHealthy = this.#state === 'up' || this.#state === 'closed';
    this.#onChange({ state: this.#state, server: this.#server, cause: isHealthy ? undefined : this.#lastError?.cause });
  }
}
