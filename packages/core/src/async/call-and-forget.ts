import { toNativePromise } from './awaitable.ts';

/** Calls a user's function without waiting for it. Passes to `onError` what it throws or rejects with. */
export function callAndForget(run: () => unknown, onError: (cause: unknown) => void): void {
  try {
    const value = toNativePromise(run());
    if (value instanceof Promise) value.catch(onError);
  } catch (cause) {
    onError(cause);
  }
}
