import type { Clock, StoreReading, StoreTransaction } from '@sluice/core';
import { fits, passes } from '@sluice/core/kit';
import { Ask, type AskEntry, type AskListener, type AskParts } from './batch-request.ts';
import type { Asker } from './dispatcher.ts';
import { CallQueue } from './coalescer.ts';
import type { Line } from '../client/script-client.ts';
import { slotOf } from '../client/slot.ts';
import { partsOf, wholeReading, type Part } from './spread-batch.ts';

/** The observers of a {@link ClusterAsker}. */
export interface ClusterListeners {
  readonly asks: AskListener;
  /** Observes the refunds to a slot after another slot has denied the batch or failed. */
  readonly givenBack: AskListener;
  /** Called if such a refund failed. The tokens of `count` buckets stay taken. */
  readonly lost: (count: number, cause: unknown) => void;
}

/**
 * Sends batches to the servers of a cluster. A batch within one slot is decided atomically by one script call.
 *
 * A batch over several slots is sent to all of them at once, and passes if each slot allows its part. If one slot
 * denies or fails, the tokens that the others took are refunded. Such a batch never takes more than a bucket has. For
 * about one round trip, other requests may find fewer tokens than there are after the refund.
 */
export class ClusterAsker implements Asker {
  readonly #line: Line;
  readonly #clock: Clock;
  readonly #listeners: ClusterListeners;
  readonly #queues = new Map<number, CallQueue>();
  readonly #givingBack = new Set<Promise<void>>();

  constructor(line: Line, clock: Clock, listeners: ClusterListeners) {
    this.#line = line;
    this.#clock = clock;
    this.#listeners = listeners;
  }

  ask(parts: AskParts): Promise<StoreReading> {
    const slot = slotOf(parts.keys[0]!);
    if (parts.keys.every((key) => slotOf(key) === slot)) return this.#askSlot(slot, parts, this.#listeners.asks);
    return parts.kind === 'spend' ? this.#spend(partsOf(parts)) : this.#ask(partsOf(parts));
  }

  async drain(): Promise<void> {
    for (const queue of this.#queues.values()) queue.send();
    await Promise.all(this.#givingBack);
  }

  #askSlot(slot: number, parts: AskParts, listener: AskListener): Promise<StoreReading> {
    const ask = new Ask(parts, listener);
    let queue = this.#queues.get(slot);
    if (queue === undefined) this.#queues.set(slot, (queue = new CallQueue(this.#line, this.#clock)));
    queue.add(ask);
    return ask.reading;
  }

  async #ask(parts: readonly Part[]): Promise<StoreReading> {
    const readings = await Promise.all(parts.map((part) => this.#askSlot(part.slot, part, this.#listeners.asks)));
    return wholeReading(parts, readings);
  }

  async #spend(parts: readonly Part[]): Promise<StoreReading> {
    const asked = parts.map((part) => this.#askSlot(part.slot, part, this.#listeners.asks));
    const outcomes = await Promise.allSettled(asked);
    const granted = outcomes.map((outcome, i) => outcome.status === 'fulfilled' && isGranted(parts[i]!, outcome.value));
    if (granted.includes(false)) {
      for (const [i, outcome] of outcomes.entries()) {
        if (outcome.status === 'fulfilled' && granted[i]) this.#giveBack(parts[i]!, outcome.value);
      }
    }
    // Rejects with the error of the first slot that failed.
    return wholeReading(parts, await Promise.all(asked));
  }

  /** The refund is not awaited, because it does not change the outcome of the batch. */
  #giveBack(part: Part, reading: StoreReading): void {
    const { batch, keys } = takenOf(part, reading);
    if (batch.length === 0) return;
    const { slot, deadlineMs } = part;
    const refund = { kind: 'refund', batch, keys, deadlineMs } as const;
    const done = this.#askSlot(slot, refund, this.#listeners.givenBack).then(
      () => undefined,
      (cause: unknown) => this.#listeners.lost(batch.length, cause),
    );
    this.#givingBack.add(done);
    void done.then(() => this.#givingBack.delete(done));
  }
}

function isGranted({ batch }: Part, { levelsTicks }: StoreReading): boolean {
  return passes(batch as readonly StoreTransaction[], levelsTicks);
}

/**
 * The tokens that a part took, as refunds of a decision, so that tokens that have already come back do not count twice.
 */
function takenOf({ batch, keys }: Part, { nowTicks, levelsTicks }: StoreReading) {
  const refunds: AskEntry[] = [];
  const refundKeys: string[] = [];
  for (const [i, transaction] of (batch as readonly StoreTransaction[]).entries()) {
    const { mode, incrementTicks, toleranceTicks } = transaction;
    const level = levelsTicks[i]!;
    if (mode === 'check-only' || incrementTicks === 0 || !fits(level, incrementTicks, toleranceTicks)) continue;
    const tatAfterSpendTicks = nowTicks + level + incrementTicks;
    refunds.push({ incrementTicks, tatAfterSpendTicks });
    refundKeys.push(keys[i]!);
  }
  return { batch: refunds, keys: refundKeys };
}
