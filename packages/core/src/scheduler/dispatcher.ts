import { allOf, andThen, attempt, Rejected, type Awaitable } from '../async/awaitable.ts';
import type { Decided } from '../decision/decided.ts';
import type { LimiterCore } from '../limiter/limiter-core.ts';
import type { Time } from '../time/time.ts';
import { BegunCalls } from './begun-calls.ts';
import { Deadlines } from './deadlines.ts';
import { FirstAnswer } from './first-answer.ts';
import { HIGHEST } from './lane.ts';
import { LaneOrder } from './lane-order.ts';
import { Lanes } from './lanes.ts';
import { Patience } from './patience.ts';
import { withAheads, type Ahead } from './ahead.ts';
import { denialOf, restAfter } from './room.ts';
import { comesFirst, type CallLane, type ScheduledCall } from './scheduled-call.ts';
import { SchedulerError } from './scheduler-error.ts';
import { Signals } from './signals.ts';
import { Wake } from './wake.ts';

type Reply = Decided | Rejected;

/** The parts of a {@link Dispatcher}. */
interface DispatcherParts {
  readonly limiter: LimiterCore<never>;
  readonly ahead: Ahead;
  /** Called when no call waits or runs any more. */
  readonly idle: () => void;
}

/** The most calls that one question is for. */
const MAX_BATCH = 1000;

/** Orders calls, asks the store for those that may begin, and begins those that pass. */
export class Dispatcher {
  readonly lanes: Lanes;
  /** The calls that have not begun. */
  size = 0;
  /** The calls that have begun and not ended. */
  running = 0;
  readonly #limiter: LimiterCore<never>;
  readonly #time: Time;
  readonly #ahead: Ahead;
  readonly #patience: Patience;
  readonly #idle: () => void;
  readonly #order = new LaneOrder();
  readonly #begun: BegunCalls;
  readonly #deadlines: Deadlines;
  readonly #signals = new Signals((call) => this.abort(call));
  readonly #wake: Wake;
  readonly #firstAnswer: FirstAnswer;
  #isPaused = false;
  #isDispatching = false;

  constructor({ limiter, ahead, idle }: DispatcherParts) {
    this.lanes = new Lanes((name) => limiter.limits.get(name)?.kind.level === 'held');
    this.#limiter = limiter;
    this.#time = limiter.time;
    this.#ahead = ahead;
    this.#idle = idle;
    this.#firstAnswer = new FirstAnswer(limiter, () => this.dispatch());
    this.#patience = new Patience(limiter.store.traits?.answersAtOnce === true);
    this.#wake = new Wake(limiter.time, () => this.#woke());
    this.#deadlines = new Deadlines({
      promote: (call) => this.#promote(call),
      expire: (call) => this.remove(call, new SchedulerError('within', this.#knownMs(call))),
    });
    this.#begun = new BegunCalls({
      limiter,
      began: (call) => this.#began(call),
      reserved: (call) => this.#deadlines.reserved(call),
      failed: (call, error) => this.remove(call, error),
      ended: (call, mayGiveBack) => this.#ended(call, mayGiveBack),
    });
  }

  /** Adds a call, and begins it if it may. */
  add(call: ScheduledCall): void {
    const { lane } = call;
    const nowMicros = this.#time.nowMicros();
    const { first, state } = lane;
    lane.add(call, nowMicros);
    this.size++;
    this.#deadlines.add(call);
    if (call.options.signal !== undefined) this.#signals.add(call.options.signal, call);
    this.#order.changed(lane, first);
    if (state === 'parked' && lane.state === 'parked' && lane.knownMicros > call.untilMicros)
      this.remove(call, new SchedulerError('within', this.#knownMs(call)));
    this.dispatch();
  }

  /** Removes a call that has not begun, with an error. */
  remove(call: ScheduledCall, error: unknown): void {
    if (call.state === 'begun') return;
    const { lane, state } = call;
    const { first } = lane;
    if (state === 'waiting') lane.delete(call, this.#time.nowMicros());
    this.#left(call);
    if (state === 'waiting') this.#order.changed(lane, first);
    this.#begun.leave(call);
    call.reject(error);
    this.#noteIdle();
  }

  /** Removes a call that does not want to wait any more. */
  abort(call: ScheduledCall, error: unknown = call.options.signal?.reason): void {
    this.remove(call, error);
    this.dispatch();
  }

  /** Removes all calls that have not begun. */
  removeAll(error: () => unknown): void {
    for (const call of this.#deadlines.all.slice()) this.remove(call, error());
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.dispatch();
  }

  /** Asks for the calls that may begin, one after the other. */
  dispatch(): void {
    if (this.#isDispatching) return;
    if (!this.#firstAnswer.isOver && this.size > 0) this.#firstAnswer.ask();
    const isHeld = this.#isPaused || !this.#firstAnswer.isOver;
    this.#isDispatching = true;
    try {
      if (!isHeld) for (let lane = this.#order.take(); lane !== undefined; lane = this.#order.take()) this.#ask(lane);
    } finally {
      this.#isDispatching = false;
    }
    this.#wake.set(Math.min(this.#deadlines.nextMicros, isHeld ? Infinity : this.#order.nextMicros));
  }

  #woke(): void {
    const nowMicros = this.#time.nowMicros();
    this.#deadlines.pass(nowMicros);
    this.#order.pass(nowMicros);
    this.dispatch();
  }

  #ask(lane: CallLane): void {
    const nowMicros = this.#time.nowMicros();
    const blockedUntil = this.#order.blockedUntil(lane);
    if (blockedUntil !== undefined) {
      lane.knownMicros = 0;
      return this.#order.park(lane, blockedUntil);
    }
    const calls = takeFrom(lane, this.#order.next?.first, nowMicros);
    const answers = allOf(calls.map((call) => this.#replyTo(call)));
    if (!(answers instanceof Promise)) return this.#answered(lane, calls, answers);
    void answers.then((all) => {
      this.#answered(lane, calls, all);
      this.dispatch();
    });
  }

  #replyTo({ entries, untilMicros }: ScheduledCall): Awaitable<Reply> {
    const limiter = this.#limiter;
    const leftMicros = untilMicros - this.#time.nowMicros();
    return attempt(() =>
      andThen(limiter.heldBatchOf(entries), (batch) => limiter.reserve(withAheads(batch, this.#ahead, leftMicros))),
    );
  }

  #answered(lane: CallLane, calls: readonly ScheduledCall[], answers: readonly Reply[]): void {
    const nowMicros = this.#time.nowMicros();
    for (let i = calls.length - 1; i >= 0; i--) if (isDenial(answers[i]!)) this.#putBack(calls[i]!, nowMicros);
    for (const [i, answer] of answers.entries()) {
      if (answer instanceof Rejected) this.remove(calls[i]!, answer.cause);
      else if (answer.allowed) this.#begun.begin(calls[i]!, answer);
    }
    const denied = answers.findIndex(isDenial);
    if (denied === -1) this.#passed(lane, answers.at(-1)!, nowMicros);
    else if (lane.first !== undefined && lane.first === calls[denied])
      this.#denied(lane.first, answers[denied] as Decided, nowMicros);
    else this.#order.release(lane);
  }

  #putBack(call: ScheduledCall, nowMicros: number): void {
    const { lane, state } = call;
    lane.putBack(call, nowMicros);
    // It has left meanwhile.
    if (state === 'begun') return lane.delete(call, nowMicros);
    call.state = 'waiting';
    if (call.isUrgent && call.priority !== HIGHEST) lane.promote(call, nowMicros);
  }

  /** All calls that were asked for have passed. */
  #passed(lane: CallLane, last: Reply, nowMicros: number): void {
    const { first } = lane;
    lane.batch = 1;
    lane.misses = 0;
    if (first === undefined || last instanceof Rejected || this.#patience.isAtOnce) return this.#order.release(lane);
    const { waitMicros, calls } = restAfter(last, first, (aheadMicros, everyMicros) =>
      this.#patience.laterMicros(aheadMicros, everyMicros),
    );
    lane.batch = Math.min(MAX_BATCH, calls);
    lane.knownMicros = 0;
    if (waitMicros === 0) this.#order.release(lane);
    else this.#order.park(lane, nowMicros + waitMicros);
  }

  /** The first call of a lane was denied. */
  #denied(call: ScheduledCall, decision: Decided, nowMicros: number): void {
    const { lane } = call;
    const denial = denialOf(decision);
    const error = errorOf(denial.beginsMicros, call.untilMicros - nowMicros);
    if (error !== undefined) {
      this.#order.release(lane);
      return this.remove(call, error);
    }
    lane.misses = denial.isHeld ? lane.misses + 1 : 0;
    const { waitMicros, calls } = this.#patience.after(denial, lane.misses);
    lane.batch = Math.min(MAX_BATCH, calls);
    lane.knownMicros = nowMicros + denial.beginsMicros;
    this.#order.block(denial.buckets, call);
    this.#order.park(lane, nowMicros + waitMicros);
  }

  #promote(call: ScheduledCall): void {
    if (call.state !== 'waiting' || call.priority === HIGHEST) return;
    const { lane } = call;
    const { first } = lane;
    lane.promote(call, this.#time.nowMicros());
    this.#order.changed(lane, first);
  }

  #began(call: ScheduledCall): void {
    this.#left(call);
    this.running++;
    call.lane.running++;
  }

  #left(call: ScheduledCall): void {
    this.#deadlines.delete(call);
    if (call.options.signal !== undefined) this.#signals.delete(call.options.signal, call);
    call.state = 'begun';
    this.size--;
  }

  #ended({ lane }: ScheduledCall, mayGiveBack: boolean): void {
    this.running--;
    lane.running--;
    if (mayGiveBack) for (const other of this.lanes.beside(lane)) this.#order.wake(other);
    this.dispatch();
    this.#noteIdle();
  }

  #noteIdle(): void {
    if (this.size === 0 && this.running === 0) this.#idle();
  }

  #knownMs({ lane }: ScheduledCall): number | undefined {
    const leftMs = (lane.knownMicros - this.#time.nowMicros()) / 1000;
    return lane.state === 'parked' && leftMs > 0 ? leftMs : undefined;
  }
}

/**
 * Takes the calls that one question is for. Those after the first can't pass when one before them is denied.
 *
 * @param other - The first call of another lane, which those after the first must not pass.
 */
function takeFrom(lane: CallLane, other: ScheduledCall | undefined, nowMicros: number): readonly ScheduledCall[] {
  const calls = [lane.take(nowMicros)];
  for (let next = lane.first; calls.length < lane.batch && next !== undefined; next = lane.first) {
    if (!next.asksNoLess(calls.at(-1)!) || (other !== undefined && comesFirst(other, next))) break;
    calls.push(lane.take(nowMicros));
  }
  for (const call of calls) call.state = 'asked';
  return calls;
}

function isDenial(answer: Reply): boolean {
  return !(answer instanceof Rejected) && !answer.allowed;
}

/** @param leftMicros - How long the call may wait. */
function errorOf(beginsMicros: number, leftMicros: number): SchedulerError | undefined {
  if (beginsMicros === Infinity) return new SchedulerError('never');
  return beginsMicros > leftMicros ? new SchedulerError('within', beginsMicros / 1000) : undefined;
}
