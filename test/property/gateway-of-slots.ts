import { accountId, createLimiter, type Decision, type Limiter, type Store, type Awaitable } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import {
  storeGuard,
  type StoreHold,
  type StoreReading,
  type StoreTransaction,
  type StoreOperation,
} from '@sluice/core/store';
import type { FakeTime } from '@sluice/core/testing';
import { GatewayTime, type ServerTime } from './gateway-times.ts';

export const SLOTS = 6;
export const EXPIRY_MS = 6000;
/** Each gateway allows so many when the store can't answer. */
export const LOCAL_SLOTS = 3;

/** A call that the store has answered. */
export interface Answered {
  readonly name: string;
  readonly batch: readonly unknown[];
  readonly reading: StoreReading;
  /** By the clock of the store. */
  readonly atMicros: number;
}

interface LineParts {
  readonly store: Store;
  readonly server: ServerTime;
  readonly onAnswer: (answered: Answered) => void;
  /** Called for each release, also for one that does not reach the store. */
  readonly onRelease: (holds: readonly StoreHold[]) => void;
}

/** The store as one gateway reaches it. */
class Line implements Store {
  readonly guard: object = storeGuard;
  readonly traits = { slots: true, keepsDeadline: true } as const;
  isCut = false;
  readonly #parts: LineParts;
  /** The calls that the store has not answered yet. */
  readonly pending: Set<Promise<unknown>> = new Set();

  constructor(parts: LineParts) {
    this.#parts = parts;
  }

  close(): void {}

  run(operation: StoreOperation): Awaitable<StoreReading> {
    const { store, server, onAnswer, onRelease } = this.#parts;
    const { kind: name } = operation;
    if (name === 'release') onRelease(operation.batch);
    if (this.isCut) throw new Error('cut off');
    const batch = 'alternatives' in operation ? operation.alternatives[0]! : operation.batch;
    const atMicros = server.nowMicros();
    const answer = store.run(operation);
    if (!(answer instanceof Promise)) {
      onAnswer({ name, batch, reading: answer, atMicros });
      return answer;
    }
    const noted = answer.then((reading) => {
      onAnswer({ name, batch, reading, atMicros });
      return reading;
    });
    this.pending.add(noted);
    const end = (): unknown => this.pending.delete(noted);
    noted.then(end, end);
    return noted;
  }
}

interface InUse {
  readonly id: string;
  readonly cost: number;
  readonly share: number;
  readonly decision: Decision;
  /** Whether the policy has allowed it, because the store did not answer. */
  readonly isLocal: boolean;
}

/** A slot that a store has granted to a process, which uses it or keeps it for its next requests. */
export interface OwnSlot {
  readonly id: string;
  /** The level of the bucket when it was taken, itself included. */
  readonly level: number;
  /** Whether the store has lost it, or it has expired, while the process had it. */
  isLost: boolean;
}

interface GatewayParts {
  readonly time: FakeTime;
  readonly store: Store;
  readonly server: ServerTime;
  readonly onAnswer: (gateway: Gateway, answered: Answered) => void;
}

/** One process. */
export class Gateway {
  readonly limiter: Limiter;
  readonly line: Line;
  readonly time: GatewayTime;
  readonly inUse: InUse[] = [];
  /** By holder and number. Without those that the policy has allowed. */
  readonly own = new Map<string, OwnSlot>();
  lastReleased: Decision | undefined;
  /** Since when it reaches the store and its timers run; Infinity: it does not. */
  calmSinceMs = -Infinity;

  constructor({ time, store, server, onAnswer }: GatewayParts) {
    this.time = new GatewayTime(time);
    this.line = new Line({
      store,
      server,
      onAnswer: (answered) => onAnswer(this, answered),
      onRelease: (holds) => holds.forEach((hold) => namesOf(hold).forEach((name) => this.own.delete(name))),
    });
    const limits = { InFlight: concurrency({ key: accountId(), concurrency: SLOTS, expiry: EXPIRY_MS }) };
    const failure = { gateways: SLOTS / LOCAL_SLOTS };
    this.limiter = createLimiter({ limits, store: this.line, time: this.time, failure, log: false });
  }

  get isDisturbed(): boolean {
    return this.line.isCut || this.time.isStalled;
  }

  /** The slots of an id that requests with at most a share use. */
  used(id: string, share = 1): number {
    let used = 0;
    for (const one of this.inUse) if (one.id === id && one.share <= share) used += one.cost;
    return used;
  }

  /** The same without those that the policy has allowed. */
  usedOfStore(id: string, share: number): number {
    let used = 0;
    for (const one of this.inUse) if (!one.isLocal && one.id === id && one.share <= share) used += one.cost;
    return used;
  }

  /** The slots that the store has lost, and that requests may use to which it grants up to `most`. */
  lost(id: string, most: number): number {
    let lost = 0;
    for (const slot of this.own.values()) if (slot.isLost && slot.id === id && slot.level <= most) lost++;
    return lost;
  }
}

export function namesOf({ holder, first, count }: Pick<StoreHold, 'holder' | 'first' | 'count'>): readonly string[] {
  return Array.from({ length: count }, (_, i) => `${holder}:${first + i}`);
}

/** How many slots a transaction takes at a level. */
export function takenAt(level: number, { incrementTicks: cost, fitTicks }: StoreTransaction): number {
  return level + cost > fitTicks ? 0 : cost;
}
