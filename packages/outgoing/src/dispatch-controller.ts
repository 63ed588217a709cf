/** What undici gives its handlers to control an exchange. */
export interface DispatchController {
  readonly aborted: boolean;
  readonly paused: boolean;
  readonly reason: Error | null;
  rawHeaders?: unknown;
  rawTrailers?: unknown;
  abort(reason: Error): void;
  pause(): void;
  resume(): void;
}

/** Controls a request that waits for its turn, and then the connection on which it was sent. */
export class WaitingController implements DispatchController {
  readonly #leaving: AbortController;
  #target: DispatchController | undefined;
  #isPaused = false;

  /** @param leaving - Aborted to leave the queue. */
  constructor(leaving: AbortController) {
    this.#leaving = leaving;
  }

  /** From now on the request has a connection. */
  sent(target: DispatchController): void {
    this.#target = target;
    const { signal } = this.#leaving;
    // It was aborted while it waited for the connection.
    if (signal.aborted) return target.abort(signal.reason as Error);
    if (this.#isPaused) target.pause();
  }

  get aborted(): boolean {
    return this.#leaving.signal.aborted || this.#target?.aborted === true;
  }

  get paused(): boolean {
    return this.#target?.paused ?? this.#isPaused;
  }

  get reason(): Error | null {
    const { aborted, reason } = this.#leaving.signal;
    return aborted ? (reason as Error) : (this.#target?.reason ?? null);
  }

  get rawHeaders(): unknown {
    return this.#target?.rawHeaders;
  }

  set rawHeaders(value: unknown) {
    if (this.#target !== undefined) this.#target.rawHeaders = value;
  }

  get rawTrailers(): unknown {
    return this.#target?.rawTrailers;
  }

  set rawTrailers(value: unknown) {
    if (this.#target !== undefined) this.#target.rawTrailers = value;
  }

  abort(reason: Error): void {
    if (this.#target === undefined) this.#leaving.abort(reason);
    else this.#target.abort(reason);
  }

  pause(): void {
    this.#isPaused = true;
    this.#target?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#target?.resume();
  }
}
