/**
 * Handles the rejection of a promise that a user's function has returned where a promise is an error: otherwise it would end
 * the process.
 *
 * @returns The value.
 */
export function ignoreRejection<T>(value: T): T {
  if (value instanceof Promise) value.catch(() => undefined);
  return value;
}
