/** Ends a wait; does nothing when it is over. */
export type Cancel = () => void;

/** A timer that can be left to itself while nobody needs it: cheaper than to end it and to make another. */
export interface Alarm {
  /** Keeps the process alive until it runs, as it does when it is new. */
  ref(): void;
  /** Lets the process end before. */
  unref(): void;
  cancel: Cancel;
}

/** Time that passes by itself. Tests bring one that they move by hand. */
export interface Scheduler {
  /** Milliseconds since any fixed origin, monotonic, with fractions. */
  nowMs(): number;
  /** Runs once, `delayMs` from now. Keeps the process alive until then. */
  after(delayMs: number, run: () => void): Cancel;
  /** The same, with a say in whether the process is kept alive. */
  alarm(delayMs: number, run: () => void): Alarm;
  /** Runs once the event loop has taken in what has already arrived. */
  afterInput(run: () => void): Cancel;
}

/** The process's own timers. */
export const systemScheduler: Scheduler = {
  nowMs: () => performance.now(),
  after: (delayMs, run) => systemScheduler.alarm(delayMs, run).cancel,
  alarm(delayMs, run) {
    // Where tests bring a window of their own its timers are numbers, and keep nothing alive.
    const timer: Partial<NodeJS.Timeout> = setTimeout(run, delayMs);
    return {
      ref: () => timer.ref?.(),
      unref: () => timer.unref?.(),
      cancel: () => clearTimeout(timer as NodeJS.Timeout),
    };
  },
  // Node runs timers, then takes in sockets, then immediates.
  afterInput(run) {
    const immediate = setImmediate(run);
    return () => clearImmediate(immediate);
  },
};
