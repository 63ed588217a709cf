import { adopted } from './awaitable.ts';

/** Calls a user's function whose end nobody waits for: what it throws or rejects with goes to `onError`. */
export function runUnawaited(run: () => unknown, onError: (cause: unknown) => void): void {
  try {
    const value = adopted(run());
    if (value instanceof Promise) value.catch(onError);
  } catch (cause) {
    onError(cause);
  }
}
