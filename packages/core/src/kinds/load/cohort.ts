import { halfSipHash, type HashKey } from '../../hash/half-sip-hash.ts';

const MINUTE_MS = 60_000;

/**
 * A fixed key, so that a client is in the same cohort in all processes of a service. It is public: whoever can choose
 * ids finds one that passes as easily by trying it.
 */
const KEY: HashKey = { narrow0: 0x736c7569, narrow1: 0x6365206c, wide0: 0x6f616420, wide1: 0x636f686f };

const hash = new Int32Array(2);

/**
 * Returns the cohort of a client: a number from 0 to below 1, evenly distributed over clients, that stays the same for a
 * minute. The minutes of a client begin at a time that depends on its id, so that cohorts do not all change together.
 *
 * @param nowMs - The wall clock, so that the minutes of all processes are the same.
 */
export function cohortOf(id: string, nowMs: number): number {
  const ms = msOfClient(id, nowMs);
  const minute = Math.floor(ms / MINUTE_MS);
  return mixed(hash[1]! ^ Math.imul(minute, 0x9e3779b1)) / 2 ** 32;
}

/** Returns the time until the cohort of a client changes: above 0, at most 60,000 ms. */
export function cohortLeftMs(id: string, nowMs: number): number {
  const ms = msOfClient(id, nowMs);
  return (Math.floor(ms / MINUTE_MS) + 1) * MINUTE_MS - ms;
}

/** Hashes an id, and returns the time at which a clock would be that begins its minutes as the client does. */
function msOfClient(id: string, nowMs: number): number {
  halfSipHash(id, KEY, hash, 0);
  return nowMs + ((hash[0]! >>> 0) % MINUTE_MS);
}

/**
 * Distributes similar numbers evenly over 32 bits.
 *
 * @see The finalizer of MurmurHash3, https://github.com/aappleby/smhasher
 */
function mixed(value: number): number {
  let bits = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
