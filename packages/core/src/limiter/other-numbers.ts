import { storedLimits, type StoredLimit } from '../definitions/stored-limits.ts';
import type { LimitSet } from '../definitions/limit-set.ts';
import type { EventSink } from '../events/event.ts';
import { sha256 } from '../hash/sha-256.ts';
import type { Store, StoreHold } from '../store/store.ts';
import type { Alarm, Time } from '../time/time.ts';

/** A process that has not written its numbers for so long does not count any more. */
const EXPIRY_MS = 60_000;
/** How often a limiter writes its numbers and reads those of others: twice before they expire. */
const REFRESH_MS = 25_000;
/** A limiter whose program does not call `ready` begins after so long. */
const FIRST_MS = 1000;
/** How long the store may take, in milliseconds. Nobody waits for it but a program in `ready`. */
const DEADLINE_MS = 1000;
/** Two sets of numbers that are in use for so long are not a roll-out any more. */
const ROLL_OUT_MICROS = 600_000_000;
/** Numbers that a limiter had before `replace` are in the store until they expire. */
const REPLACED_MICROS = EXPIRY_MS * 1000;
/** The sets of numbers that are remembered for one limit. */
const MOST_SETS = 100;

const HASH_LENGTH = 12;
/** A holder has at most 64 characters: four for each three of the text. */
const TEXT_LENGTH = ((64 - HASH_LENGTH) / 4) * 3;

interface NumbersParts {
  readonly store: Store;
  readonly time: Time;
  readonly emit: EventSink;
}

/** Another set of numbers of a limit. */
interface OtherSet {
  /** Since when each look has found it; undefined while none does. */
  sinceMicros: number | undefined;
  hasWarned: boolean;
}

/** A limit in the store, and what was found beside it. */
interface Announced {
  readonly name: string;
  readonly own: StoredLimit;
  readonly hold: StoreHold;
  readonly others: Map<string, OtherSet>;
}

/**
 * Finds other processes on a store whose limits have the same names and other numbers: two services, or two versions of one.
 *
 * For each limit there is a bucket of slots in the store, with a slot for each set of numbers: its holder is the numbers, as a
 * hash and as text. A limiter reads the holders and renews its slot, which expires when no process does so any more.
 */
export class OtherNumbers {
  readonly #parts: NumbersParts;
  readonly #isUsed: boolean;
  #announced: ReadonlyMap<string, Announced> = new Map();
  /** By holder: until when numbers are in the store that this limiter had itself. */
  readonly #replaced = new Map<string, number>();
  #alarm: Alarm | undefined;
  #looking: Promise<void> | undefined;
  #isClosed = false;

  constructor(parts: NumbersParts) {
    this.#parts = parts;
    const { store, time } = parts;
    const canTell = store.traits?.slots === true && store.holders !== undefined;
    this.#isUsed = canTell && time.timersEndWithRequest !== true;
  }

  /** Call it when limits take effect. A look follows. */
  changed(set: LimitSet<never>): void {
    if (!this.#isUsed) return;
    const before = this.#announced;
    const announced = announcedIn(set);
    for (const [name, { hold }] of before) {
      if (announced.get(name)?.hold.holder !== hold.holder) this.#replaced.set(hold.holder, this.#untilMicros());
    }
    for (const [name, { others }] of announced) {
      for (const [holder, other] of before.get(name)?.others ?? []) others.set(holder, other);
    }
    this.#announced = announced;
    this.#schedule(FIRST_MS);
  }

  /** Reads the numbers of others and writes its own. It never rejects: the health of the store is seen by its decisions. */
  look(): Promise<void> {
    if (!this.#isUsed || this.#isClosed) return Promise.resolve();
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
      this.#schedule(REFRESH_MS);
    });
    return this.#looking;
  }

  /** Ends the looks. What was written expires: another process may have the same numbers. */
  close(): void {
    this.#isClosed = true;
    this.#alarm?.cancel();
  }

  async #look(): Promise<void> {
    const { store } = this.#parts;
    const all = [...this.#announced.values()];
    const batch = all.map(({ hold }) => hold);
    if (batch.length === 0) return;
    try {
      // In this order: a call that only reads fails alone where the server does not permit it.
      const holders = await store.holders!(batch, DEADLINE_MS);
      if (this.#isClosed) return;
      for (const [i, each] of all.entries()) this.#found(each, holders[i]!);
      await store.run({ kind: 'renew', batch }, DEADLINE_MS);
    } catch {
      // The next look finds it.
    }
  }

  #found(announced: Announced, holders: readonly string[]): void {
    const { hold, others } = announced;
    const nowMicros = this.#parts.time.nowMicros();
    for (const [holder, other] of others) if (!holders.includes(holder)) other.sinceMicros = undefined;
    for (const holder of holders) {
      if (holder === hold.holder || (this.#replaced.get(holder) ?? -Infinity) > nowMicros) continue;
      this.#replaced.delete(holder);
      let other = others.get(holder);
      if (other === undefined) {
        if (others.size === MOST_SETS) continue;
        others.set(holder, (other = { sinceMicros: nowMicros, hasWarned: false }));
        this.#emit('info', announced, holder);
      }
      other.sinceMicros ??= nowMicros;
      if (other.hasWarned || nowMicros - other.sinceMicros < ROLL_OUT_MICROS) continue;
      other.hasWarned = true;
      this.#emit('warning', announced, holder);
    }
  }

  #emit(level: 'info' | 'warning', { name: limit, own: { text: here } }: Announced, holder: string): void {
    const { emit, store } = this.#parts;
    const there = textOf(holder);
    const numbers = there === here ? `other options (${here})` : `other numbers: ${there} there, ${here} here`;
    const lasts = level === 'info' ? '' : ' for ten minutes';
    const message =
      `Limit "${limit}" has had${lasts}, in another process on this store, ${numbers}. They share the buckets. ` +
      `During a roll-out of new numbers, ignore this. If it is another service, give each store ${remedyFor(store)}.`;
    emit({ type: 'other-numbers', level, limit, here, there, message, once: true });
  }

  #untilMicros(): number {
    return this.#parts.time.nowMicros() + REPLACED_MICROS;
  }

  #schedule(delayMs: number): void {
    if (this.#isClosed) return;
    this.#alarm?.cancel();
    this.#alarm = this.#parts.time.alarm(delayMs, () => void this.look());
    this.#alarm.unref();
  }
}

/**
 * Finds other processes whose limits have the same names and other numbers: the property `otherNumbers` of a store that several
 * processes use. The store hands it to each limiter, so that a program whose store is its own does not load it.
 */
export const otherNumbers: (parts: never) => object = (parts: NumbersParts) => new OtherNumbers(parts);

function announcedIn(set: LimitSet<never>): ReadonlyMap<string, Announced> {
  const stored = storedLimits(set);
  const announced = new Map<string, Announced>();
  for (const { name, periods, disabled, isStored, kind } of set.limits.values()) {
    if (disabled || !isStored) continue;
    const own = stored.get(name)!;
    // Limits of other kinds and calendars have other buckets.
    const id = `numbers:${name}:${periods?.name ?? kind.level}`;
    announced.set(name, { name, own, hold: holdOf(id, own), others: new Map() });
  }
  return announced;
}

/** The slot of a set of numbers. No limit has an empty name, so its bucket is that of no user. */
function holdOf(id: string, { numbers, text }: StoredLimit): StoreHold {
  return { limit: '', id, slots: true, holder: holderOf(numbers, text), expiryMs: EXPIRY_MS, first: 1, count: 1 };
}

function holderOf(numbers: string, text: string): string {
  const short = text.length <= TEXT_LENGTH ? text : `${text.slice(0, TEXT_LENGTH - 3)}...`;
  const encoded = btoa(short).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  return sha256(numbers).slice(0, HASH_LENGTH) + encoded;
}

function textOf(holder: string): string {
  const encoded = holder.slice(HASH_LENGTH).replaceAll('-', '+').replaceAll('_', '/');
  try {
    return atob(encoded);
  } catch {
    return 'unknown numbers';
  }
}

function remedyFor({ name }: Store): string {
  const own = { redis: 'its own `prefix`', postgres: 'its own `table`', host: 'a socket of its own' };
  return own[name as keyof typeof own] ?? 'data of its own';
}
