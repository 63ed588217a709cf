import { adopted } from './awaitable.ts';

/** Calls a user's function without waiting for it. Passes to `onError` what it throws or rejects with. */
export function runUnawaited(run: () => unknown, onError: (cause: unknown) => void): void {
  try {
    const value = adopted(run());
    if (value instanceof Promise) value.catch(onError);
  } catch (cause) {
    onError(cause);
  }
}
