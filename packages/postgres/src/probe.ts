import type { Time } from '@sluice/core';
import type { Alarm } from '@sluice/core/store';

/** While PostgreSQL does not answer, it is asked again after so many milliseconds. */
const RETRY_MS = 1000;

/**
 * When PostgreSQL is to be asked without a call: while it does not answer, so that the first call after an outage finds a
 * connection; and before the pool closes one that nobody has used, if it is to be kept.
 */
export class Probe {
  readonly #time: Time;
  readonly #keepMs: number | undefined;
  readonly #onDue: () => void;
  #alarm: Alarm | undefined;
  #answeredMicros = 0;
  #isDown = false;
  #isUsed = false;
  #isClosed = false;
  /** Whether it is to be asked now. */
  isDue = false;

  /** @param keepMs - How long a connection may be unused, in milliseconds; undefined if it is not to be kept. */
  constructor(time: Time, keepMs: number | undefined, onDue: () => void) {
    this.#time = time;
    this.#keepMs = keepMs;
    this.#onDue = onDue;
  }

  /** Takes note of a call. While there was none, it is asked for `ready` only. */
  use(): void {
    this.#isUsed = true;
  }

  /** Takes note of an answer. */
  answered(): void {
    this.isDue = this.#isDown = false;
    this.#answeredMicros = this.#time.nowMicros();
    if (this.#keepMs !== undefined) return void (this.#alarm ?? this.#schedule(this.#keepMs));
    this.#alarm?.cancel();
    this.#alarm = undefined;
  }

  /** Takes note of a failure. */
  failed(): void {
    this.isDue = false;
    this.#isDown = true;
    this.#alarm?.cancel();
    this.#alarm = undefined;
    if (this.#isUsed || this.#keepMs !== undefined) this.#schedule(RETRY_MS);
  }

  close(): void {
    this.#isClosed = true;
    this.#alarm?.cancel();
  }

  #schedule(ms: number): void {
    if (this.#isClosed) return;
    this.#alarm = this.#time.alarm(ms, () => this.#rang());
    // It keeps no process alive.
    this.#alarm.unref();
  }

  // One alarm for many answers: setting one for each would cost more.
  #rang(): void {
    this.#alarm = undefined;
    const unusedMs = (this.#time.nowMicros() - this.#answeredMicros) / 1000;
    const leftMs = this.#isDown ? 0 : this.#keepMs! - unusedMs;
    if (leftMs >= 1) return this.#schedule(leftMs);
    this.isDue = true;
    this.#onDue();
  }
}
