/** Up to this length a loop is faster than a call. */
const SHORT = 64;

/** Copies bytes from one buffer to another. */
export function copyBytes(from: Buffer, start: number, to: Buffer, at: number, length: number): void {
  if (length > SHORT) from.copy(to, at, start, start + length);
  else for (let i = 0; i < length; i++) to[at + i] = from[start + i]!;
}
