// Several processes that hold slots in one store, and what must be true of them.
import type { StoreHold, StoreTransaction } from '@sluice/core/store';
import { callsOf, FakeTime } from '@sluice/core/testing';
import {
  Gateway,
  EXPIRY_MS,
  LOCAL_SLOTS,
  namesOf,
  SLOTS,
  takenAt,
  type Answered,
  type OwnSlot,
} from './gateway-of-slots.ts';
import { GATEWAYS, IDS, SHARES, type Hold, type Step } from './gateway-scenes.ts';
import { ServerTime } from './gateway-times.ts';
import type { ReplicatedStore } from './replicated-store.ts';
import { SlotsInStore } from './slots-in-store.ts';
import type { StepCounts } from './step-counts.ts';

/** Within that, a gateway that reaches the store has sent renewals of all its slots. */
const RENEWED_MS = EXPIRY_MS / 3 + 1;
/** Within that, the store has answered all releases. */
const RELEASED_MS = 2000;
/** After an outage, a process asks the store again within that. */
const PROBE_MS = 100;
interface GatewaysParts {
  /** How far the clock of the store may step back behind the latest time. */
  readonly mostBackMs: number;
  /** Time passes in such steps, at whose end the store has answered. 0: it answers at once. */
  readonly stepMs: number;
  readonly counts: StepCounts;
}

/** Three gateways on one store. */
export class Gateways<S extends ReplicatedStore> {
  readonly #parts: GatewaysParts;
  readonly #time = new FakeTime(1000);
  readonly #server: ServerTime;
  readonly store: S;
  readonly #slots: SlotsInStore<Gateway>;
  readonly #all: Gateway[];
  /** When the store last lost slots, and when it last got slots back or kept some for longer. */
  #lostMs = -Infinity;
  #prolongedMs = -Infinity;
  /** Until when, by the clock of the store, slots of gateways that have crashed may be in it. */
  #ghostsUntilMicros = -Infinity;
  /** What is wrong. Empty if all is well. */
  readonly wrongs: string[] = [];

  /** @param makeStore - Makes a store with a clock. */
  constructor(makeStore: (time: ServerTime) => S, parts: GatewaysParts) {
    this.#parts = parts;
    this.#server = new ServerTime(this.#time);
    this.store = makeStore(this.#server);
    this.#slots = new SlotsInStore(parts.counts);
    this.#all = Array.from({ length: GATEWAYS }, () => this.#started());
  }

  async run(steps: readonly Step[]): Promise<void> {
    for (const [index, each] of steps.entries()) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const kind = await this.#do(each);
      if (kind === undefined) continue;
      this.#parts.counts.step(kind);
      // Each step is a turn of the event loop.
      this.#time.advance(0);
      // oxlint-disable-next-line no-await-in-loop
      await this.#answered();
      this.#look();
      if (this.wrongs.length > 0) {
        this.wrongs.push(`after step ${index}: ${JSON.stringify(each)}`);
        return;
      }
    }
    await this.#end();
  }

  /** Returns what was done; undefined: nothing has changed. */
  async #do(each: Step): Promise<string | undefined> {
    if ('hold' in each) return this.#hold(this.#all[each.hold]!, each);
    if ('release' in each) return this.#release(this.#all[each.release]!, each.which);
    if ('passMs' in each) return this.#pass(each.passMs);
    if ('cut' in each) return this.#cut(this.#all[each.cut]!);
    if ('connect' in each) return this.#connect(this.#all[each.connect]!);
    if ('stall' in each) return this.#stall(this.#all[each.stall]!);
    if ('resume' in each) return this.#resume(this.#all[each.resume]!);
    if ('crash' in each) return this.#crash(each.crash);
    if ('jump' in each) return this.#jump(this.#all[each.jump]!, each.ms);
    if ('serverBackMs' in each) return this.#stepBack(each.serverBackMs);
    if ('serverOnMs' in each) return this.#stepOn(each.serverOnMs);
    return 'copy' in each ? this.#copy() : this.#failOver();
  }

  async #hold(gateway: Gateway, { id, cost, share, mode }: Hold): Promise<string | undefined> {
    // A process that stands still decides nothing.
    if (gateway.time.isStalled) return undefined;
    const before = gateway.used(id);
    const decision = await gateway.limiter.spend([{ limit: 'InFlight', id, cost, share, mode }], { hold: true });
    const spent = decision.results[0]!.spent > 0;
    const isLocal = decision.failure !== undefined;
    if (isLocal) {
      if (decision.failure.policy !== 'local') this.#wrong('another policy');
      const most = Math.floor(LOCAL_SLOTS * share);
      if (spent && before + decision.results[0]!.spent > most) this.#wrong(`${before} + ${cost} in an outage`);
    }
    if (!spent) {
      await decision.release();
      if (cost === 0) return 'taking none';
      return decision.allowed ? 'passed without a slot' : 'denied';
    }
    // Where a gateway alone takes less, because its part is smaller, it holds all of the cost.
    gateway.inUse.push({ id, cost, share, decision, isLocal });
    if (isLocal) return 'acquired by policy';
    this.#lookAtAdmission(gateway, id, share);
    return 'acquired';
  }

  async #release(gateway: Gateway, which: number): Promise<string | undefined> {
    if (gateway.time.isStalled || gateway.inUse.length === 0) return undefined;
    const [one] = gateway.inUse.splice(which % gateway.inUse.length, 1);
    await one!.decision.release();
    // Nobody loses a slot by a decision that is released again.
    await gateway.lastReleased?.release();
    gateway.lastReleased = one!.decision;
    return 'released';
  }

  async #pass(ms: number): Promise<string> {
    const stepMs = this.#parts.stepMs || ms;
    for (let left = ms; left > 0; left -= stepMs) {
      this.#time.advance(Math.min(left, stepMs));
      // oxlint-disable-next-line no-await-in-loop -- the store answers before more time passes
      await this.#answered();
    }
    return 'waited';
  }

  /** Waits until the store has answered everything. */
  async #answered(): Promise<void> {
    for (const { line } of this.#all) {
      // oxlint-disable-next-line no-await-in-loop -- an answer may lead to another call
      while (line.pending.size > 0) await Promise.allSettled(line.pending);
    }
  }

  #cut(gateway: Gateway): string | undefined {
    if (gateway.line.isCut) return undefined;
    gateway.line.isCut = true;
    gateway.calmSinceMs = Infinity;
    return 'cut off';
  }

  #connect(gateway: Gateway): string | undefined {
    if (!gateway.line.isCut) return undefined;
    gateway.line.isCut = false;
    this.#noteCalm(gateway, PROBE_MS);
    return 'connected';
  }

  #stall(gateway: Gateway): string | undefined {
    if (gateway.time.isStalled) return undefined;
    gateway.time.stall();
    gateway.calmSinceMs = Infinity;
    return 'stalled';
  }

  #resume(gateway: Gateway): string | undefined {
    if (!gateway.time.isStalled) return undefined;
    gateway.time.resume();
    this.#noteCalm(gateway);
    return 'resumed';
  }

  #noteCalm(gateway: Gateway, inMs = 0): void {
    if (!gateway.isDisturbed) gateway.calmSinceMs = this.#time.nowMs + inMs;
  }

  #crash(index: number): string {
    this.#all[index]!.time.crash();
    this.#ghostsUntilMicros = this.#server.nowMicros() + EXPIRY_MS * 1000;
    this.#all[index] = this.#started();
    return 'crashes';
  }

  #jump({ time }: Gateway, ms: number): string {
    time.jump(ms);
    return 'clock steps of a process';
  }

  /** It does not step back over an expiry: some stores have forgotten these slots, others have not. */
  async #stepBack(ms: number): Promise<string | undefined> {
    await this.#askStore();
    const { latestMicros } = this.#server;
    const earliestMicros = Math.max(this.#slots.lastEndMicros, latestMicros - this.#parts.mostBackMs * 1000);
    const most = Math.floor((this.#server.nowMicros() - earliestMicros) / 1000);
    if (most <= 0) return undefined;
    this.#server.step(-Math.min(ms, most));
    await this.#noteProlonged();
    return 'steps back of the store’s clock';
  }

  #stepOn(ms: number): string {
    this.#server.step(ms);
    this.#lostMs = this.#time.nowMs;
    return 'steps forward of the store’s clock';
  }

  async #copy(): Promise<string> {
    this.#slots.copy();
    await this.store.copy();
    return 'copied to the replica';
  }

  async #failOver(): Promise<string> {
    this.#slots.endExpired(this.#server.nowMicros());
    await this.store.failOver();
    this.#slots.failOver(this.#server.nowMicros());
    this.#lostMs = this.#time.nowMs;
    await this.#noteProlonged();
    return 'failovers';
  }

  /** A store that is asked notices that its clock was ahead: no slot expires later than a whole expiry from now. */
  async #noteProlonged(): Promise<void> {
    await this.#askStore();
    const nowMicros = this.#server.nowMicros();
    this.#slots.cutExpiries(nowMicros, EXPIRY_MS);
    this.#prolongedMs = this.#time.nowMs;
    this.#ghostsUntilMicros = Math.max(this.#ghostsUntilMicros, nowMicros + EXPIRY_MS * 1000);
  }

  async #askStore(): Promise<void> {
    const holding = { holder: 'nobody', expiryMs: EXPIRY_MS };
    const numbers = { incrementTicks: 0, fitTicks: SLOTS, capTicks: SLOTS, mode: 'check-only' } as const;
    await callsOf(this.store).check(IDS.map((id) => ({ limit: 'InFlight', id, slots: true, holding, ...numbers })));
  }

  #started(): Gateway {
    const onAnswer = (gateway: Gateway, answered: Answered): void => this.#note(gateway, answered);
    return new Gateway({ time: this.#time, store: this.store, server: this.#server, onAnswer });
  }

  /** Takes note of a call that the store has answered. */
  #note(owner: Gateway, { name, batch, reading, atMicros }: Answered): void {
    this.#slots.endExpired(atMicros);
    if (name === 'spend' || name === 'check') {
      const [transaction] = batch as readonly StoreTransaction[];
      if (transaction === undefined) return;
      const level = reading.levelsTicks[0]!;
      const exact = this.#slots.levelOf(transaction.id);
      if (level !== exact) this.#wrong(`level ${level}, not ${exact}`);
      if (name === 'spend') this.#noteTaken(owner, transaction, level, atMicros);
      return;
    }
    for (const hold of batch as readonly StoreHold[]) {
      for (const slot of namesOf(hold)) {
        if (name === 'release') this.#slots.release(slot);
        else this.#noteRenewed(owner, slot, hold, atMicros);
      }
    }
  }

  #noteTaken(owner: Gateway, transaction: StoreTransaction, level: number, atMicros: number): void {
    const { id, holding } = transaction;
    const names = namesOf({ holder: holding!.holder, first: 1, count: takenAt(level, transaction) });
    this.#slots.take(names, transaction, owner, atMicros);
    for (const [i, name] of names.entries()) owner.own.set(name, { id, level: level + 1 + i, isLost: false });
  }

  #noteRenewed(owner: Gateway, name: string, hold: StoreHold, atMicros: number): void {
    const slot = owner.own.get(name);
    if (slot !== undefined && !this.#slots.has(name)) {
      this.#noteLost(slot);
      if (this.#isSettled(owner)) this.#wrong('a slot has expired before it was renewed');
    }
    this.#slots.renew(name, hold, owner, atMicros);
  }

  #noteLost(slot: OwnSlot): void {
    if (!slot.isLost) this.#parts.counts.note('slots that the store lost while a process had them');
    slot.isLost = true;
  }

  #look(): void {
    const nowMicros = this.#server.nowMicros();
    this.#slots.endExpired(nowMicros);
    for (const gateway of this.#all) this.#lookForLost(gateway);
    for (const id of IDS) {
      // Those that the store has granted and not lost are never more than there are, nor more than their share.
      for (const share of SHARES) {
        const most = Math.floor(SLOTS * share);
        const used = this.#sum((gateway) => gateway.usedOfStore(id, share) - gateway.lost(id, most));
        if (used > most) this.#wrong(`${used} slots in use with share ${share}, without those that were lost`);
      }
      for (const gateway of this.#all) this.#lookAt(gateway, id);
    }
    if (nowMicros >= this.#ghostsUntilMicros && this.#slots.owners().some((owner) => !this.#all.includes(owner))) {
      this.#wrong('a slot of a gateway that crashed');
    }
  }

  #lookForLost(gateway: Gateway): void {
    const isSettled = this.#isSettled(gateway);
    for (const [name, slot] of gateway.own) {
      if (this.#slots.has(name)) continue;
      // One that was not renewed was released while the store did not answer.
      if (isSettled) gateway.own.delete(name);
      else this.#noteLost(slot);
    }
  }

  /** What is in use is in the store, and what nobody uses is not in it for longer than an expiry. */
  #lookAt(gateway: Gateway, id: string): void {
    const [used, inStore] = [gateway.used(id), this.#slots.levelOf(id, gateway)];
    if (this.#isSettled(gateway) && inStore < used) this.#wrong(`${used} slots in use, ${inStore} in the store`);
    if (this.#calmMs(gateway, this.#prolongedMs) < EXPIRY_MS) return;
    if (inStore > used) this.#wrong(`${inStore} slots in the store, ${used} in use`);
  }

  /** When all slots are renewed after a loss, a request is admitted only if it fits beside all that are in progress. */
  #lookAtAdmission(gateway: Gateway, id: string, share: number): void {
    if (!this.#isSettled(gateway)) return;
    for (const each of SHARES) {
      const used = this.#sum((one) => (this.#isSettled(one) ? one.used(id, each) : 0));
      const most = Math.floor(SLOTS * each);
      if (share <= each && used > most) this.#wrong(`admitted as number ${used} with share ${each}`);
    }
  }

  #sum(count: (gateway: Gateway) => number): number {
    let sum = 0;
    for (const gateway of this.#all) sum += count(gateway);
    return sum;
  }

  /** Whether a gateway has renewed all its slots since anything has happened to them, and for how long. */
  #isSettled(gateway: Gateway): boolean {
    return this.#calmMs(gateway, this.#lostMs) > RENEWED_MS + this.#parts.stepMs;
  }

  /** How long a gateway has reached the store, and nothing has happened to that. */
  #calmMs({ calmSinceMs }: Gateway, happenedMs: number): number {
    return this.#time.nowMs - Math.max(calmSinceMs, happenedMs);
  }

  /** When all reach the store again, and release everything, nothing is left in it, and no timer. */
  async #end(): Promise<void> {
    for (const gateway of this.#all) {
      this.#connect(gateway);
      this.#resume(gateway);
    }
    await this.#pass(3 * EXPIRY_MS);
    this.#look();
    for (const gateway of this.#all) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      while (gateway.inUse.length > 0) await this.#release(gateway, 0);
    }
    await this.#pass(RELEASED_MS);
    this.#look();
    for (const id of IDS) if (this.#slots.levelOf(id) > 0) this.#wrong(`${this.#slots.levelOf(id)} slots are left`);
    const timers = this.#sum(({ time }) => time.timers);
    if (timers > 0) this.#wrong(`${timers} timers are left`);
    const { outcome } = await this.#all[0]!.limiter.spend([{ limit: 'InFlight', id: 'a', cost: SLOTS }], {
      hold: true,
    });
    if (outcome !== 'allowed') this.#wrong('not all slots are free');
  }

  #wrong(what: string): void {
    this.wrongs.push(what);
  }
}
