import { randomBytes } from 'node:crypto';

/** Distinguishes this process from all others. */
const PROCESS = randomBytes(9).toString('base64url');
let last = 0;

/** Returns the name of a new holder of slots: no other process, and no earlier call, has the same. */
export function newHolder(): string {
  return `${PROCESS}-${(++last).toString(36)}`;
}
