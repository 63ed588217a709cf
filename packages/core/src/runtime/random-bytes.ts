/**
 * Returns random bytes that nobody can predict.
 *
 * Call it in a request, not while a module is loaded or a limiter is created: Workers allow it only there.
 */
export function randomBytes(length: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(length));
}
