import type { Cancel, Scheduler } from '@sluice/core/kit';
import type { LineChange, LineState } from './connection-status.ts';

/** The maximum number of reported changes within {@link TOLD_WITHIN_MS}, for a server that connects and disconnects. */
const MAX_TOLD = 4;
const TOLD_WITHIN_MS = 10_000;

/** The server that a change came from. */
export interface Source {
  readonly server: string;
  readonly lastError: unknown;
}

/** Keeps the state of a line and reports its changes: at once, but of many in a short time only the last. */
export class StateLog {
  readonly #scheduler: Scheduler;
  readonly #tell: (change: LineChange) => void;
  #state: LineState = 'connecting';
  #since = new Date();
  #lastError: { readonly cause: unknown; readonly at: Date } | undefined;
  #server: string | undefined;
  #toldState: LineState = 'connecting';
  /** The times of the last {@link MAX_TOLD} reports, the oldest first. */
  readonly #toldMs: number[] = Array.from({ length: MAX_TOLD }, () => -Infinity);
  #cancelTelling: Cancel | undefined;

  constructor(scheduler: Scheduler, tell: (change: LineChange) => void) {
    this.#scheduler = scheduler;
    this.#tell = tell;
  }

  get state(): LineState {
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
  note(state: LineState, { server, lastError: error }: Source): void {
    if (error !== undefined && error !== this.#lastError?.cause) this.#lastError = { cause: error, at: new Date() };
    if (state === this.#state) return;
    this.#state = state;
    this.#server = server;
    this.#since = new Date();
    if (this.#cancelTelling === undefined) this.#tellWhenDue();
  }

  /** Sets the state `closed` and reports it at once. */
  close(): void {
    this.#cancelTelling?.();
    this.#cancelTelling = undefined;
    this.#state = 'closed';
    this.#server = undefined;
    this.#since = new Date();
    this.#tellNow();
  }

  #tellWhenDue(): void {
    const waitMs = this.#toldMs[0]! + TOLD_WITHIN_MS - this.#scheduler.nowMs();
    if (waitMs <= 0) return this.#tellNow();
    this.#cancelTelling = this.#scheduler.after(waitMs, () => {
      this.#cancelTelling = undefined;
      if (this.#state !== this.#toldState) this.#tellNow();
    });
  }

  #tellNow(): void {
    this.#toldState = this.#state;
    this.#toldMs.shift();
    this.#toldMs.push(this.#scheduler.nowMs());
    const isWell = this.#state === 'up' || this.#state === 'closed';
    this.#tell({ state: this.#state, server: this.#server, cause: isWell ? undefined : this.#lastError?.cause });
  }
}
