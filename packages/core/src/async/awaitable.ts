/** A value, or a promise of one. `await` works on both; what answers at once costs no tick. */
export type Awaitable<T> = T | Promise<T>;

/** Goes on with a value as soon as it is there: at once when it is no promise. */
export function andThen<T, U>(value: Awaitable<T>, next: (value: T) => Awaitable<U>): Awaitable<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Puts values together: at once when all are there. */
export function allOf<T>(values: readonly Awaitable<T>[]): Awaitable<readonly T[]> {
  for (let i = 0; i < values.length; i++) if (values[i] instanceof Promise) return Promise.all(values);
  return values as readonly T[];
}

/**
 * Takes in what came from outside (a user's function, a store): whatever has a `then`, such as the queries of many
 * database clients or a promise of another realm, becomes a promise that `instanceof` knows.
 */
export function adopted<T>(value: Awaitable<T>): Awaitable<T> {
  return isThenable(value) && !(value instanceof Promise) ? Promise.resolve(value) : value;
}

function isThenable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
