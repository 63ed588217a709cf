import { attempt } from '../../async/awaitable.ts';
import { randomBytes } from '../../runtime/random-bytes.ts';
import { BucketTable } from '../../store/memory/bucket-table.ts';
import { IdHasher, SECRET_BYTES } from '../../store/memory/id-hasher.ts';
import { SpareBuffer } from '../../store/memory/rebuild.ts';

/** Values by ids. */
export type IdValues<Value> = Map<string, Value> | IdTable<Value>;

/** Up to so many ids, a map of texts is in the cache of the processor, and is faster than a hash. */
const FEW = 1024;

/**
 * Values by ids, for many ids with few different values. A table like those of the memory store has 16 bytes for each slot
 * and no texts: a look-up reads one place of the memory, and not the objects and the text of the id. An id is found by 63
 * bits of its keyed hash. With a million ids, the probability that another id is taken for one of them is 10⁻¹³.
 */
class IdTable<Value> {
  readonly #hasher: IdHasher;
  readonly #values: Value[] = [];
  readonly #indexes = new Map<Value, number>();
  /** By the hash of an id, the index of its value in place of a TAT. */
  readonly #table = new BucketTable('', { spare: new SpareBuffer(), totals: { size: 0, swept: 0, evicted: 0 } });

  constructor(secret: Uint8Array) {
    this.#hasher = new IdHasher(() => secret);
  }

  get(id: string): Value | undefined {
    const hash = this.#hasher.hashOf(id);
    const index = this.#table.tat(hash[0]! | 1, hash[1]!);
    return index < 0 ? undefined : this.#values[index];
  }

  set(id: string, value: Value): void {
    let index = this.#indexes.get(value);
    if (index === undefined) {
      index = this.#values.push(value) - 1;
      this.#indexes.set(value, index);
    }
    const hash = this.#hasher.hashOf(id);
    // None of them has passed.
    this.#table.put(hash[0]! | 1, hash[1]!, index, -Infinity);
  }
}

/**
 * Sets the value of an id.
 *
 * @returns Where the values are from then on.
 */
export function withValue<Value>(values: IdValues<Value>, id: string, value: Value): IdValues<Value> {
  const all = values instanceof Map && values.size === FEW ? tableOf(values) : values;
  all.set(id, value);
  return all;
}

/** Some runtimes have no random numbers until the first request: a limiter that is made before keeps its map. */
function tableOf<Value>(values: Map<string, Value>): IdValues<Value> {
  const secret = attempt(() => randomBytes(SECRET_BYTES));
  if (!(secret instanceof Uint8Array)) return values;
  const table = new IdTable<Value>(secret);
  for (const [id, value] of values) table.set(id, value);
  return table;
}
