import type { Awaitable } from '../async/awaitable.ts';

/** A value in the place of what could not be known, because a function of the user threw or the client's input is bad. */
export class Rejected {
  /** What was thrown, whatever it is. */
  readonly cause: unknown;

  constructor(cause: unknown) {
    this.cause = cause;
  }
}

/** Runs what may throw or reject, and gives a {@link Rejected} then. Never throws and never rejects. */
export function attempt<T>(run: () => Awaitable<T>): Awaitable<T | Rejected> {
  try {
    const value = run();
    return value instanceof Promise ? value.catch(rejected) : value;
  } catch (cause) {
    return rejected(cause);
  }
}

function rejected(cause: unknown): Rejected {
  return new Rejected(cause);
}
