import type { Alarm, Time } from '../time/time.ts';

/** Something with a lease. */
interface Leased {
  readonly leaseMs: number;
}

/** When a lease is renewed, and how old it must be to be renewed together with another, as parts of its length. */
const DUE = 1 / 3;
const RIPE = 1 / 6;

/**
 * Renews leases before they end. A lease is renewed when a third of it has passed, together with all of the same length of
 * which a sixth has passed: few calls, and time for another attempt when one fails.
 */
export class Renewals<Lease extends Leased> {
  readonly #time: Time;
  readonly #renew: (due: readonly Lease[]) => void;
  /** By length. */
  readonly #queues = new Map<number, Queue<Lease>>();

  /** @param renew - Renews leases. It never throws. */
  constructor(time: Time, renew: (due: readonly Lease[]) => void) {
    this.#time = time;
    this.#renew = renew;
  }

  /** Adds a lease that has just begun. */
  add(lease: Lease): void {
    const { leaseMs } = lease;
    let queue = this.#queues.get(leaseMs);
    if (queue === undefined) this.#queues.set(leaseMs, (queue = new Queue(leaseMs, this.#time, this.#renew)));
    queue.add(lease);
  }

  /** Ends the renewal of a lease. Returns whether it was renewed until now. */
  remove(lease: Lease): boolean {
    const queue = this.#queues.get(lease.leaseMs);
    if (queue?.remove(lease) !== true) return false;
    if (queue.isEmpty) this.#queues.delete(lease.leaseMs);
    return true;
  }

  /** Ends all renewals. */
  close(): void {
    for (const queue of this.#queues.values()) queue.close();
    this.#queues.clear();
  }
}

/** The leases of one length, in the order of their last renewal. */
class Queue<Lease extends Leased> {
  readonly #dueMicros: number;
  readonly #ripeMicros: number;
  readonly #time: Time;
  readonly #renew: (due: readonly Lease[]) => void;
  /** With the time of the last renewal. */
  readonly #leases = new Map<Lease, number>();
  #alarm: Alarm | undefined;

  constructor(leaseMs: number, time: Time, renew: (due: readonly Lease[]) => void) {
    this.#dueMicros = leaseMs * 1000 * DUE;
    this.#ripeMicros = leaseMs * 1000 * RIPE;
    this.#time = time;
    this.#renew = renew;
  }

  get isEmpty(): boolean {
    return this.#leases.size === 0;
  }

  add(lease: Lease): void {
    this.#leases.set(lease, this.#time.nowMicros());
    if (this.#alarm === undefined) this.#arm();
  }

  remove(lease: Lease): boolean {
    const wasThere = this.#leases.delete(lease);
    if (this.isEmpty) this.close();
    return wasThere;
  }

  close(): void {
    this.#alarm?.cancel();
    this.#alarm = undefined;
  }

  // A timer is set again only when it has run: most leases end long before they are due.
  #arm(): void {
    const [oldest] = this.#leases.values();
    if (oldest === undefined) return;
    const delayMs = Math.ceil((oldest + this.#dueMicros - this.#time.nowMicros()) / 1000);
    this.#alarm = this.#time.alarm(delayMs, () => this.#run());
    // A process that has nothing else to do may end: its slots are then free after the lease.
    this.#alarm.unref();
  }

  #run(): void {
    this.#alarm = undefined;
    const nowMicros = this.#time.nowMicros();
    const [oldest = nowMicros] = this.#leases.values();
    if (oldest + this.#dueMicros <= nowMicros) this.#renewRipe(nowMicros);
    this.#arm();
  }

  #renewRipe(nowMicros: number): void {
    const ripe: Lease[] = [];
    for (const [lease, renewedMicros] of this.#leases) {
      if (renewedMicros + this.#ripeMicros > nowMicros) break;
      ripe.push(lease);
    }
    for (const lease of ripe) {
      this.#leases.delete(lease);
      this.#leases.set(lease, nowMicros);
    }
    this.#renew(ripe);
  }
}
