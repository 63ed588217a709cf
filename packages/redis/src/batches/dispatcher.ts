import type { Time } from '@sluice/core';
import { type AnswerSink, type ServerEntry } from '@sluice/core/kit';
import { levelAfter, nowTicksAt, joinedReading, type StoreReading, type StoreTransaction } from '@sluice/core/store';
import type { ScriptClient } from '../client/script-client.ts';
import { slotOf } from '../client/slot.ts';
import {
  BatchRequest,
  readingOf,
  type BatchKind,
  type BatchObserver,
  type BatchRequestParts,
} from './batch-request.ts';
import { Coalescer } from './coalescer.ts';
import { mergeReadings, splitBySlot, type BatchPart } from './split-batch.ts';

/** Sends batches to the servers. */
export interface Dispatcher {
  /** Sends a batch or alternatives, and gives the reading to the sink. */
  send(parts: BatchRequestParts, sink: AnswerSink): void;
  /** Sends queued batches, and resolves when the refunds that no caller awaits have settled. */
  drain(): Promise<void>;
}

/** Sends all batches to a single server. */
export class SingleDispatcher implements Dispatcher {
  readonly #coalescer: Coalescer;
  readonly #observer: BatchObserver;

  constructor(client: ScriptClient, time: Time, observer: BatchObserver) {
    this.#coalescer = new Coalescer(client, time);
    this.#observer = observer;
  }

  send(parts: BatchRequestParts, sink: AnswerSink): void {
    this.#coalescer.add(new BatchRequest(parts, this.#observer, sink));
  }

  drain(): Promise<void> {
    this.#coalescer.flush();
    return Promise.resolve();
  }
}

/** The observers of a {@link ClusterDispatcher}. */
export interface ClusterObservers {
  readonly requests: BatchObserver;
  /** Observes the refunds to a slot after another slot has denied the batch or failed. */
  readonly refunds: BatchObserver;
  /** Called if such a refund failed. The tokens of `count` buckets stay taken. */
  readonly onLostRefund: (count: number, cause: unknown) => void;
}

/**
 * Sends batches to the servers of a cluster. A batch within one slot is decided atomically by one script call.
 *
 * A batch over several slots is sent to all of them at once, and passes if each slot allows its part. If one slot
 * denies or fails, the tokens that the others took are refunded, and the slots of concurrency limits released. Such a batch never takes more than a bucket has. For
 * about one round trip, other requests may find fewer tokens than there are after the refund.
 *
 * Alternatives within one slot are decided by one script call. Over several slots they are tried one after another, so
 * that an earlier one may pass again while a later one is tried.
 */
export class ClusterDispatcher implements Dispatcher {
  readonly #client: ScriptClient;
  readonly #time: Time;
  readonly #observers: ClusterObservers;
  readonly #coalescers = new Map<number, Coalescer>();
  readonly #refunding = new Set<Promise<void>>();

  constructor(client: ScriptClient, time: Time, observers: ClusterObservers) {
    this.#client = client;
    this.#time = time;
    this.#observers = observers;
  }

  send(parts: BatchRequestParts, sink: AnswerSink): void {
    const slot = commonSlot(parts.keys);
    if (slot !== undefined) return this.#sendTo(slot, parts, this.#observers.requests, sink);
    this.#sendToSlots(parts).then(
      (reading) => sink.answered(reading),
      (error: unknown) => sink.failed(error),
    );
  }

  #sendToSlots(parts: BatchRequestParts): Promise<StoreReading> {
    const { kind, alternatives } = parts;
    if (alternatives !== undefined) return this.#tryInTurn(alternatives);
    const slots = splitBySlot(parts);
    return kind === 'spend' ? this.#spendParts(slots) : this.#dispatchParts(slots);
  }

  // Over several slots, one alternative is decided after the other.
  async #tryInTurn(alternatives: readonly BatchRequestParts[]): Promise<StoreReading> {
    const startMicros = this.#time.nowMicros();
    const readings: StoreReading[] = [];
    for (const alternative of alternatives) {
      const deadlineMs = this.#leftMs(alternative, startMicros);
      // oxlint-disable-next-line no-await-in-loop -- the next one is tried only if this one is denied
      const reading = await this.#tryNext({ ...alternative, deadlineMs }, readings.at(-1));
      readings.push(reading);
      if (reading.passed === 0) break;
    }
    return joinedReading(readings);
  }

  async #tryNext(parts: BatchRequestParts, last: StoreReading | undefined): Promise<StoreReading> {
    // Only the first alternative always has transactions.
    if (parts.keys.length === 0) return { passed: 0, nowTicks: last!.nowTicks, levelsTicks: [] };
    return readingOf((sink) => this.send(parts, sink));
  }

  async drain(): Promise<void> {
    for (const coalescer of this.#coalescers.values()) coalescer.flush();
    await Promise.all(this.#refunding);
  }

  #sendTo(slot: number, parts: BatchRequestParts, observer: BatchObserver, sink: AnswerSink): void {
    let coalescer = this.#coalescers.get(slot);
    if (coalescer === undefined) this.#coalescers.set(slot, (coalescer = new Coalescer(this.#client, this.#time)));
    coalescer.add(new BatchRequest(parts, observer, sink));
  }

  #dispatchTo(slot: number, parts: BatchRequestParts, observer: BatchObserver): Promise<StoreReading> {
    return readingOf((sink) => this.#sendTo(slot, parts, observer, sink));
  }

  async #dispatchParts(parts: readonly BatchPart[]): Promise<StoreReading> {
    const inPeriods = parts.filter(({ kind, batch }) => changesLevels(kind) && batch.some(hasPeriod));
    if (inPeriods.length === 0) return mergeReadings(parts, await this.#dispatchAll(parts));
    // A stale period must reject the whole batch before any slot has changed a bucket.
    const startMicros = this.#time.nowMicros();
    await this.#dispatchAll(inPeriods.map((part) => ({ ...part, kind: 'check' })));
    const deadlineMs = this.#leftMs(parts[0]!, startMicros);
    return mergeReadings(parts, await this.#dispatchAll(parts.map((part) => ({ ...part, deadlineMs }))));
  }

  /** The rest of a deadline that began at a time. */
  #leftMs({ deadlineMs }: BatchRequestParts, startMicros: number): number {
    return deadlineMs - (this.#time.nowMicros() - startMicros) / 1000;
  }

  #dispatchAll(parts: readonly BatchPart[]): Promise<readonly StoreReading[]> {
    return Promise.all(parts.map((part) => this.#dispatchTo(part.slot, part, this.#observers.requests)));
  }

  async #spendParts(parts: readonly BatchPart[]): Promise<StoreReading> {
    const pending = parts.map((part) => this.#dispatchTo(part.slot, part, this.#observers.requests));
    const outcomes = await Promise.allSettled(pending);
    const granted = outcomes.map((outcome) => outcome.status === 'fulfilled' && outcome.value.passed === 0);
    if (granted.includes(false)) {
      for (const [i, outcome] of outcomes.entries()) {
        if (outcome.status === 'fulfilled' && granted[i]) this.#giveBack(parts[i]!, outcome.value);
      }
    }
    // Rejects with the error of the first slot that failed.
    return mergeReadings(parts, await Promise.all(pending));
  }

  #giveBack(part: BatchPart, reading: StoreReading): void {
    const { refunds, holds } = createRefunds(part, reading);
    this.#dispatchRefunds(part, { kind: 'refund', ...refunds }, this.#observers.refunds);
    this.#dispatchRefunds(part, { kind: 'release', ...holds }, this.#observers.requests);
  }

  /** The refunds are not awaited, because they do not change the outcome of the batch. */
  #dispatchRefunds(
    { slot, deadlineMs }: BatchPart,
    { kind, batch, keys }: Omit<BatchRequestParts, 'deadlineMs'>,
    observer: BatchObserver,
  ): void {
    if (batch.length === 0) return;
    const done = this.#dispatchTo(slot, { kind, batch, keys, deadlineMs }, observer).then(
      () => undefined,
      (cause: unknown) => this.#observers.onLostRefund(batch.length, cause),
    );
    this.#refunding.add(done);
    void done.then(() => this.#refunding.delete(done));
  }
}

/** Whether a batch of several slots changes buckets from their levels. A `spend` is sent otherwise. */
function changesLevels(kind: BatchKind): boolean {
  return kind !== 'check' && kind !== 'reset';
}

function hasPeriod({ period }: ServerEntry): boolean {
  return period !== undefined;
}

/** The hash slot of all keys; undefined if they have several. */
function commonSlot(keys: readonly string[]): number | undefined {
  const slot = slotOf(keys[0]!);
  return keys.every((key) => slotOf(key) === slot) ? slot : undefined;
}

// They are refunds of a decision, so that tokens that have already come back do not count twice. Slots are released.
function createRefunds({ batch, keys }: BatchPart, reading: StoreReading) {
  const refunds = { batch: [] as ServerEntry[], keys: [] as string[] };
  const holds = { batch: [] as ServerEntry[], keys: [] as string[] };
  for (const [i, transaction] of (batch as readonly StoreTransaction[]).entries()) {
    const before = reading.levelsTicks[i]!;
    const after = levelAfter(transaction, before);
    if (after === before) continue;
    const { lineTicks, period, holding } = transaction;
    if (holding !== undefined) {
      const { holder, expiryMs } = holding;
      holds.batch.push({ slots: true, holder, expiryMs, first: 1, count: after - before });
      holds.keys.push(keys[i]!);
      continue;
    }
    const tatAfterSpendTicks = nowTicksAt(reading, i) + after;
    refunds.batch.push({ incrementTicks: after - before, tatAfterSpendTicks, lineTicks, period });
    refunds.keys.push(keys[i]!);
  }
  return { refunds, holds };
}
