import { FakeTime } from '../../src/testing/fake-time.ts';
import type { Alarm } from '../../src/time/time.ts';

/** A time that counts how it is used, and whose process can stall. */
export class CountedTime extends FakeTime {
  /** How often the clock was read. */
  reads = 0;
  /** How often the wall clock was read. */
  wallReads = 0;
  /** How many timers were set. */
  alarms = 0;
  readonly #alarms: Alarm[] = [];

  constructor() {
    super(1000);
  }

  override nowMicros(): number {
    this.reads++;
    return super.nowMicros();
  }

  override wallNow(): number {
    this.wallReads++;
    return super.wallNow();
  }

  override alarm(delayMs: number, run: () => void): Alarm {
    const alarm = super.alarm(delayMs, run);
    this.alarms++;
    this.#alarms.push(alarm);
    return alarm;
  }

  /** Forgets all timers, as a test's fake timers do when they are taken off. */
  loseTimers(): void {
    for (const alarm of this.#alarms) alarm.cancel();
  }

  /** Moves the clock and nothing else, also backwards. */
  step(ms: number): void {
    this.set(this.nowMs + ms);
  }

  /** Lets time pass while the process does something else: the loop turns afterwards. */
  async stall(ms: number): Promise<void> {
    this.step(ms);
    await this.pass(0);
  }
}
