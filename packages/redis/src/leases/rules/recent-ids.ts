/** So many hashes are told apart. With 10,000 ids in the time that counts, one of 25 that are new does not look so. */
const HASHES = 2 ** 18;
/** Windows of time have a number from 1 up to this. */
const WINDOWS = 255;

/**
 * Which ids were asked for of late: in this window of time, or in the one before. It remembers hashes of ids, which takes
 * 256 kB however many there are. An id with the hash of another one counts as asked for.
 */
export class RecentIds {
  readonly #windowOf = new Uint8Array(HASHES);
  readonly #windowTicks: number;

  constructor(windowTicks: number) {
    this.#windowTicks = windowTicks;
  }

  /** Notes an id. Returns whether it had been noted before. */
  note(id: string, nowTicks: number): boolean {
    const hash = hashOf(id);
    const window = Math.floor(nowTicks / this.#windowTicks);
    const noted = this.#windowOf[hash];
    this.#windowOf[hash] = numberOf(window);
    return noted === numberOf(window) || noted === numberOf(window + WINDOWS - 1);
  }
}

function numberOf(window: number): number {
  return (window % WINDOWS) + 1;
}

/** FNV-1a of the UTF-16 code units. Who makes ids collide gains nothing: their buckets are only kept for longer. */
function hashOf(id: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  return (hash ^ (hash >>> 16)) & (HASHES - 1);
}
