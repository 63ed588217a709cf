// The room async: values that may be promises.

/** A value, or a promise of one. `await` works on both. A plain value is used synchronously, without a promise. */
export type Awaitable<T> = T | Promise<T>;

/** Calls a function with a value: synchronously, or when the promise has resolved. */
export function andThen<T, U>(value: Awaitable<T>, next: (value: T) => Awaitable<U>): Awaitable<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Combines values like `Promise.all`, but returns an array synchronously when none of them is a promise. */
export function allOf<T>(values: readonly Awaitable<T>[]): Awaitable<readonly T[]> {
  for (let i = 0; i < values.length; i++) if (values[i] instanceof Promise) return Promise.all(values);
  return values as readonly T[];
}

/** Combines values like {@link allOf}, but waits for all of them before it rejects. */
export function allEnded<T>(values: readonly Awaitable<T>[]): Awaitable<readonly T[]> {
  const isAsync = values.some((value) => value instanceof Promise);
  return isAsync ? Promise.allSettled(values).then(() => Promise.all(values)) : (values as readonly T[]);
}

/**
 * Converts a thenable from a user's function or a store into a native promise. Queries of many database clients, and
 * promises of another realm, have a `then` method but are not instances of `Promise`, which the callers test with
 * `instanceof`.
 */
export function toNativePromise<T>(value: Awaitable<T>): Awaitable<T> {
  return isThenable(value) && !(value instanceof Promise) ? Promise.resolve(value) : value;
}

function isThenable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}

/** Calls a user's function without waiting for it. Passes to `onError` what it throws or rejects with. */
export function callAndForget(run: () => unknown, onError: (cause: unknown) => void): void {
  try {
    const value = toNativePromise(run());
    if (value instanceof Promise) value.catch(onError);
  } catch (cause) {
    onError(cause);
  }
}

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
