import { randomBytes } from '../../runtime/random-bytes.ts';

/** Distinguishes this process from all others. Made when the first slot is taken, see {@link randomBytes}. */
let processName: string | undefined;
let last = 0;

/** Returns the name of a new holder of slots: no other process, and no earlier call, has the same. */
export function newHolder(): string {
  processName ??= newProcessName();
  return `${processName}-${(++last).toString(36)}`;
}

/** 12 characters of base64url. */
function newProcessName(): string {
  return btoa(String.fromCharCode(...randomBytes(9)))
    .replaceAll('+', '-')
    .replaceAll('/', '_');
}
