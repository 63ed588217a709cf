import type { Time } from '@sluice/core';
import { OwnShare } from './own-share.ts';
import { WaitingLine } from './waiting-line.ts';
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
}

/** How long to wait after the first denial that does not say it. Each further one doubles it. */
const FIRST_WAIT_MICROS = 1_000_000;

/**
 * What this process knows about a bucket beyond its level in the store, and how many calls it lets go at once because of that.
 *
 * While a denial lasts, none. Then one, the probe, until it is answered; and with each answer one more than before, as in the
 * slow start of TCP, so that many processes that begin together see each other. Of what the provider has left, at most the
 * part that is this process's own.
 */
export class LearntBucket {
  readonly #time: Time;
  readonly #atMostMicros: number;
  readonly #line: WaitingLine;
  readonly #share = new OwnShare();
  #calls = 0;
  #cost = 0;
  /** When the request was sent whose answer was learnt last. */
  #newestMicros = -Infinity;
  /** From then on, nothing is known any more. */
  #knownUntilMicros = -Infinity;
  #blockedUntilMicros = -Infinity;
  /** Whether no call that was sent after the last denial was over has been answered. */
  #isProbing = false;
  #probe: CountedCall | undefined;
  #probeEndMicros = -Infinity;
  /** How many calls may be on their way. */
  #window = Infinity;
  #remaining = Infinity;
  #denials = 0;
  #deniedMicros = -Infinity;

  /** @param atMostMicros - How long to believe what was learnt. */
  constructor(time: Time, atMostMicros: number) {
    this.#time = time;
    this.#atMostMicros = atMostMicros;
    this.#line = new WaitingLine(time);
  }

  /** Whether nothing is known, and no call waits or is on its way. */
  get isForgotten(): boolean {
    return this.#calls === 0 && this.#line.size === 0 && this.#knownUntilMicros <= this.#time.nowMicros();
  }

  /** The cost of the calls that are on their way, which an answer to one of them may not count yet. */
  get onItsWay(): number {
    return this.#cost;
  }

  /** Returns until when a call has to wait at most: the present, if it need not. */
  opensMicros(cost: number): number {
    const nowMicros = this.#time.nowMicros();
    if (nowMicros >= this.#knownUntilMicros) return nowMicros;
    if (nowMicros < this.#blockedUntilMicros) return this.#blockedUntilMicros;
    if (this.#isProbing) return this.#probe === undefined ? nowMicros : Math.max(nowMicros, this.#probeEndMicros);
    // One call may always ask again.
    if (this.#calls === 0) return nowMicros;
    const fits = this.#calls < this.#window && this.#cost + cost <= this.#share.of(this.#remaining);
    return fits ? nowMicros : this.#knownUntilMicros;
  }

  /** Waits until a call may begin. Another one may be faster, so ask again. */
  turn(cost: number, signal: AbortSignal | undefined): Promise<void> {
    return this.#line.turn(() => this.opensMicros(cost), signal);
  }

  /** Lets the next call through, if it may begin. */
  look(): void {
    this.#line.look();
  }

  /** Counts a call that begins. */
  begin(call: CountedCall, cost: number): void {
    // What was left before a pause, others may have used.
    if (this.#calls === 0 && this.#share.hasOthers) this.#window = 1;
    this.#calls++;
    this.#cost += cost;
    if (this.#isProbing) {
      this.#probe = call;
      this.#probeEndMicros = this.#time.nowMicros() + this.#atMostMicros;
    }
    this.#line.look();
  }

  /** Counts a call that is answered, or has ended without an answer. */
  left(call: CountedCall, cost: number): void {
    this.#calls--;
    this.#cost -= cost;
    if (this.#probe === call) this.#probe = undefined;
    this.#line.look();
  }

  /** Takes note, before it is learnt from, that an answer has come that did not deny its call. */
  passed(call: CountedCall, cost: number): void {
    const { sentMicros } = call;
    if (call === this.#probe || sentMicros > this.#blockedUntilMicros) this.#isProbing = false;
    if (sentMicros > this.#deniedMicros) this.#denials = 0;
    if (sentMicros >= this.#newestMicros) this.#remaining = Infinity;
    this.#window++;
    this.#share.used(cost);
  }

  /**
   * Takes what an answer has taught, unless that of a later request is known.
   *
   * @returns Whether it was taken.
   */
  learn({ sentMicros }: CountedCall, { remaining, blockMicros }: Learnt): boolean {
    if (sentMicros < this.#newestMicros) return false;
    const nowMicros = this.#time.nowMicros();
    if (nowMicros >= this.#knownUntilMicros) this.#window = this.#calls + 1;
    this.#newestMicros = sentMicros;
    if (remaining !== undefined) {
      this.#remaining = remaining;
      this.#share.left(remaining);
    }
    if (blockMicros !== undefined) {
      this.#blockedUntilMicros = Math.max(this.#blockedUntilMicros, nowMicros + blockMicros);
      this.#isProbing = true;
      this.#window = 1;
    }
    this.#knownUntilMicros = Math.max(nowMicros, this.#blockedUntilMicros) + this.#atMostMicros;
    return true;
  }

  /** Returns how long to wait after a denial that does not say it, in microseconds: the longer, the more in a row. */
  untimedMicros({ sentMicros }: CountedCall): number {
    // Calls that were sent together are denied together, which is one denial.
    if (sentMicros > this.#deniedMicros) {
      this.#denials++;
      this.#deniedMicros = this.#time.nowMicros();
    }
    return Math.min(this.#atMostMicros, FIRST_WAIT_MICROS * 2 ** (this.#denials - 1));
  }
}
