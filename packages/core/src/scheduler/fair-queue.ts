import { Flow } from './flow.ts';
import { Heap } from './heap.ts';
import type { QueuedCall } from './queued-call.ts';

/** A key that has no call for so long starts anew. */
const FORGOTTEN_MICROS = 1_000_000;
/** The least number of keys at which those that are forgotten are dropped. */
const FIRST_SWEEP = 64;

/**
 * The waiting calls of one priority: start-time fair queueing over their costs. The key that has had the least comes next,
 * and of one key first come, first served.
 *
 * A call starts at the virtual time at which the one before it of its key ends, but not before that of the latest call that
 * was taken from the queue; it ends `cost` later. The call with the earliest start comes first.
 *
 * @see Goyal, Vin, Cheng: Start-time Fair Queuing, 1996
 */
export class FairQueue<Call extends QueuedCall> {
  readonly #flows = new Map<string, Flow<Call>>();
  readonly #backlogged = new Heap<Flow<Call>>(comesBefore);
  /** The start of the latest call that was taken. */
  #virtual = 0;
  #sweepAt = FIRST_SWEEP;

  get first(): Call | undefined {
    return this.#backlogged.first?.first;
  }

  /** The oldest call of each key that has one. */
  *oldest(): Generator<Call> {
    for (const { first } of this.#backlogged.all) yield first!;
  }

  add(call: Call, nowMicros: number): void {
    const flow = this.#flowOf(call.fair, nowMicros);
    const wasEmpty = flow.first === undefined;
    if (call.keepsPlace) flow.insert(call);
    else flow.append(call);
    if (flow.first !== call) return;
    if (!wasEmpty) return this.#backlogged.move(flow);
    const isForgotten = nowMicros - flow.leftMicros >= FORGOTTEN_MICROS;
    flow.start = isForgotten ? this.#virtual : Math.max(this.#virtual, flow.finish);
    this.#backlogged.add(flow);
  }

  /** Removes a call without a trace: it has had nothing. */
  delete(call: Call, nowMicros: number): void {
    const flow = this.#flows.get(call.fair)!;
    flow.remove(call);
    this.#changed(flow, nowMicros);
  }

  /** Takes the first call. */
  take(nowMicros: number): Call {
    const flow = this.#backlogged.first!;
    const call = flow.first!;
    call.taken = { start: flow.start, virtual: this.#virtual, finish: flow.finish };
    this.#virtual = flow.start;
    flow.finish = flow.start += call.cost;
    flow.remove(call);
    this.#changed(flow, nowMicros);
    return call;
  }

  /** Puts a call back that was taken. Of several, the latest one first. */
  putBack(call: Call, nowMicros: number): void {
    const flow = this.#flowOf(call.fair, nowMicros);
    flow.prepend(call);
    const { start, virtual, finish } = call.taken!;
    this.#virtual = virtual;
    flow.finish = finish;
    flow.start = start;
    call.taken = undefined;
    if (flow.place < 0) this.#backlogged.add(flow);
    else this.#backlogged.move(flow);
  }

  #changed(flow: Flow<Call>, nowMicros: number): void {
    if (flow.first !== undefined) return this.#backlogged.move(flow);
    this.#backlogged.delete(flow);
    flow.leftMicros = nowMicros;
  }

  #flowOf(key: string, nowMicros: number): Flow<Call> {
    let flow = this.#flows.get(key);
    if (flow === undefined) {
      if (this.#flows.size >= this.#sweepAt) this.#sweep(nowMicros);
      flow = new Flow<Call>();
      this.#flows.set(key, flow);
    }
    return flow;
  }

  #sweep(nowMicros: number): void {
    for (const [key, { first, leftMicros }] of this.#flows)
      if (first === undefined && nowMicros - leftMicros >= FORGOTTEN_MICROS) this.#flows.delete(key);
    this.#sweepAt = Math.max(FIRST_SWEEP, 2 * this.#flows.size);
  }
}

function comesBefore(one: Flow<QueuedCall>, other: Flow<QueuedCall>): boolean {
  return one.start < other.start || (one.start === other.start && one.first!.number < other.first!.number);
}
