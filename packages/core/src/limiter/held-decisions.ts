import { callAndForget, type Awaitable } from '../async/awaitable.ts';
import { Decision } from '../decision/decision.ts';
import { mapKeyOf } from '../store/bucket-key.ts';
import type { Alarm, Time } from '../time/time.ts';

/** Why the wait of a decision ended: its delay is over, or the limiter was closed. */
export type HoldEnd = 'over' | 'closed';

/** Ends the wait of a decision and gives its tokens back. Returns false, and does nothing, if the wait has ended. */
export type Leave = () => boolean;

interface Held {
  readonly decision: Decision;
  readonly dueMicros: number;
  /** The buckets in whose queues the decision waits. */
  readonly queues: readonly string[];
  /** Undefined after the decision has left. */
  end: ((how: HoldEnd) => void) | undefined;
}

interface HeldDecisionsParts {
  readonly time: Time;
  /** Gives back what a decision took. */
  readonly refund: (decision: Decision) => Awaitable<unknown>;
}

/**
 * Lets allowed decisions wait for their delays, never shorter by the clock of the limiter, and ends the waits in the
 * order of their turns. It needs one timer, for the earliest.
 *
 * A decision that leaves gives its tokens back when no other waits behind it in this process. Until then, or until its
 * turn has passed, it stays in the queue. For other processes, the store makes sure of the same: it gives tokens back
 * only at the end of the queue.
 */
export class HeldDecisions {
  readonly #time: Time;
  readonly #refund: HeldDecisionsParts['refund'];
  /** In the order of their turns. The last one has not left. */
  readonly #held: Held[] = [];
  #alarm: Alarm | undefined;
  #closed = false;

  constructor({ time, refund }: HeldDecisionsParts) {
    this.#time = time;
    this.#refund = refund;
  }

  /**
   * Lets a decision wait.
   *
   * @param end - Called once when the wait has ended, unless the decision leaves. After `close`, it is called at once.
   */
  hold(decision: Decision, end: (how: HoldEnd) => void): Leave {
    const dueMicros = this.#time.nowMicros() + Math.round(decision.delayMs * 1000);
    const held: Held = { decision, dueMicros, queues: queuesOf(decision), end };
    if (this.#closed) {
      this.giveBack(decision);
      end('closed');
    } else {
      this.#held.splice(this.#held.findLastIndex((other) => other.dueMicros <= dueMicros) + 1, 0, held);
      this.#arm();
    }
    return () => this.#leave(held);
  }

  /** Ends all waits now and gives their tokens back, the end of each queue first. */
  close(): void {
    this.#closed = true;
    this.#alarm?.cancel();
    const all = this.#held.splice(0);
    for (const { decision } of all.toReversed()) this.giveBack(decision);
    for (const { end } of all) end?.('closed');
  }

  /** Gives back what a decision took. */
  giveBack(decision: Decision): void {
    // It fails only when the limiter is closed. The tokens then refill over time.
    callAndForget(() => this.#refund(decision), ignore);
  }

  #leave(held: Held): boolean {
    if (held.end === undefined || !this.#held.includes(held)) return false;
    held.end = undefined;
    this.#giveBackEnds(held.queues);
    this.#arm();
    return true;
  }

  /**
   * Gives back the tokens of decisions that have left and are at the end of their queues.
   *
   * @param queues - The queues whose end may have changed. Others are skipped, because thousands of
   * decisions may leave at once.
   */
  #giveBackEnds(queues: readonly string[]): void {
    const open = new Set(queues);
    const taken = new Set<string>();
    for (let i = this.#held.length - 1; i >= 0 && open.size > 0; i--) {
      const { decision, end, queues: own } = this.#held[i]!;
      const isFree = end === undefined && !own.some((queue) => taken.has(queue));
      if (isFree) {
        this.#held.splice(i, 1);
        this.giveBack(decision);
      }
      for (const queue of own) {
        (isFree ? open : taken).add(queue);
        if (!isFree) open.delete(queue);
      }
    }
  }

  #arm(): void {
    this.#alarm?.cancel();
    this.#alarm = undefined;
    const [first] = this.#held;
    if (first === undefined) return;
    const delayMs = Math.ceil((first.dueMicros - this.#time.nowMicros()) / 1000);
    this.#alarm = this.#time.alarm(delayMs, () => this.#release());
  }

  // The timer may be a fraction of a millisecond early.
  #release(): void {
    const nowMicros = this.#time.nowMicros();
    const later = this.#held.findIndex(({ dueMicros }) => dueMicros > nowMicros);
    const due = this.#held.splice(0, later === -1 ? this.#held.length : later);
    for (const { end } of due) end?.('over');
    this.#arm();
  }
}

function queuesOf(decision: Decision): readonly string[] {
  const answer = Decision.answerOf(decision);
  return answer.batch.filter(({ lineTicks }) => lineTicks !== undefined).map(mapKeyOf);
}

function ignore(): void {}
