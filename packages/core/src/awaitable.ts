/** A value, or a promise of one. `await` works on both; what answers at once costs no tick. */
export type Awaitable<T> = T | Promise<T>;

/** Whether something must be waited for: a promise, or any object with a `then`. */
export function isPromise<T>(value: Awaitable<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}

/** Goes on with a value as soon as it is there: at once when it is no promise. */
export function andThen<T, U>(value: Awaitable<T>, next: (value: T) => Awaitable<U>): Awaitable<U> {
  return isPromise(value) ? Promise.resolve(value).then(next) : next(value);
}
