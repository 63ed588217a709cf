import { EXPIRY } from './slot-terms.ts';
import type { Alarm, Time } from '../../time/time.ts';

/** Something that expires unless it gives a sign of life. */
interface Living {
  readonly expiryMs: number;
}

interface Heartbeat {
  atMicros: number;
  alarm: Alarm;
}

/** How often one comes, as a part of the expiry: there is time for another attempt when a renewal fails. */
const INTERVAL = 1 / 3;

/**
 * The signs of life of requests that hold slots, where timers end with their request: each request has a timer, and slots
 * without a sign for as long as their expiry belong to a request that has ended without releasing them.
 */
export class Heartbeats<Slots extends Living> {
  readonly #time: Time;
  readonly #beat: (slots: Slots) => void;
  /** In the order of the last signs. */
  readonly #beats = new Map<Slots, Heartbeat>();

  /** @param beat - Called at each sign of life. It never throws. */
  constructor(time: Time, beat: (slots: Slots) => void) {
    this.#time = time;
    this.#beat = beat;
  }

  has(slots: Slots): boolean {
    return this.#beats.has(slots);
  }

  /** Call it in the request that holds the slots. */
  add(slots: Slots): void {
    const alarm = this.#time.alarm(slots.expiryMs * INTERVAL, () => {
      this.#beats.delete(slots);
      this.add(slots);
      this.#beat(slots);
    });
    // A process that has nothing else to do may end, where there is one: its slots are then free after their expiry.
    alarm.unref();
    this.#beats.set(slots, { atMicros: this.#time.nowMicros(), alarm });
  }

  /** Ends the signs of life: the slots expire. */
  stop(slots: Slots): void {
    this.#beats.get(slots)?.alarm.cancel();
  }

  /** Forgets slots. Does nothing for those that were not added. */
  remove(slots: Slots): void {
    this.stop(slots);
    this.#beats.delete(slots);
  }

  /** Returns the slots that have expired, and forgets them. */
  takeExpired(): readonly Slots[] {
    const nowMicros = this.#time.nowMicros();
    const expired: Slots[] = [];
    for (const [slots, { atMicros }] of this.#beats) {
      const silentMs = (nowMicros - atMicros) / 1000;
      if (silentMs < EXPIRY.minMs) break;
      if (silentMs >= slots.expiryMs) expired.push(slots);
    }
    for (const slots of expired) this.remove(slots);
    return expired;
  }
}
