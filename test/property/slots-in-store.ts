import type { StoreHold, StoreTransaction } from '@sluice/core/store';
import type { StepCounts } from './step-counts.ts';

interface Slot<Owner> {
  readonly id: string;
  readonly owner: Owner;
  readonly endMicros: number;
}

/** What a store with a replica has: a plain map of its slots, made from the calls that have reached it. */
export class SlotsInStore<Owner> {
  readonly #counts: StepCounts;
  #slots = new Map<string, Slot<Owner>>();
  #inReplica: ReadonlyMap<string, Slot<Owner>> = new Map();
  /** When the last lease ended that was not released or renewed before. */
  lastEndMicros = -Infinity;

  constructor(counts: StepCounts) {
    this.#counts = counts;
  }

  owners(): readonly Owner[] {
    return Array.from(this.#slots.values(), ({ owner }) => owner);
  }

  has(name: string): boolean {
    return this.#slots.has(name);
  }

  /** How many slots of an id there are. */
  levelOf(id: string, owner?: Owner): number {
    let level = 0;
    for (const slot of this.#slots.values()) {
      if (slot.id === id && (owner === undefined || slot.owner === owner)) level++;
    }
    return level;
  }

  /** Forgets the slots that have expired. */
  endExpired(nowMicros: number): void {
    for (const [name, { endMicros }] of this.#slots) {
      if (endMicros > nowMicros) continue;
      this.#slots.delete(name);
      this.lastEndMicros = Math.max(this.lastEndMicros, endMicros);
      this.#counts.note('slots expired');
    }
  }

  take(names: readonly string[], { id, holding }: StoreTransaction, owner: Owner, nowMicros: number): void {
    const endMicros = nowMicros + holding!.expiryMs * 1000;
    for (const name of names) this.#slots.set(name, { id, owner, endMicros });
  }

  renew(name: string, { id, expiryMs }: StoreHold, owner: Owner, nowMicros: number): void {
    this.#slots.set(name, { id, owner, endMicros: nowMicros + expiryMs * 1000 });
    this.#counts.note('renewals');
  }

  release(name: string): void {
    this.#slots.delete(name);
  }

  /** After a step back of the clock, no slot is held for longer than a whole expiry from now. */
  cutExpiries(nowMicros: number, expiryMs: number): void {
    const latestMicros = nowMicros + expiryMs * 1000;
    for (const [name, slot] of this.#slots) {
      if (slot.endMicros > latestMicros) this.#slots.set(name, { ...slot, endMicros: latestMicros });
    }
  }

  copy(): void {
    this.#inReplica = new Map(this.#slots);
  }

  failOver(nowMicros: number): void {
    const before = this.#slots;
    this.#slots = new Map(this.#inReplica);
    this.endExpired(nowMicros);
    let [lacking, back] = [before.size, this.#slots.size];
    for (const name of this.#slots.keys()) {
      if (!before.has(name)) continue;
      lacking--;
      back--;
    }
    this.#counts.note('slots that a replica lacked', lacking);
    this.#counts.note('slots whose release it lacked', back);
  }
}
