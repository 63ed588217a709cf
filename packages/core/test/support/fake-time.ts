import { settled } from './promises.ts';
import type { Scheduler } from '../../src/time/scheduler.ts';
import type { Alarm, Cancel } from '../../src/time/time.ts';

interface Timer {
  readonly dueMs: number;
  readonly run: () => void;
  keepsAlive: boolean;
}

/** A clock and an event loop that stand still until they are moved, and then turn as Node's does. */
export class FakeTime implements Scheduler {
  /** How often the clock was read. */
  reads = 0;
  /** How many timers were made. */
  made = 0;
  #nowMs = 1000;
  readonly #timers = new Set<Timer>();
  readonly #immediates = new Set<() => void>();
  readonly #input: (() => void)[] = [];

  nowMs(): number {
    this.reads++;
    return this.#nowMs;
  }

  nowMicros(): number {
    return Math.round(this.nowMs() * 1000);
  }

  wallNow(): number {
    return Date.now();
  }

  endOfTurn(run: () => void): Cancel {
    return this.afterInput(run);
  }

  /** Timers and immediates that are still to run and keep the process alive until then. */
  get waiting(): number {
    return [...this.#timers].filter(({ keepsAlive }) => keepsAlive).length + this.#immediates.size;
  }

  after(delayMs: number, run: () => void): Cancel {
    return this.alarm(delayMs, run).cancel;
  }

  alarm(delayMs: number, run: () => void): Alarm {
    this.made++;
    const timer = { dueMs: this.#nowMs + delayMs, run, keepsAlive: true };
    this.#timers.add(timer);
    return {
      ref: () => (timer.keepsAlive = true),
      unref: () => (timer.keepsAlive = false),
      cancel: () => this.#timers.delete(timer),
    };
  }

  afterInput(run: () => void): Cancel {
    this.#immediates.add(run);
    return () => this.#immediates.delete(run);
  }

  /** Forgets all timers, as a test's fake timers do when they are taken off. */
  loseTimers(): void {
    this.#timers.clear();
  }

  /** Puts something into the process's sockets: it is taken in at the next turn of the loop. */
  arrives(input: () => void): void {
    this.#input.push(input);
  }

  /** Lets time pass with a loop that turns whenever a timer is due. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    for (let next = this.#next(); next !== undefined && next.dueMs <= endMs; next = this.#next()) {
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      await this.#turn();
    }
    this.#nowMs = Math.max(this.#nowMs, endMs);
    await this.#turn();
  }

  /** Lets time pass while the process does something else: the loop turns once, afterwards. */
  async stall(ms: number): Promise<void> {
    this.#nowMs += ms;
    await this.#turn();
  }

  /** Moves the clock and nothing else, also backwards. */
  step(ms: number): void {
    this.#nowMs += ms;
  }

  #next(): Timer | undefined {
    return [...this.#timers].toSorted((a, b) => a.dueMs - b.dueMs)[0];
  }

  async #turn(): Promise<void> {
    for (const timer of this.#timers) if (timer.dueMs <= this.#nowMs && this.#timers.delete(timer)) timer.run();
    await settled();
    for (const input of this.#input.splice(0)) input();
    await settled();
    for (const immediate of this.#immediates) if (this.#immediates.delete(immediate)) immediate();
    await settled();
  }
}
