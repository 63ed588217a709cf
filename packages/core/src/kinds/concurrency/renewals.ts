import type { Alarm, Time } from '../../time/time.ts';

/** Something that expires unless it is renewed. */
interface Expiring {
  readonly expiryMs: number;
}

/** When slots are renewed, and how old they must be to be renewed together with others, as parts of their expiry. */
const DUE = 1 / 3;
const RIPE = 1 / 6;

/**
 * Renews slots when a third of their expiry has passed, together with all slots of the same expiry of
 * which a sixth has passed: few calls, and time for another attempt when one fails.
 */
export class Renewals<Slots extends Expiring> {
  readonly #time: Time;
  readonly #renew: (due: readonly Slots[]) => void;
  /** By expiry. */
  readonly #queues = new Map<number, Queue<Slots>>();

  /** @param renew - Renews slots. It never throws. */
  constructor(time: Time, renew: (due: readonly Slots[]) => void) {
    this.#time = time;
    this.#renew = renew;
  }

  /** Adds slots that were just taken. */
  add(slots: Slots): void {
    const { expiryMs } = slots;
    let queue = this.#queues.get(expiryMs);
    if (queue === undefined) this.#queues.set(expiryMs, (queue = new Queue(expiryMs, this.#time, this.#renew)));
    queue.add(slots);
  }

  /** Ends the renewal of slots. Does nothing for those that were not added. */
  remove(slots: Slots): void {
    const isLast = this.#queues.get(slots.expiryMs)?.remove(slots);
    if (isLast === true) this.#queues.delete(slots.expiryMs);
  }
}

/** The slots of one expiry, in the order of their last renewal. */
class Queue<Slots extends Expiring> {
  readonly #dueMicros: number;
  readonly #ripeMicros: number;
  readonly #time: Time;
  readonly #renew: (due: readonly Slots[]) => void;
  /** With the time of the last renewal. */
  readonly #slots = new Map<Slots, number>();
  #alarm: Alarm | undefined;

  constructor(expiryMs: number, time: Time, renew: (due: readonly Slots[]) => void) {
    this.#dueMicros = expiryMs * 1000 * DUE;
    this.#ripeMicros = expiryMs * 1000 * RIPE;
    this.#time = time;
    this.#renew = renew;
  }

  add(slots: Slots): void {
    const nowMicros = this.#time.nowMicros();
    this.#slots.set(slots, nowMicros);
    this.#alarm ??= this.#nextRun(nowMicros);
  }

  /** Returns whether none are left. */
  remove(slots: Slots): boolean {
    this.#slots.delete(slots);
    if (this.#slots.size > 0) return false;
    this.#alarm?.cancel();
    this.#alarm = undefined;
    return true;
  }

  // A timer is set again only when it has run: most slots are released long before they are due.
  #nextRun(nowMicros: number): Alarm {
    const delayMs = Math.ceil((this.#firstDueMicros() - nowMicros) / 1000);
    const alarm = this.#time.alarm(delayMs, () => this.#run());
    // A process that has nothing else to do may end: its slots are then free after their expiry.
    alarm.unref();
    return alarm;
  }

  #firstDueMicros(): number {
    const [oldest] = this.#slots.values();
    return oldest! + this.#dueMicros;
  }

  #run(): void {
    const nowMicros = this.#time.nowMicros();
    const ripe = this.#firstDueMicros() <= nowMicros ? this.#takeRipe(nowMicros) : [];
    this.#alarm = this.#nextRun(nowMicros);
    // At the end, because it may call a listener, which may add and remove slots.
    if (ripe.length > 0) this.#renew(ripe);
  }

  #takeRipe(nowMicros: number): readonly Slots[] {
    const ripe: Slots[] = [];
    for (const [slots, renewedMicros] of this.#slots) {
      if (renewedMicros + this.#ripeMicros > nowMicros) break;
      ripe.push(slots);
    }
    for (const slots of ripe) {
      this.#slots.delete(slots);
      this.#slots.set(slots, nowMicros);
    }
    return ripe;
  }
}
