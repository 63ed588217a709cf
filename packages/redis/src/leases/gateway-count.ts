import { TICKS_PER_MS, type StoreTransaction } from '@sluice/core/store';
import type { RedisStore } from '../batches/shared-store.ts';

/** A process counts for so long after it has last been seen. */
const LIFE_MS = 90_000;
const LIFE_TICKS = LIFE_MS * TICKS_PER_MS;
/** A process that syncs is seen so often. */
const GAP_TICKS = 30_000 * TICKS_PER_MS;
/** An excess that lasts is reported so often. */
const REPORT_GAP_TICKS = 3_600_000 * TICKS_PER_MS;
/** Above the number of processes that share any limit. */
const MOST_PROCESSES = 1_000_000;

interface GatewayCountParts {
  /** Its prefix is that of the leased buckets. */
  readonly store: Pick<RedisStore, 'run'>;
  /** The id of this process. */
  readonly id: string;
  /** How many processes there may be. */
  readonly stated: number;
  /** Called with the number of processes when there are more for longer than a process counts that has ended. */
  readonly onExcess: (counted: number) => void;
}

/**
 * Counts the processes that sync leases under one prefix. Each of them has a slot in one bucket, as the requests of a
 * concurrency limit have, and takes it again every 30 s: two calls. Nothing happens while a process syncs nothing.
 */
export class GatewayCount {
  readonly #parts: GatewayCountParts;
  readonly #slot: StoreTransaction;
  #counted: number | undefined;
  #nextTicks = -Infinity;
  #isRunning = false;
  #excessSinceTicks: number | undefined;
  #countedTicks = -Infinity;
  #reportedTicks = -Infinity;

  constructor(parts: GatewayCountParts) {
    this.#parts = parts;
    this.#slot = {
      limit: '', // Not the name of any limit.
      id: 'gateways',
      slots: true,
      incrementTicks: 1,
      fitTicks: MOST_PROCESSES,
      capTicks: MOST_PROCESSES,
      mode: 'check-and-spend',
      holding: { holder: parts.id, expiryMs: LIFE_MS },
    };
  }

  /** How many processes have synced in the last 90 s. Undefined before the first answer. */
  get counted(): number | undefined {
    return this.#counted;
  }

  /** Call it after each sync that was answered. */
  synced(nowTicks: number): void {
    if (nowTicks < this.#nextTicks || this.#isRunning) return;
    this.#nextTicks = nowTicks + GAP_TICKS;
    this.#isRunning = true;
    void this.#count().then((counted) => {
      this.#isRunning = false;
      if (counted !== undefined) this.#use(counted, nowTicks);
    });
  }

  /** Frees the slot of this process, which ends. */
  async close(): Promise<void> {
    if (this.#nextTicks === -Infinity) return;
    const { limit, id } = this.#slot;
    const hold = { limit, id, slots: true, holder: this.#parts.id, expiryMs: LIFE_MS, first: 1, count: 1 } as const;
    // Without an answer, the slot lapses.
    await this.#parts.store.run({ kind: 'release', batch: [hold] }).catch(() => undefined);
  }

  /** Undefined if Redis does not answer. That is reported elsewhere. */
  async #count(): Promise<number | undefined> {
    const { store } = this.#parts;
    try {
      const alternatives = [[this.#slot]];
      await store.run({ kind: 'spend', alternatives });
      // In another call: one call would count a slot that is taken again as another one.
      const { levelsTicks } = await store.run({ kind: 'check', alternatives });
      return levelsTicks[0];
    } catch {
      return undefined;
    }
  }

  #use(counted: number, nowTicks: number): void {
    const wasSeen = nowTicks - this.#countedTicks <= LIFE_TICKS;
    this.#counted = counted;
    this.#countedTicks = nowTicks;
    if (counted <= this.#parts.stated) this.#excessSinceTicks = undefined;
    else this.#excessSinceTicks = (wasSeen ? this.#excessSinceTicks : undefined) ?? nowTicks;
    if (this.#excessSinceTicks === undefined || nowTicks - this.#excessSinceTicks < LIFE_TICKS) return;
    if (nowTicks - this.#reportedTicks < REPORT_GAP_TICKS) return;
    this.#reportedTicks = nowTicks;
    this.#parts.onExcess(counted);
  }
}
