import type { Time } from '@sluice/core';
import type { Alarm, Cancel } from '@sluice/core/store';
import type { FakeTime } from '@sluice/core/testing';

/** The clock of a store, which steps forward and back against those of the processes. Nothing else of it is used. */
export class ServerTime implements Time {
  readonly #time: FakeTime;
  #aheadMs = 0;
  #latestMicros = 0;

  constructor(time: FakeTime) {
    this.#time = time;
  }

  readonly nowMicros = (): number => this.#time.nowMicros() + this.#aheadMs * 1000;
  readonly wallNow = (): number => this.#time.wallNow();
  readonly alarm = (delayMs: number, run: () => void): Alarm => this.#time.alarm(delayMs, run);
  readonly endOfTurn = (run: () => void): Cancel => this.#time.endOfTurn(run);

  /** The latest time that it has ever shown before a step. */
  get latestMicros(): number {
    return Math.max(this.#latestMicros, this.nowMicros());
  }

  step(ms: number): void {
    this.#latestMicros = this.latestMicros;
    this.#aheadMs += ms;
  }
}

interface Timer {
  readonly due: () => void;
  readonly dueMicros: number;
  alarm: Alarm;
}

/**
 * The time of one process. It can stand still for a while: its clock moves, and its timers run afterwards. Its clock can
 * also jump ahead of the others, and its timers with it.
 */
export class GatewayTime implements Time {
  readonly #time: FakeTime;
  readonly #timers = new Set<Timer>();
  /** What has become due while it stood still. */
  readonly #late = new Set<() => void>();
  #aheadMicros = 0;
  isStalled = false;

  constructor(time: FakeTime) {
    this.#time = time;
  }

  /** How many timers are set. */
  get timers(): number {
    return this.#timers.size;
  }

  nowMicros(): number {
    return this.#time.nowMicros() + this.#aheadMicros;
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
      this.#timers.delete(timer);
      run();
    };
    const dueMicros = this.nowMicros() + delayMs * 1000;
    const timer: Timer = { due, dueMicros, alarm: this.#time.alarm(delayMs, due) };
    this.#timers.add(timer);
    return {
      ref: () => timer.alarm.ref(),
      unref: () => timer.alarm.unref(),
      cancel: () => {
        timer.alarm.cancel();
        this.#late.delete(due);
        this.#timers.delete(timer);
      },
    };
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

  /** Moves the clock forward, and runs the timers that are due then. */
  jump(ms: number): void {
    this.#aheadMicros += ms * 1000;
    const timers = [...this.#timers].filter(({ due }) => !this.#late.has(due));
    for (const timer of timers.toSorted((a, b) => a.dueMicros - b.dueMicros)) {
      // One of them may cancel another.
      if (!this.#timers.has(timer)) continue;
      timer.alarm.cancel();
      const leftMs = (timer.dueMicros - this.nowMicros()) / 1000;
      if (leftMs > 0) timer.alarm = this.#time.alarm(leftMs, timer.due);
      else timer.due();
    }
  }

  /** Ends the process: no timer of it runs any more. */
  crash(): void {
    for (const { alarm } of this.#timers) alarm.cancel();
  }
}
