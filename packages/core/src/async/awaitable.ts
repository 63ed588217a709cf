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
