import { halfSipHash, type HashKey } from '../../hash/half-sip-hash.ts';
import { EVERYONE } from '../../keys/everyone.ts';

/** The number of bytes of the secret of an {@link IdHasher}. */
export const SECRET_BYTES = 16;

/**
 * Hashes ids with one secret key for all limits of a store. Each limit has its own table, so the hash need not include
 * the limit's name, and an id that several limits of a batch share is hashed once.
 */
export class IdHasher {
  readonly #newSecret: () => Uint8Array;
  #secret: Uint8Array | undefined;
  #key: HashKey | undefined;
  #lastId: string | undefined;
  readonly #lastHash = new Int32Array(2);
  /** The hash of the id of all who share a bucket, such as a pool beside the bucket of an id. */
  readonly #everyoneHash = new Int32Array(2);
  #lastCalendar: string | undefined;
  readonly #calendarHash = new Int32Array(2);

  /**
   * @param newSecret - Returns {@link SECRET_BYTES} random bytes that no client knows. Called once, for the first hash:
   * a store may be created where a runtime has no random numbers yet.
   */
  constructor(newSecret: () => Uint8Array) {
    this.#newSecret = newSecret;
  }

  /** The secret of all hashes. */
  get secret(): Uint8Array {
    return (this.#secret ??= this.#newSecret());
  }

  /** Replaces the secret: all hashes are then others. */
  set secret(secret: Uint8Array) {
    this.#secret = secret;
    this.#key = undefined;
    this.#lastId = undefined;
    this.#lastCalendar = undefined;
  }

  /** Writes the hash as two int32. The first one is made odd, because 0 marks an empty slot; 63 bits remain. */
  hash(id: string, out: Int32Array, at: number): void {
    const hash = this.hashOf(id);
    out[at] = hash[0]! | 1;
    out[at + 1] = hash[1]!;
  }

  /** Returns the hash as two int32, before the first one is made odd. Valid until the next call. */
  hashOf(id: string): Int32Array {
    return id === this.#lastId ? this.#lastHash : this.#otherHash(id);
  }

  #otherHash(id: string): Int32Array {
    const key = this.#key ?? this.#firstKey();
    if (id === EVERYONE) return this.#everyoneHash;
    halfSipHash(id, key, this.#lastHash, 0);
    this.#lastId = id;
    return this.#lastHash;
  }

  /**
   * Changes the hash of an id to that of its bucket with a calendar, the exclusive or of both hashes. So an id is
   * hashed once, and the last calendar is cached. The NUL before the calendar keeps its hash different from that of an
   * id.
   */
  combine(calendar: string, out: Int32Array, at: number): void {
    const hash = this.calendarHash(calendar);
    out[at] = (out[at]! ^ hash[0]!) | 1;
    out[at + 1]! ^= hash[1]!;
  }

  /** Returns what {@link combine} combines the hash of an id with. Call it after an id was hashed: then there is a key. */
  calendarHash(calendar: string): Int32Array {
    if (calendar !== this.#lastCalendar) {
      halfSipHash(`\0${calendar}`, this.#key!, this.#calendarHash, 0);
      this.#lastCalendar = calendar;
    }
    return this.#calendarHash;
  }

  #firstKey(): HashKey {
    const { secret } = this;
    const words = new DataView(secret.buffer, secret.byteOffset, SECRET_BYTES);
    this.#key = {
      narrow0: words.getInt32(0, true),
      narrow1: words.getInt32(4, true),
      wide0: words.getInt32(8, true),
      wide1: words.getInt32(12, true),
    };
    halfSipHash(EVERYONE, this.#key, this.#everyoneHash, 0);
    return this.#key;
  }
}
