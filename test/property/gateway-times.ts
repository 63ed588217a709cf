import type { Alarm, Cancel, Time } from '@sluice/core';
import type { FakeTime } from '@sluice/core/testing';

/** The clock of a store, which can step back against those of the processes. */
export class ServerTime implements Time {
  readonly #time: FakeTime;
  /** How far it has stepped back in all. */
  steppedMs = 0;

  constructor(time: FakeTime) {
    this.#time = time;
  }

  nowMicros(): number {
    return this.#time.nowMicros() - this.steppedMs * 1000;
  }

  wallNow(): number {
    return this.#time.wallNow();
  }

  alarm(delayMs: number, run: () => void): Alarm {
    return this.#time.alarm(delayMs, run);
  }

  endOfTurn(run: () => void): Cancel {
    return this.#time.endOfTurn(run);
  }

  stepBack(ms: number): void {
    this.steppedMs += ms;
  }
}

/** The time of one process, which can stand still for a while: its clock moves, and its timers run afterwards. */
export class GatewayTime implements Time {
  readonly #time: FakeTime;
  readonly #alarms = new Set<Alarm>();
  /** What has become due while it stood still. */
  readonly #late = new Set<() => void>();
  isStalled = false;

  constructor(time: FakeTime) {
    this.#time = time;
  }

  /** How many timers are set. */
  get timers(): number {
    return this.#alarms.size;
  }

  nowMicros(): number {
    return this.#time.nowMicros();
  }

  wallNow(): number {
    return this.#time.wallNow();
  }

  alarm(delayMs: number, run: () => void): Alarm {
    const due = (): void => {
      if (this.isStalled) {
        this.#late.add(due);
        return;
      }
      this.#alarms.delete(alarm);
      run();
    };
    const timer = this.#time.alarm(delayMs, due);
    const alarm: Alarm = {
      ref: () => timer.ref(),
      unref: () => timer.unref(),
      cancel: () => {
        timer.cancel();
        this.#late.delete(due);
        this.#alarms.delete(alarm);
      },
    };
    this.#alarms.add(alarm);
    return alarm;
  }

  endOfTurn(run: () => void): Cancel {
    return this.#time.endOfTurn(run);
  }

  stall(): void {
    this.isStalled = true;
  }

  resume(): void {
    this.isStalled = false;
    // One of them may cancel another.
    for (const run of this.#late) {
      this.#late.delete(run);
      run();
    }
  }

  /** Ends the process: no timer of it runs any more. */
  crash(): void {
    for (const alarm of this.#alarms) alarm.cancel();
  }
}
