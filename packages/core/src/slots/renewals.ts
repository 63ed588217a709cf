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

  /** Ends the renewal of a lease. Does nothing for one that was not added. */
  remove(lease: Lease): void {
    const queue = this.#queues.get(lease.leaseMs);
    queue?.remove(lease);
    if (queue?.isEmpty === true) this.#queues.delete(lease.leaseMs);
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
    this.#alarm ??= this.#nextRun();
  }

  remove(lease: Lease): void {
    this.#leases.delete(lease);
    if (!this.isEmpty) return;
    this.#alarm?.cancel();
    this.#alarm = undefined;
  }

  // A timer is set again only when it has run: most leases end long before they are due.
  #nextRun(): Alarm {
    const delayMs = Math.ceil((this.#firstDueMicros() - this.#time.nowMicros()) / 1000);
    const alarm = this.#time.alarm(delayMs, () => this.#run());
    // A process that has nothing else to do may end: its slots are then free after the lease.
    alarm.unref();
    return alarm;
  }

  #firstDueMicros(): number {
    const [oldest] = this.#leases.values();
    return oldest! + this.#dueMicros;
  }

  #run(): void {
    const nowMicros = this.#time.nowMicros();
    const ripe = this.#firstDueMicros() <= nowMicros ? this.#takeRipe(nowMicros) : [];
    this.#alarm = this.#nextRun();
    // At the end, because it may call a listener, which may add and remove leases.
    if (ripe.length > 0) this.#renew(ripe);
  }

  #takeRipe(nowMicros: number): readonly Lease[] {
    const ripe: Lease[] = [];
    for (const [lease, renewedMicros] of this.#leases) {
      if (renewedMicros + this.#ripeMicros > nowMicros) break;
      ripe.push(lease);
    }
    for (const lease of ripe) {
      this.#leases.delete(lease);
      this.#leases.set(lease, nowMicros);
    }
    return ripe;
  }
}
