import type { SpendEntry } from '../limiter/entry.ts';
import { Lane } from './lane.ts';
import type { CallLane, ScheduledCall } from './scheduled-call.ts';

/** Above this number of lanes, those that are empty are dropped, whenever their number has doubled. */
const FIRST_SWEEP = 64;
/** A lane remembers what its keys have had for a second, like its queues. */
const FORGOTTEN_MICROS = 1_000_000;

/** The lanes by their buckets, and by each bucket. */
export class Lanes {
  readonly #byKey = new Map<string, CallLane>();
  readonly #byBucket = new Map<string, Set<CallLane>>();
  readonly #holds: (limit: string) => boolean;
  #sweepAt = FIRST_SWEEP;

  /** @param holds - Whether work holds something of a limit until it ends. */
  constructor(holds: (limit: string) => boolean) {
    this.#holds = holds;
  }

  get all(): Iterable<CallLane> {
    return this.#byKey.values();
  }

  /** Returns the lane of entries. */
  of(entries: readonly SpendEntry[], nowMicros: number): CallLane {
    const key = keyOf(entries);
    return this.#byKey.get(key) ?? this.#add(key, entries, nowMicros);
  }

  /** The lanes of which calls wait for any bucket of a lane, itself included. */
  *beside({ buckets }: CallLane): Generator<CallLane> {
    for (const bucket of buckets) yield* this.#byBucket.get(bucket) ?? [];
  }

  #add(key: string, entries: readonly SpendEntry[], nowMicros: number): CallLane {
    if (this.#byKey.size >= this.#sweepAt) this.#sweep(nowMicros);
    const lane = new Lane<ScheduledCall>(
      key,
      [...new Set(entries.map(bucketOf))],
      entries.filter((entry) => this.#holds(entry?.limit)).map(bucketOf),
    );
    this.#byKey.set(key, lane);
    for (const bucket of lane.buckets) {
      const lanes = this.#byBucket.get(bucket);
      if (lanes === undefined) this.#byBucket.set(bucket, new Set([lane]));
      else lanes.add(lane);
    }
    return lane;
  }

  #sweep(nowMicros: number): void {
    for (const lane of this.#byKey.values()) {
      if (lane.state === 'idle' && lane.running === 0 && nowMicros - lane.leftMicros >= FORGOTTEN_MICROS)
        this.#drop(lane);
    }
    this.#sweepAt = Math.max(FIRST_SWEEP, 2 * this.#byKey.size);
  }

  #drop(lane: CallLane): void {
    this.#byKey.delete(lane.key);
    for (const bucket of lane.buckets) {
      const lanes = this.#byBucket.get(bucket)!;
      lanes.delete(lane);
      if (lanes.size === 0) this.#byBucket.delete(bucket);
    }
  }
}

/** The order of entries makes no other lane. Most calls have one. */
function keyOf(entries: readonly SpendEntry[]): string {
  return entries.length === 1 ? bucketOf(entries[0]!) : JSON.stringify(entries.map(bucketOf).toSorted());
}

// An entry that is not one is rejected when the store is asked.
function bucketOf(entry: SpendEntry): string {
  return `${entry?.limit}:${entry?.id}`;
}
