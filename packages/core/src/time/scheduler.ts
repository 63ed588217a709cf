/** Cancels a wait; does nothing when it is over. */
export type Cancel = () => void;

/** A timer that can be left running while it is not needed, which is cheaper than cancelling it and setting another. */
export interface Alarm {
  /** Lets the timer keep the process alive. This is the initial state. */
  ref(): void;
  /** Stops the timer from keeping the process alive. */
  unref(): void;
  cancel: Cancel;
}

/** A source of time and timers. Tests pass one that they advance by hand. */
export interface Scheduler {
  /** Milliseconds since any fixed origin, monotonic, with fractions. */
  nowMs(): number;
  /** Calls `run` once, after `delayMs`. Keeps the process alive until then. */
  after(delayMs: number, run: () => void): Cancel;
  /** Like `after`, and the timer can be told whether to keep the process alive. */
  alarm(delayMs: number, run: () => void): Alarm;
  /** Calls `run` after the event loop has processed input that has already arrived. */
  afterInput(run: () => void): Cancel;
}

/** The process's own timers. */
export const systemScheduler: Scheduler = {
  nowMs: () => performance.now(),
  after: (delayMs, run) => systemScheduler.alarm(delayMs, run).cancel,
  alarm(delayMs, run) {
    // In a test environment with its own `window`, such as jsdom, timers are numbers and keep nothing alive.
    const timer: Partial<NodeJS.Timeout> = setTimeout(run, delayMs);
    return {
      ref: () => timer.ref?.(),
      unref: () => timer.unref?.(),
      cancel: () => clearTimeout(timer as NodeJS.Timeout),
    };
  },
  // The event loop of Node runs timers, then socket callbacks, then immediates.
  afterInput(run) {
    const immediate = setImmediate(run);
    return () => clearImmediate(immediate);
  },
};
