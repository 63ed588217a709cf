import type { Clock, StoreReading, StoreTransaction } from '@sluice/core';
import { fits, passes } from '@sluice/core/kit';
import { Ask, type AskEntry, type AskListener, type AskParts } from './ask.ts';
import type { Asker } from './asker.ts';
import { CallQueue } from './call-queue.ts';
import type { Line } from './line/line.ts';
import { slotOf } from './slot.ts';
import { partsOf, wholeReading, type Part } from './spread-batch.ts';

/** What a {@link ClusterAsker} tells of. */
export interface ClusterListeners {
  readonly asks: AskListener;
  /** Hears of what one slot gave back because another had denied. */
  readonly givenBack: AskListener;
  /** What a slot had granted could not be given back: it stays taken. */
  readonly lost: (count: number, cause: unknown) => void;
}

/**
 * Servers that share the buckets by slots. A batch within one slot is decided there, like on one server.
 *
 * One over several slots is asked at all of them at once, and passes when all grant their part. If one denies, or
 * fails, the others are told to give back what they granted: so it never takes more than there is, and for about one
 * round trip less may be seen than there is.
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
    // The first that failed is thrown.
    return wholeReading(parts, await Promise.all(asked));
  }

  /** Not waited for: the batch is denied whether it succeeds or not. */
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

/** What a part took, as refunds of a decision: what has come back by itself meanwhile is not given back again. */
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
