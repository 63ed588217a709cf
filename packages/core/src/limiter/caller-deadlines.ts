import type { Awaitable } from '../async/awaitable.ts';
import { lateDecision } from '../decision/decide.ts';
import { stateOf, type Decided } from '../decision/decided.ts';
import { deniedInTime, withShorterWaits } from '../decision/shorter-waits.ts';
import type { Alternatives } from '../failure/fallback.ts';
import type { EventSink } from '../events/event.ts';
import { Tally } from '../events/throttle.ts';
import type { StoreGate } from '../failure/store-gate.ts';
import { TICKS_PER_MICRO } from '../rule/ticks.ts';
import type { Time } from '../time/time.ts';

/** The parts of {@link CallerDeadlines}. */
export interface CallerDeadlinesParts {
  readonly gate: StoreGate;
  readonly time: Time;
  readonly emit: EventSink;
  /** Gives back what a decision took. */
  readonly giveBack: (decision: Decided) => void;
}

/**
 * Denies requests that could begin only after their callers have given up, and takes nothing for them.
 *
 * The wait for a store is ended here and not in the store: a call with a deadline of its own could not share a batch with
 * others, and if it was late, nobody could say whether the store is failing. A client could choose both. What such a call has
 * taken is given back when its answer comes.
 */
export class CallerDeadlines {
  readonly #parts: CallerDeadlinesParts;
  readonly #untold: Tally;
  readonly #denials = new Map<string, number>();

  constructor(parts: CallerDeadlinesParts) {
    this.#parts = parts;
    this.#untold = new Tally((count) => parts.emit({ type: 'deadline-denied', count, message: messageOf(count) }));
  }

  /** How many requests were denied, by the strictest limit of each; '' for those whose callers had given up before. */
  get denials(): ReadonlyMap<string, number> {
    return this.#denials;
  }

  /**
   * Decides batches of which the first that passes is wanted.
   *
   * @param dueMicros - When the caller gives up, on the clock of the limiter.
   * @param ask - Decides them as if the caller would wait.
   */
  decide(
    batches: Alternatives,
    dueMicros: number,
    ask: (batches: Alternatives) => Awaitable<Decided>,
  ): Awaitable<Decided> {
    const { gate, time } = this.#parts;
    gate.assertOpen();
    const leftMicros = dueMicros - time.nowMicros();
    if (leftMicros <= 0) return this.noteDenial(lateDecision(gate));
    // A request that begins just when its caller gives up is late.
    const leftTicks = leftMicros * TICKS_PER_MICRO - 1;
    const decided = ask(batches.map((batch) => withShorterWaits(batch, leftTicks)));
    if (!(decided instanceof Promise)) return this.#judged(decided, dueMicros);
    const judged = decided.then((decision) => this.#judged(decision, dueMicros));
    // An answer that comes later is counted then.
    return gate.within(judged, leftMicros / 1000, () => lateDecision(gate));
  }

  /** Counts a denial, and returns it. */
  noteDenial(denial: Decided): Decided {
    const limit = denial.limit ?? '';
    this.#denials.set(limit, (this.#denials.get(limit) ?? 0) + 1);
    this.#untold.add(1, undefined, this.#parts.time.nowMicros());
    return denial;
  }

  /** Reports what was not reported yet. */
  close(): void {
    this.#untold.flush(this.#parts.time.nowMicros());
  }

  /** Judges an answer when it is there: it may have taken time. */
  #judged(decision: Decided, dueMicros: number): Decided {
    const { time, gate, giveBack } = this.#parts;
    if (time.nowMicros() + decision.delayMs * 1000 >= dueMicros) {
      if (decision.allowed) giveBack(decision);
      return this.noteDenial(lateDecision(gate));
    }
    if (decision.delayMs > 0) stateOf(decision).dueMicros = dueMicros;
    if (decision.passed !== -1) return decision;
    const denial = deniedInTime(decision);
    return denial.reason === undefined ? denial : this.noteDenial(denial);
  }
}

function messageOf(count: number): string {
  const were = count === 1 ? '1 request was' : `${count} requests were`;
  return (
    `${were} denied because the caller would have given up before it could begin (the option deadline, or within). ` +
    `If there are many, lower maxWait, or give callers more time.`
  );
}
