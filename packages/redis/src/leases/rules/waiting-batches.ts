import { canDeny, conclude, decideAgain, UNANSWERED, type LeaseDecision, type LeaseTransaction } from './decide.ts';
import { WAITS } from './leased-bucket.ts';

/** A batch that waits for a sync of some of its buckets. */
export interface WaitingBatch {
  readonly batch: readonly LeaseTransaction[];
  /** From this moment on it waits no more: it is denied, or follows the failure policies if Redis has not answered. */
  readonly untilTicks: number;
}

/** A batch that was decided after it had waited. */
export interface DecidedBatch<Batch extends WaitingBatch> {
  readonly waiting: Batch;
  readonly decision: LeaseDecision;
}

interface Waiting<Batch extends WaitingBatch> {
  readonly given: Batch;
  readonly sinceTicks: number;
  /** How many tokens it waits for, by bucket. */
  readonly lacking: number[];
  /** The views that it was decided by. */
  readonly views: number[];
}

/**
 * The batches of one process that wait for syncs, first come, first served: after each answer they are decided again in
 * the order in which they came. A waiting batch reserves nothing, so batches never wait for each other.
 */
export class WaitingBatches<Batch extends WaitingBatch = WaitingBatch> {
  #waiting: Waiting<Batch>[] = [];

  get size(): number {
    return this.#waiting.length;
  }

  /** When the next batch has waited for too long; Infinity when none waits. */
  get untilTicks(): number {
    return this.#waiting.reduce((until, { given }) => Math.min(until, given.untilTicks), Infinity);
  }

  /** Adds a batch that was decided to wait at this moment, and asks for a sync of the buckets that it waits for. */
  add(given: Batch, nowTicks: number): void {
    const waiting = { given, sinceTicks: nowTicks, lacking: [], views: [] };
    for (const { bucket } of given.batch) bucket.usedByWaiting++;
    startWait(waiting, nowTicks);
    this.#waiting.push(waiting);
  }

  /** Ends all waits, because the process ends: the batches are denied. */
  endAll(nowTicks: number): DecidedBatch<Batch>[] {
    const waiting = this.#waiting;
    this.#waiting = [];
    return waiting.map((each) => {
      endWait(each);
      for (const { bucket } of each.given.batch) bucket.usedByWaiting--;
      return { waiting: each.given, decision: denied(each, nowTicks) };
    });
  }

  /**
   * Decides the batches again whose buckets were answered since, or whose time is over.
   *
   * @returns Those that wait no more, in the order in which they came.
   */
  decideAgain(nowTicks: number): DecidedBatch<Batch>[] {
    const decided: DecidedBatch<Batch>[] = [];
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const each of waiting) {
      const decision = needsLook(each, nowTicks) ? lookAgain(each, nowTicks) : undefined;
      if (decision === undefined) {
        this.#waiting.push(each);
        continue;
      }
      for (const { bucket } of each.given.batch) bucket.usedByWaiting--;
      decided.push({ waiting: each.given, decision });
    }
    return decided;
  }
}

function lookAgain(each: Waiting<WaitingBatch>, nowTicks: number): LeaseDecision | undefined {
  const { batch, untilTicks } = each.given;
  endWait(each);
  const decision = decideAgain(batch, nowTicks);
  if (decision.outcome !== 'waits') return decision;
  if (nowTicks >= untilTicks) return timeOver(each, nowTicks);
  startWait(each, nowTicks);
  return undefined;
}

function needsLook({ given, lacking, views }: Waiting<WaitingBatch>, nowTicks: number): boolean {
  if (nowTicks >= given.untilTicks) return true;
  return given.batch.some(
    ({ bucket }, i) =>
      lacking[i]! > 0 && (bucket.viewSequence !== views[i] || bucket.stream.isOpen || bucket.isLeftToRedis),
  );
}

function startWait(waiting: Waiting<WaitingBatch>, nowTicks: number): void {
  waiting.given.batch.forEach(({ bucket, tokens, mode }, i) => {
    const waits = canDeny(mode) && bucket.look(tokens, nowTicks) === WAITS;
    waiting.lacking[i] = waits ? bucket.lackingTokens : 0;
    waiting.views[i] = bucket.viewSequence;
    if (!waits) return;
    bucket.waitingTokens += bucket.lackingTokens;
    bucket.stream.requestEarly(bucket, nowTicks);
  });
}

function endWait({ given, lacking }: Waiting<WaitingBatch>): void {
  given.batch.forEach(({ bucket }, i) => {
    if (lacking[i] === 0) return;
    bucket.waitingTokens -= lacking[i]!;
    bucket.stream.endWait(bucket);
  });
}

/** What was not answered since the wait began may be an outage, which is no reason to deny. */
function timeOver(each: Waiting<WaitingBatch>, nowTicks: number): LeaseDecision {
  const { given, sinceTicks, lacking } = each;
  const unanswered = given.batch.filter(
    ({ bucket }, i) => lacking[i]! > 0 && bucket.stream.answeredAtTicks <= sinceTicks,
  );
  if (unanswered.length === 0) return denied(each, nowTicks);
  if (unanswered.some(({ bucket }) => bucket.terms.onFailure !== 'local')) return UNANSWERED;
  for (const { bucket } of unanswered) bucket.beginOutage(sinceTicks, nowTicks);
  const decision = decideAgain(given.batch, nowTicks);
  return decision.outcome === 'waits' ? denied(each, nowTicks) : decision;
}

/** Denies a batch because of the buckets that it waits for. */
function denied({ given: { batch }, lacking }: Waiting<WaitingBatch>, nowTicks: number): LeaseDecision {
  let retryTicks = 0;
  for (const [i, each] of batch.entries()) {
    const { bucket, tokens } = each;
    bucket.touch(nowTicks);
    const waitTicks = lacking[i]! > 0 ? bucket.waitOfDenial(tokens, nowTicks) : 0;
    conclude(each, waitTicks, nowTicks);
    retryTicks = Math.max(retryTicks, waitTicks);
  }
  return { outcome: 'denied', retryTicks };
}
