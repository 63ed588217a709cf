import type { Time } from '@sluice/core';
import { WaitingLine } from './waiting-line.ts';

/** What an answer has taught about a bucket, in microseconds from now. */
export interface Learnt {
  /** What is left, of which `forMicros` says for how long. */
  readonly remaining?: { readonly amount: number; readonly forMicros: number } | undefined;
  /** For how long nothing passes. */
  readonly blockMicros?: number | undefined;
}

/** A call at a bucket. */
export interface CountedCall {
  readonly sentMicros: number;
}

/** How long to wait after the first denial that does not say it. Each further one doubles it. */
const FIRST_WAIT_MICROS = 1_000_000;

/**
 * What this process knows about a bucket beyond its level in the store: how much is on its way, until when the provider
 * denies, and whether a call probes that.
 */
export class LearntBucket {
  readonly #time: Time;
  readonly #atMostMicros: number;
  readonly #line: WaitingLine;
  #calls = 0;
  #cost = 0;
  /** When the request was sent whose answer was learnt last. */
  #newestMicros = -Infinity;
  #blockedMicros = -Infinity;
  /** Whether no call that was sent after the last block has been answered. */
  #isProbing = false;
  #probe: CountedCall | undefined;
  #probeEndMicros = -Infinity;
  #remaining = Infinity;
  #remainingEndMicros = -Infinity;
  #denials = 0;
  #deniedMicros = -Infinity;

  /** @param atMostMicros - How long to believe what was learnt. */
  constructor(time: Time, atMostMicros: number) {
    this.#time = time;
    this.#atMostMicros = atMostMicros;
    this.#line = new WaitingLine(time);
  }

  /** Whether nothing is known, and nobody is interested. */
  get isForgotten(): boolean {
    if (this.#calls > 0 || this.#line.size > 0) return false;
    const probeEndMicros = this.#isProbing ? this.#blockedMicros + this.#atMostMicros : this.#blockedMicros;
    return Math.max(probeEndMicros, this.#remainingEndMicros) <= this.#time.nowMicros();
  }

  /** Returns until when a call has to wait at most: the present, if it need not. */
  opensMicros(cost: number): number {
    const nowMicros = this.#time.nowMicros();
    if (nowMicros < this.#blockedMicros) return this.#blockedMicros;
    if (this.#isProbing) return this.#probe === undefined ? nowMicros : Math.max(nowMicros, this.#probeEndMicros);
    // One call may always ask again.
    const fits = this.#calls === 0 || this.#cost + cost <= this.#remaining;
    return fits ? nowMicros : Math.max(nowMicros, this.#remainingEndMicros);
  }

  /** Waits until a call may begin. Another one may be faster, so ask again. */
  turn(cost: number, signal: AbortSignal | undefined): Promise<void> {
    return this.#line.turn(() => this.opensMicros(cost), signal);
  }

  /** The cost of the calls that are on their way, which an answer to one of them may not count yet. */
  get onItsWay(): number {
    return this.#cost;
  }

  /** Lets the next call through, if it may begin. */
  look(): void {
    this.#line.look();
  }

  /** Counts a call that begins. */
  begin(call: CountedCall, cost: number): void {
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

  /**
   * Takes what an answer has taught, unless that of a later request is known.
   *
   * @returns Whether it was taken.
   */
  learn({ sentMicros }: CountedCall, { remaining, blockMicros }: Learnt): boolean {
    if (sentMicros < this.#newestMicros) return false;
    this.#newestMicros = sentMicros;
    const nowMicros = this.#time.nowMicros();
    if (remaining !== undefined) {
      this.#remaining = remaining.amount;
      this.#remainingEndMicros = nowMicros + remaining.forMicros;
    }
    if (blockMicros !== undefined) {
      this.#blockedMicros = Math.max(this.#blockedMicros, nowMicros + blockMicros);
      this.#isProbing = true;
    }
    return true;
  }

  /** Takes note, before it is learnt from, that an answer has come that did not deny its call. */
  passed(call: CountedCall): void {
    if (call === this.#probe || call.sentMicros > this.#blockedMicros) this.#isProbing = false;
    if (call.sentMicros > this.#deniedMicros) this.#denials = 0;
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
