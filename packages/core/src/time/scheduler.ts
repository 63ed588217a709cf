import { systemTime, type Cancel, type Time } from './time.ts';

/** A source of time and timers. Tests pass one that they advance by hand. */
export interface Scheduler extends Time {
  /** Milliseconds since any fixed origin, monotonic, with fractions. */
  nowMs(): number;
  /** Calls `run` once, after `delayMs`. Keeps the process alive until then. */
  after(delayMs: number, run: () => void): Cancel;
  /** Calls `run` after the event loop has processed input that has already arrived. */
  afterInput(run: () => void): Cancel;
}

/** The process's own timers. */
export const systemScheduler: Scheduler = {
  ...systemTime,
  nowMs: () => performance.now(),
  after: (delayMs, run) => systemTime.alarm(delayMs, run).cancel,
  afterInput: (run) => systemTime.endOfTurn(run),
};
