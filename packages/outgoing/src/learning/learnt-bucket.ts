import type { Time } from '@sluice/core';
import { OthersUse } from './others-use.ts';
import { WaitingLine, type Turn } from './waiting-line.ts';
import type { Target } from './targets.ts';

/** A target of a call, and what is known about it. */
export interface CountedTarget {
  readonly target: Target;
  readonly bucket: LearntBucket;
}

/** What an answer has taught about a bucket. */
export interface Learnt {
  /** What is left. */
  readonly remaining: number | undefined;
  /** For how long nothing passes, in microseconds. */
  readonly blockMicros: number | undefined;
}

/** A call at a bucket. */
export interface CountedCall {
  readonly sentMicros: number;
  /** How long to believe what its answer teaches. */
  readonly atMostMicros: number;
}

/** What was known when a call began. */
interface Begun {
  /** What the provider had left, by the latest answer. */
  readonly remaining: number;
  /** What calls of this process that were on their way might use of it, with this one. */
  readonly cost: number;
}

/** How long to wait after the first denial that does not say it. Each further one doubles it. */
const FIRST_WAIT_MICROS = 1_000_000;

/**
 * What this process knows about a bucket beyond its level in the store, and how many calls it lets go at once because of that.
 *
 * While a denial lasts, none. Then one, the probe, until it is answered; and with each answer one more than before, as in the
 * slow start of TCP, so that many processes that begin together see each other. Where others use it too, it is one more each
 * time that all are answered. At most as many as the provider has left, less what others use meanwhile: twice what they last
 * did, because all may be starting.
 */
export class LearntBucket {
  readonly #time: Time;
  readonly #line: WaitingLine;
  readonly #others = new OthersUse();
  /** The calls that are on their way. */
  readonly #begun = new Map<CountedCall, Begun>();
  #cost = 0;
  /** When the request was sent whose answer was learnt last. */
  #newestMicros = -Infinity;
  /** From then on, nothing is known any more. */
  #knownUntilMicros = -Infinity;
  #blockedUntilMicros = -Infinity;
  /** Whether no call that was sent after the last denial was over has been answered. */
  #isProbing = false;
  #probe: CountedCall | undefined;
  /** How many calls may be on their way. */
  #window = Infinity;
  #remaining = Infinity;
  /** When the latest answer came, and how long its call was on its way. */
  #answeredMicros = -Infinity;
  #tripMicros = 0;
  #denials = 0;
  #deniedMicros = -Infinity;

  constructor(time: Time) {
    this.#time = time;
    this.#line = new WaitingLine(time);
  }

  /** Whether nothing is known, and no call is on its way. */
  get isForgotten(): boolean {
    return this.#begun.size === 0 && this.#knownUntilMicros <= this.#time.nowMicros();
  }

  /** The cost of the calls that are on their way, which an answer to one of them may not count yet. */
  get onItsWay(): number {
    return this.#cost;
  }

  /** Until when no call begins, because the provider has denied one. */
  get deniedUntilMicros(): number {
    return this.#blockedUntilMicros;
  }

  /** Returns until when a call has to wait at most: the present, if it need not. */
  opensMicros(cost: number): number {
    const nowMicros = this.#time.nowMicros();
    if (nowMicros >= this.#knownUntilMicros) return nowMicros;
    if (nowMicros < this.#blockedUntilMicros) return this.#blockedUntilMicros;
    if (this.#isProbing) return this.#probe === undefined ? nowMicros : this.#knownUntilMicros;
    // One call may always ask again.
    if (this.#begun.size === 0) return nowMicros;
    const fits = this.#cost + cost + 2 * this.#others.amount <= this.#remaining;
    return fits && this.#begun.size + 1 <= this.#window ? nowMicros : this.#knownUntilMicros;
  }

  /** Waits until a call may begin, or its time is over. Another one may be faster, so ask again. */
  turn(cost: number, turn: Omit<Turn, 'opensMicros'>): Promise<void> {
    return this.#line.turn({ ...turn, opensMicros: () => this.opensMicros(cost) });
  }

  /** Lets the next call through, if it may begin. */
  look(): void {
    this.#line.look();
  }

  /** Counts a call that begins. */
  begin(call: CountedCall, cost: number): void {
    // What was left before a pause, others may have used.
    if (this.#begun.size === 0 && this.#hasPaused()) this.#window = 1;
    this.#cost += cost;
    this.#begun.set(call, { remaining: this.#remaining, cost: this.#cost });
    if (this.#isProbing) this.#probe = call;
    this.#line.look();
  }

  /** Counts a call that is answered, or has ended without an answer. */
  left(call: CountedCall, cost: number): void {
    this.#begun.delete(call);
    this.#cost -= cost;
    if (this.#probe === call) this.#probe = undefined;
    this.#line.look();
  }

  /** Takes note, before it is learnt from, that an answer has come that did not deny its call. */
  passed(call: CountedCall): void {
    const { sentMicros } = call;
    if (call === this.#probe || sentMicros > this.#blockedUntilMicros) this.#isProbing = false;
    if (sentMicros > this.#deniedMicros) this.#denials = 0;
    if (sentMicros >= this.#newestMicros) this.#remaining = Infinity;
    this.#window += this.#others.amount > 0 ? 1 / this.#window : 1;
    this.#answeredMicros = this.#time.nowMicros();
    this.#tripMicros = this.#answeredMicros - sentMicros;
  }

  /**
   * Takes what an answer has taught, unless that of a later request is known. A denial counts in any order: a request may be
   * longer on its way than one that was sent after it.
   *
   * @returns Whether it was taken.
   */
  learn(call: CountedCall, { remaining, blockMicros }: Learnt): boolean {
    const { sentMicros } = call;
    if (sentMicros < this.#newestMicros && blockMicros === undefined) return false;
    const nowMicros = this.#time.nowMicros();
    if (nowMicros >= this.#knownUntilMicros) this.#window = this.#begun.size + 1;
    this.#newestMicros = Math.max(this.#newestMicros, sentMicros);
    if (remaining !== undefined) {
      this.#remaining = remaining;
      const before = this.#begun.get(call);
      // Where more is left than before, how much was used meanwhile is not known.
      if (before !== undefined && remaining < before.remaining && before.remaining < Infinity)
        this.#others.saw(before.remaining - before.cost - remaining);
    }
    if (blockMicros !== undefined) {
      this.#blockedUntilMicros = Math.max(this.#blockedUntilMicros, nowMicros + blockMicros);
      this.#isProbing = true;
      this.#window = 1;
      this.#remaining = remaining ?? Infinity;
      this.#line.resumeAll();
    }
    this.#knownUntilMicros = Math.max(nowMicros, this.#blockedUntilMicros) + call.atMostMicros;
    return true;
  }

  /** Whether the latest answer is older than another one would be, if calls had followed each other. */
  #hasPaused(): boolean {
    return this.#others.amount > 0 && this.#time.nowMicros() - this.#answeredMicros > this.#tripMicros;
  }

  /** Returns how long to wait after a denial that does not say it, in microseconds: the longer, the more in a row. */
  untimedMicros({ sentMicros }: CountedCall): number {
    // Calls that were sent together are denied together, which is one denial.
    if (sentMicros > this.#deniedMicros) {
      this.#denials++;
      this.#deniedMicros = this.#time.nowMicros();
    }
    return FIRST_WAIT_MICROS * 2 ** (this.#denials - 1);
  }
}
