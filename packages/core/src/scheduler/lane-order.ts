import { Heap } from './heap.ts';
import { comesFirst, type CallLane, type ScheduledCall } from './scheduled-call.ts';

/** Which lane is asked next, and which ones wait until when. */
export class LaneOrder {
  readonly #ready = new Heap<CallLane>((one, other) => comesFirst(one.first!, other.first!));
  readonly #parked = new Heap<CallLane>((one, other) => one.wakeMicros < other.wakeMicros);
  /** By bucket: the latest call that it has denied, which is the first of a lane that is parked. */
  readonly #blocks = new Map<string, ScheduledCall>();

  get nextMicros(): number {
    return this.#parked.first?.wakeMicros ?? Infinity;
  }

  /** The lane of which the first call comes first. */
  get next(): CallLane | undefined {
    return this.#ready.first;
  }

  /** Takes the lane of which the first call comes first. */
  take(): CallLane | undefined {
    const lane = this.#ready.first;
    if (lane === undefined) return undefined;
    this.#ready.delete(lane);
    lane.state = 'asking';
    return lane;
  }

  /** Lets a lane be asked that is not asked now, or lets it rest if no call waits. */
  release(lane: CallLane): void {
    this.#parked.delete(lane);
    lane.state = lane.first === undefined ? 'idle' : 'ready';
    if (lane.state === 'ready') this.#ready.add(lane);
  }

  /** Lets a lane wait that is not asked now. */
  park(lane: CallLane, wakeMicros: number): void {
    lane.state = 'parked';
    lane.wakeMicros = wakeMicros;
    this.#parked.add(lane);
  }

  /** Ends the wait of a lane. */
  wake(lane: CallLane): void {
    if (lane.state !== 'parked') return;
    for (const bucket of lane.buckets) if (this.#blocks.get(bucket)?.lane === lane) this.#blocks.delete(bucket);
    this.release(lane);
  }

  /** Ends the waits that are over. */
  pass(nowMicros: number): void {
    for (let lane = this.#parked.first; lane !== undefined && lane.wakeMicros <= nowMicros; lane = this.#parked.first)
      this.wake(lane);
  }

  /** Call it after a call has come to a lane, or left it, with the call that was its first one before. */
  changed(lane: CallLane, firstBefore: ScheduledCall | undefined): void {
    const { state, first } = lane;
    if (state === 'asking') return;
    if (state === 'idle') return this.release(lane);
    // What denied the first call need not deny another one.
    if (state === 'parked') return first === firstBefore ? undefined : this.wake(lane);
    if (first !== undefined) return this.#ready.move(lane);
    this.#ready.delete(lane);
    lane.state = 'idle';
  }

  /** Notes the buckets that have denied a call, so that calls after it do not pass it there. */
  block(buckets: readonly string[], call: ScheduledCall): void {
    for (const bucket of buckets) this.#blocks.set(bucket, call);
  }

  /** Until when a bucket of a lane is kept for a call of another lane that comes before. */
  blockedUntil({ buckets, first }: CallLane): number | undefined {
    if (this.#blocks.size === 0) return undefined;
    for (const bucket of buckets) {
      const call = this.#blocks.get(bucket);
      if (call !== undefined && comesFirst(call, first!)) return call.lane.wakeMicros;
    }
    return undefined;
  }
}
