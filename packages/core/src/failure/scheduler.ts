/** Ends a wait; does nothing when it is over. */
export type Cancel = () => void;

/** Time that passes by itself. Tests bring one that they move by hand. */
export interface Scheduler {
  /** Milliseconds since any fixed origin, monotonic, with fractions. */
  nowMs(): number;
  /** Runs once, `delayMs` from now. Keeps the process alive until then. */
  after(delayMs: number, run: () => void): Cancel;
  /** Runs once the event loop has taken in what has already arrived. */
  afterInput(run: () => void): Cancel;
}

/** The process's own timers. */
export const systemScheduler: Scheduler = {
  nowMs: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
  // Node runs timers, then takes in sockets, then immediates.
  afterInput(run) {
    const immediate = setImmediate(run);
    return () => clearImmediate(immediate);
  },
};
