import { callAndForget, type Awaitable } from '../async/awaitable.ts';
import type { Decided } from '../decision/decided.ts';
import { delayingLimit } from '../decision/results.ts';
import { mapKeyOf } from '../store/bucket-key.ts';
import type { Alarm, Time } from '../time/time.ts';
import { TurnHeap, type Turn } from '../time/turn-heap.ts';

/**
 * Why the wait of a decision ended: its delay is over; that was noticed only after its caller had given up, and its tokens
 * were given back; or the limiter was closed.
 */
export type WaitEnd = 'over' | 'late' | 'closed';

/** Ends the wait of a decision and gives its tokens back. Returns false, and does nothing, if the wait has ended. */
export type Leave = () => boolean;

interface Queued extends Turn {
  readonly decision: Decided;
  /** The order in which decisions began to wait. */
  readonly number: number;
  /** The queues of buckets in which the decision waits. */
  readonly queues: readonly Queue[];
  /** Undefined after the decision has left. */
  end: ((how: WaitEnd) => void) | undefined;
}

/** The decisions that wait because of one limit. */
export interface Waiting {
  readonly count: number;
  /** How long the last one of them still has to wait. */
  readonly longestMs: number;
}

/** The decisions that wait in the queue of one bucket, in the order of their turns. */
interface Queue {
  readonly key: string;
  readonly waiting: Queued[];
}

interface QueuedDecisionsParts {
  readonly time: Time;
  /** Gives back what a decision took. */
  readonly refund: (decision: Decided) => Awaitable<unknown>;
  /** Called for each wait that is over too late. */
  readonly noteLate: (decision: Decided) => void;
}

/**
 * Lets allowed decisions wait for their delays, never shorter by the clock of the limiter, and ends the waits in the
 * order of their turns. It needs one timer, for the earliest.
 *
 * A decision that leaves gives its tokens back when no other waits behind it in a queue of this process. Until then, or until
 * its turn has passed, it stays in its queues. For other processes, the store makes sure of the same: it gives tokens back
 * only at the end of the queue.
 */
export class QueuedDecisions {
  readonly #time: Time;
  readonly #refund: QueuedDecisionsParts['refund'];
  readonly #noteLate: QueuedDecisionsParts['noteLate'];
  readonly #queued = new TurnHeap<Queued>();
  /** By bucket. The last decision of each has not left, or waits in another queue, too. */
  readonly #queues = new Map<string, Queue>();
  #alarm: Alarm | undefined;
  #alarmMicros = Infinity;
  #number = 0;
  #closed = false;

  constructor({ time, refund, noteLate }: QueuedDecisionsParts) {
    this.#time = time;
    this.#refund = refund;
    this.#noteLate = noteLate;
  }

  /**
   * Lets a decision wait.
   *
   * @param end - Called once when the wait has ended, unless the decision leaves. After `close`, it is called at once.
   */
  add(decision: Decided, end: (how: WaitEnd) => void): Leave {
    const dueMicros = this.#time.nowMicros() + Math.round(decision.delayMs * 1000);
    if (this.#closed) {
      this.giveBack(decision);
      end('closed');
      return neverQueued;
    }
    const queues = queuesOf(decision).map((key) => this.#queueOf(key));
    const queued: Queued = { decision, dueMicros, number: this.#number++, queues, end, place: -1 };
    for (const { waiting } of queues) insert(waiting, queued);
    this.#queued.add(queued);
    this.#arm();
    return () => this.#leave(queued);
  }

  /** Returns, by limit, how many decisions wait, and how long the last one still has to. */
  waiting(): ReadonlyMap<string, Waiting> {
    const nowMicros = this.#time.nowMicros();
    const waiting = new Map<string, Waiting>();
    for (const { decision, dueMicros, end } of this.#queued.all) {
      if (end === undefined) continue;
      const limit = delayingLimit(decision);
      const { count, longestMs } = waiting.get(limit) ?? { count: 0, longestMs: 0 };
      const leftMs = Math.max(0, dueMicros - nowMicros) / 1000;
      waiting.set(limit, { count: count + 1, longestMs: Math.max(longestMs, leftMs) });
    }
    return waiting;
  }

  /** Ends all waits now and gives their tokens back, the end of each queue first. */
  close(): void {
    this.#closed = true;
    this.#alarm?.cancel();
    this.#queues.clear();
    const all = this.#queued.clear().toSorted(inTurn);
    for (const { decision } of all.toReversed()) this.giveBack(decision);
    for (const { end } of all) end?.('closed');
  }

  /** Gives back what a decision took. */
  giveBack(decision: Decided): void {
    // It fails only when the limiter is closed. The tokens then refill over time.
    callAndForget(() => this.#refund(decision), ignore);
  }

  #leave(queued: Queued): boolean {
    if (queued.end === undefined || queued.place < 0) return false;
    queued.end = undefined;
    this.#giveBackEnds(queued.queues);
    this.#arm();
    return true;
  }

  /** Gives back the tokens of decisions that have left and are at the end of all their queues. */
  #giveBackEnds(changed: readonly Queue[]): void {
    const open = [...changed];
    for (let queue = open.pop(); queue !== undefined; queue = open.pop()) {
      for (let last = queue.waiting.at(-1); isAtEnd(last); last = queue.waiting.at(-1)) {
        for (const each of last.queues) {
          each.waiting.pop();
          // It may have kept others there.
          if (each !== queue) open.push(each);
        }
        this.#queued.delete(last);
        this.giveBack(last.decision);
      }
      this.#dropIfEmpty(queue);
    }
  }

  #queueOf(key: string): Queue {
    let queue = this.#queues.get(key);
    if (queue === undefined) this.#queues.set(key, (queue = { key, waiting: [] }));
    return queue;
  }

  #dropIfEmpty({ key, waiting }: Queue): void {
    if (waiting.length === 0) this.#queues.delete(key);
  }

  /** Sets the alarm for the earliest turn, if that is not set. */
  #arm(): void {
    const dueMicros = this.#queued.first?.dueMicros ?? Infinity;
    if (dueMicros === this.#alarmMicros) return;
    this.#alarmMicros = dueMicros;
    this.#alarm?.cancel();
    this.#alarm = undefined;
    if (dueMicros === Infinity) return;
    const delayMs = Math.ceil((dueMicros - this.#time.nowMicros()) / 1000);
    this.#alarm = this.#time.alarm(delayMs, () => this.#release());
  }

  // The timer may be a fraction of a millisecond early.
  #release(): void {
    this.#alarmMicros = Infinity;
    this.#alarm = undefined;
    const nowMicros = this.#time.nowMicros();
    for (const { decision, end } of this.#takeDue(nowMicros))
      end?.(nowMicros < (decision.state?.dueMicros ?? Infinity) ? 'over' : this.#late(decision));
    this.#arm();
  }

  #late(decision: Decided): 'late' {
    this.giveBack(decision);
    this.#noteLate(decision);
    return 'late';
  }

  #takeDue(nowMicros: number): readonly Queued[] {
    const due: Queued[] = [];
    for (
      let first = this.#queued.first;
      first !== undefined && first.dueMicros <= nowMicros;
      first = this.#queued.first
    ) {
      this.#queued.delete(first);
      due.push(first);
    }
    const passed = new Set(due.flatMap(({ queues }) => queues));
    for (const queue of passed) {
      const later = queue.waiting.findIndex(({ place }) => place >= 0);
      queue.waiting.splice(0, later === -1 ? Infinity : later);
      this.#dropIfEmpty(queue);
    }
    return due.toSorted(inTurn);
  }
}

/** Whether a decision has left, and no other one waits behind it. */
function isAtEnd(queued: Queued | undefined): queued is Queued {
  return (
    queued !== undefined && queued.end === undefined && queued.queues.every(({ waiting }) => waiting.at(-1) === queued)
  );
}

function inTurn(one: Queued, other: Queued): number {
  return one.dueMicros - other.dueMicros || one.number - other.number;
}

/** Adds a decision in the order of turns: nearly always at the end. */
function insert(waiting: Queued[], queued: Queued): void {
  let place = waiting.length;
  while (place > 0 && waiting[place - 1]!.dueMicros > queued.dueMicros) place--;
  waiting.splice(place, 0, queued);
}

function neverQueued(): boolean {
  return false;
}

function queuesOf({ batch }: Decided): readonly string[] {
  return batch.filter(({ lineTicks }) => lineTicks !== undefined).map(mapKeyOf);
}

function ignore(): void {}
