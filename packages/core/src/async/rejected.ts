import type { Awaitable } from './awaitable.ts';

/** A failure in place of a value: a user's function threw, or the client's input is invalid. */
export class Rejected {
  /** The thrown value, of any type. */
  readonly cause: unknown;

  constructor(cause: unknown) {
    this.cause = cause;
  }
}

/** Calls a function that may throw or reject, and returns a {@link Rejected} then. Never throws or rejects. */
export function attempt<T>(run: () => Awaitable<T>): Awaitable<T | Rejected> {
  try {
    const value = run();
    return value instanceof Promise ? value.catch(rejected) : value;
  } catch (cause) {
    return rejected(cause);
  }
}

/** Creates a {@link Rejected}: a callback for `catch`. */
export function rejected(cause: unknown): Rejected {
  return new Rejected(cause);
}
