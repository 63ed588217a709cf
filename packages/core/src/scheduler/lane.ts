import { FairQueue } from './fair-queue.ts';
import type { Placed } from './heap.ts';
import type { QueuedCall } from './queued-call.ts';

/** The highest priority, and that of calls that have waited for half of their time. */
export const HIGHEST = 10;

/**
 * - `idle`: no call waits.
 * - `ready`: its first call is to be asked for.
 * - `asking`: the store has been asked, and has not answered.
 * - `parked`: its first call was denied, until `wakeMicros`.
 */
export type LaneState = 'idle' | 'ready' | 'asking' | 'parked';

/** The calls that wait for the same buckets, in their order: higher priority first. */
export class Lane<Call extends QueuedCall> implements Placed {
  readonly key: string;
  /** The buckets, as `limit:id`. */
  readonly buckets: readonly string[];
  place = -1;
  state: LaneState = 'idle';
  wakeMicros = 0;
  /** When the latest call left it. */
  leftMicros = 0;
  /** The earliest time at which its first call may begin, if that is known. */
  knownMicros = 0;
  /** How many calls the next question is for. */
  batch = 1;
  /** How often in a row slots alone have denied it. */
  misses = 0;
  /** The calls that wait here. */
  waiting = 0;
  /** The calls that have begun and not ended. */
  running = 0;
  /** Those of which work of its calls holds something until it ends. */
  readonly held: readonly string[];
  readonly #levels: (FairQueue<Call> | undefined)[] = [];

  constructor(key: string, buckets: readonly string[], held: readonly string[]) {
    this.key = key;
    this.buckets = buckets;
    this.held = held;
  }

  get first(): Call | undefined {
    // A loop: there are 21 priorities at most, and mostly one.
    for (let level = 0; level < this.#levels.length; level++) {
      const first = this.#levels[level]?.first;
      if (first !== undefined) return first;
    }
    return undefined;
  }

  /** The oldest of its calls. */
  get oldest(): Call | undefined {
    let oldest: Call | undefined;
    for (const level of this.#levels)
      for (const call of level?.oldest() ?? []) if (oldest === undefined || call.number < oldest.number) oldest = call;
    return oldest;
  }

  add(call: Call, nowMicros: number): void {
    this.waiting++;
    this.#levelOf(call).add(call, nowMicros);
  }

  delete(call: Call, nowMicros: number): void {
    this.waiting--;
    this.leftMicros = nowMicros;
    this.#levelOf(call).delete(call, nowMicros);
  }

  /** Takes the first call. */
  take(nowMicros: number): Call {
    this.waiting--;
    this.leftMicros = nowMicros;
    return this.#levelOf(this.first!).take(nowMicros);
  }

  /** Puts a call back that was taken. Of several, the latest one first. */
  putBack(call: Call, nowMicros: number): void {
    this.waiting++;
    this.#levelOf(call).putBack(call, nowMicros);
  }

  /** Lets a call wait at the highest priority. */
  promote(call: Call, nowMicros: number): void {
    this.#levelOf(call).delete(call, nowMicros);
    call.priority = HIGHEST;
    this.#levelOf(call).add(call, nowMicros);
  }

  #levelOf({ priority }: Call): FairQueue<Call> {
    return (this.#levels[HIGHEST - priority] ??= new FairQueue<Call>());
  }
}
