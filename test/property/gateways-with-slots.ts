// Several processes that hold slots in one store, and what must be true of them: beside each there is a plain map of the
// slots that the store has of it, made from the calls that reached the store.
import { accountId, createLimiter, type HeldDecision, type Limiter, type Store, type StoreReading } from '@sluice/core';
import type { StoreHold, StoreTransaction, Time } from '@sluice/core';
import type { FakeTime } from '@sluice/core/testing';
import fc from 'fast-check';
import { GatewayTime, ServerTime } from './gateway-times.ts';

const IDS = ['a', 'b'] as const;
const SLOTS = 6;
const LEASE_MS = 6000;
/** Each gateway allows so many when the store can't answer. */
const LOCAL_SLOTS = 3;
const GATEWAYS = 3;
const IDLE_MS = 2000;
/** Time passes in steps, at whose end the store has answered. */
const STEP_MS = 250;
const SHARES = [1, 0.5] as const;

const of = fc.nat(GATEWAYS - 1);

/** Releases are as frequent as holds. The clock of the store steps back, never forward: that would end leases. */
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      hold: of,
      id: fc.constantFrom(...IDS),
      cost: fc.integer({ min: 0, max: 3 }),
      share: fc.constantFrom(...SHARES),
      mode: fc.constantFrom('check-and-spend', 'check-and-spend', 'check-and-spend', 'spend-only'),
    }),
  },
  { weight: 8, arbitrary: fc.record({ release: of, which: fc.nat(9) }) },
  { weight: 6, arbitrary: fc.record({ passMs: fc.constantFrom(1, 300, 1000, 2500, 7000) }) },
  { weight: 2, arbitrary: fc.record({ cut: of }) },
  { weight: 2, arbitrary: fc.record({ connect: of }) },
  { weight: 1, arbitrary: fc.record({ stall: of }) },
  { weight: 2, arbitrary: fc.record({ resume: of }) },
  { weight: 1, arbitrary: fc.record({ crash: of }) },
  { weight: 1, arbitrary: fc.record({ backMs: fc.integer({ min: 1, max: 400 }) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** What happens to three gateways, which take single slots or blocks of some. */
export function gatewayScenes(maxLength: number): fc.Arbitrary<{ block: number; steps: Step[] }> {
  const steps = fc.array(step, { minLength: 1, maxLength, size: 'max' });
  return fc.record({ block: fc.constantFrom(1, 1, 3), steps });
}

/** A slot in the store, by the calls that reached it. */
interface SlotInStore {
  readonly id: string;
  readonly owner: Gateway;
  endMicros: number;
}

interface InUse {
  readonly id: string;
  readonly cost: number;
  readonly share: number;
  readonly decision: HeldDecision;
}

/** The store as one gateway reaches it. */
class Line implements Store {
  readonly traits = { slots: true, keepsDeadline: true } as const;
  isCut = false;
  readonly #store: Store;
  readonly #note: (name: string, batch: readonly unknown[], reading: StoreReading) => void;
  /** The calls that the store has not answered yet. */
  readonly pending: Set<Promise<unknown>> = new Set();

  constructor(store: Store, note: (name: string, batch: readonly unknown[], reading: StoreReading) => void) {
    this.#store = store;
    this.#note = note;
  }

  readonly spend = this.#call('spend');
  readonly check = this.#call('check');
  readonly charge = this.#call('charge');
  readonly refund = this.#call('refund');
  readonly reset = this.#call('reset') as unknown as Store['reset'];
  readonly renew = this.#call('renew') as unknown as NonNullable<Store['renew']>;
  readonly release = this.#call('release') as unknown as NonNullable<Store['release']>;

  close(): void {}

  #call(name: 'spend' | 'check' | 'charge' | 'refund' | 'reset' | 'renew' | 'release') {
    return (batch: readonly unknown[]) => {
      if (this.isCut) throw new Error('cut off');
      const call = this.#store[name] as (given: readonly unknown[]) => StoreReading | Promise<StoreReading>;
      const answer = call.call(this.#store, batch);
      if (!(answer instanceof Promise)) {
        this.#note(name, batch, answer);
        return answer;
      }
      const noted = answer.then((reading) => {
        this.#note(name, batch, reading);
        return reading;
      });
      this.pending.add(noted);
      const end = (): unknown => this.pending.delete(noted);
      noted.then(end, end);
      return noted;
    };
  }
}

/** One process. */
interface Gateway {
  readonly limiter: Limiter;
  readonly line: Line;
  readonly time: GatewayTime;
  readonly inUse: InUse[];
  /** Since when it reaches the store and its timers run; 0: always. */
  calmSinceMs: number;
}

/** Three gateways on one store. */
export class Gateways {
  readonly #time: FakeTime;
  readonly #server: ServerTime;
  readonly #store: Store;
  readonly #block: number;
  readonly #slots = new Map<string, SlotInStore>();
  readonly #all: Gateway[];
  /** Until when, by the clock of the store, slots of gateways that have crashed may be in it. */
  #ghostsUntilMicros = -Infinity;
  /** What is wrong. Empty if all is well. */
  readonly wrongs: string[] = [];
  steps = 0;

  /** @param makeStore - Makes a store with a clock. */
  constructor(makeStore: (time: Time) => Store, { time, block }: { time: FakeTime; block: number }) {
    this.#time = time;
    this.#server = new ServerTime(time);
    this.#store = makeStore(this.#server);
    this.#block = block;
    this.#all = Array.from({ length: GATEWAYS }, () => this.#started());
  }

  async run(steps: readonly Step[]): Promise<void> {
    for (const each of steps) {
      this.steps++;
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await this.#do(each);
      // oxlint-disable-next-line no-await-in-loop
      await this.#answered();
      this.#look(JSON.stringify(each));
    }
    await this.#end();
  }

  async #do(each: Step): Promise<void> {
    if ('hold' in each) return this.#hold(this.#all[each.hold]!, each);
    if ('release' in each) return this.#release(this.#all[each.release]!, each.which);
    if ('passMs' in each) return this.#pass(each.passMs);
    if ('cut' in each) this.#all[each.cut]!.line.isCut = true;
    else if ('connect' in each) this.#connect(this.#all[each.connect]!);
    else if ('stall' in each) this.#all[each.stall]!.time.stall();
    else if ('resume' in each) this.#resume(this.#all[each.resume]!);
    else if ('crash' in each) this.#crash(each.crash);
    else await this.#stepBack(each.backMs);
    for (const gateway of this.#all) if (isDisturbed(gateway)) gateway.calmSinceMs = Infinity;
  }

  async #hold(gateway: Gateway, { id, cost, share, mode }: Extract<Step, { hold: number }>): Promise<void> {
    // A process that stands still decides nothing.
    if (gateway.time.isStalled) return;
    const before = usedBy(gateway, id);
    const decision = await gateway.limiter.hold([{ limit: 'InFlight', id, cost, share, mode }]);
    const [result] = decision.results;
    if (decision.failure !== undefined) {
      if (decision.failure.policy !== 'local') this.#wrong('another policy');
      const most = share === 1 ? LOCAL_SLOTS : Math.floor(LOCAL_SLOTS * share);
      if (result!.spent > 0 && before + result!.spent > most) this.#wrong(`${before} + ${cost} in an outage`);
    }
    // Where a gateway alone takes less, because its part is smaller, it holds all of the cost.
    if (result!.spent > 0) gateway.inUse.push({ id, cost, share, decision });
    else await decision.release();
  }

  async #release(gateway: Gateway, which: number): Promise<void> {
    if (gateway.time.isStalled) return;
    const [one] = gateway.inUse.splice(which % Math.max(1, gateway.inUse.length), 1);
    await one?.decision.release();
  }

  async #pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= STEP_MS) {
      this.#time.advance(Math.min(left, STEP_MS));
      // oxlint-disable-next-line no-await-in-loop -- the store answers before more time passes
      await this.#answered();
    }
  }

  /** Waits until the store has answered everything. */
  async #answered(): Promise<void> {
    for (const { line } of this.#all) {
      // oxlint-disable-next-line no-await-in-loop -- an answer may lead to another call
      while (line.pending.size > 0) await Promise.allSettled(line.pending);
    }
  }

  #connect(gateway: Gateway): void {
    gateway.line.isCut = false;
    this.#noteCalm(gateway);
  }

  #resume(gateway: Gateway): void {
    gateway.time.resume();
    this.#noteCalm(gateway);
  }

  #noteCalm(gateway: Gateway): void {
    if (gateway.calmSinceMs === Infinity && !isDisturbed(gateway)) gateway.calmSinceMs = this.#time.nowMs;
  }

  #crash(index: number): void {
    this.#all[index]!.time.crash();
    this.#ghostsUntilMicros = this.#server.nowMicros() + LEASE_MS * 1000;
    this.#all[index] = this.#started();
  }

  /**
   * A store that is asked before and after a step notices it: leases that have ended stay so, and no other ends later than
   * a whole lease from now.
   */
  async #stepBack(ms: number): Promise<void> {
    await this.#askStore();
    this.#server.stepBack(ms);
    await this.#askStore();
    const latestMicros = this.#server.nowMicros() + LEASE_MS * 1000;
    for (const slot of this.#slots.values()) slot.endMicros = Math.min(slot.endMicros, latestMicros);
  }

  async #askStore(): Promise<void> {
    const lease = { holder: 'nobody', leaseMs: LEASE_MS };
    const numbers = { incrementTicks: 0, fitTicks: SLOTS, capTicks: SLOTS, mode: 'check-only' } as const;
    await this.#store.check(IDS.map((id) => ({ limit: 'InFlight', id, slots: true, lease, ...numbers })));
  }

  #started(): Gateway {
    const time = new GatewayTime(this.#time);
    const line = new Line(this.#store, (name, batch, reading) => this.#note(gateway, name, { batch, reading }));
    const limits = { InFlight: { key: accountId(), concurrency: SLOTS, lease: LEASE_MS, block: this.#block } };
    const failure = { gateways: SLOTS / LOCAL_SLOTS };
    const limiter = createLimiter({ limits, store: line, time, failure, log: false });
    const gateway: Gateway = { limiter, line, time, inUse: [], calmSinceMs: 0 };
    return gateway;
  }

  /** Takes note of a call that the store has answered. */
  #note(owner: Gateway, name: string, { batch, reading }: { batch: readonly unknown[]; reading: StoreReading }): void {
    const nowMicros = this.#server.nowMicros();
    if (name === 'spend' || name === 'check') {
      const [transaction] = batch as readonly StoreTransaction[];
      if (transaction !== undefined) this.#noteTaken(owner, name, { transaction, level: reading.levelsTicks[0]! });
      return;
    }
    for (const { id, holder, first, count, leaseMs } of batch as readonly StoreHold[]) {
      for (let k = first; k < first + count; k++) {
        if (name === 'release') this.#slots.delete(`${holder}:${k}`);
        else this.#slots.set(`${holder}:${k}`, { id, owner, endMicros: nowMicros + leaseMs * 1000 });
      }
    }
  }

  #noteTaken(
    owner: Gateway,
    name: string,
    { transaction, level }: { transaction: StoreTransaction; level: number },
  ): void {
    const { id, incrementTicks: cost, fitTicks, lease } = transaction;
    const exact = this.#levelOf(id);
    if (level !== exact) this.#wrong(`level ${level}, not ${exact}`);
    if (name === 'check' || cost === 0 || level + cost > fitTicks) return;
    const taken = Math.max(cost, Math.min(lease!.upTo ?? cost, fitTicks - level));
    const endMicros = this.#server.nowMicros() + lease!.leaseMs * 1000;
    for (let k = 1; k <= taken; k++) this.#slots.set(`${lease!.holder}:${k}`, { id, owner, endMicros });
    if (this.#levelOf(id) > SLOTS) this.#wrong('more taken than there are');
  }

  /** What is in the store, without slots whose lease has ended. */
  #levelOf(id: string, owner?: Gateway): number {
    const nowMicros = this.#server.nowMicros();
    let level = 0;
    for (const [name, slot] of this.#slots) {
      if (slot.endMicros <= nowMicros) this.#slots.delete(name);
      else if (slot.id === id && (owner === undefined || slot.owner === owner)) level++;
    }
    return level;
  }

  #look(after: string): void {
    for (const id of IDS) {
      // Those that have always reached the store never use more than all slots, nor more than their share of them.
      const steady = this.#all.filter(({ calmSinceMs }) => calmSinceMs === 0);
      for (const share of SHARES) {
        const used = steady.reduce((sum, gateway) => sum + usedBy(gateway, id, share), 0);
        if (used > Math.floor(SLOTS * share)) this.#wrong(`${used} slots in use with share ${share}, after ${after}`);
      }
      for (const gateway of this.#all) this.#lookAt(gateway, id, after);
    }
    if (this.#server.nowMicros() >= this.#ghostsUntilMicros) {
      for (const id of IDS) this.#levelOf(id);
      for (const { owner } of this.#slots.values()) {
        if (!this.#all.includes(owner)) this.#wrong(`a slot of a gateway that crashed, after ${after}`);
      }
    }
  }

  #lookAt(gateway: Gateway, id: string, after: string): void {
    const { calmSinceMs } = gateway;
    const calmMs = calmSinceMs === 0 ? Infinity : this.#time.nowMs - calmSinceMs;
    const [used, inStore] = [usedBy(gateway, id), this.#levelOf(id, gateway)];
    if (calmMs >= LEASE_MS && inStore < used)
      this.#wrong(`${used} slots in use, ${inStore} in the store, after ${after}`);
    const idle = this.#block > 1 ? this.#block : 0;
    if (calmMs >= LEASE_MS + this.#server.steppedMs + IDLE_MS && inStore > used + idle) {
      this.#wrong(`${inStore} slots in the store, ${used} in use, after ${after}`);
    }
  }

  /** When all reach the store again, and release everything, nothing is left in it, and no timer. */
  async #end(): Promise<void> {
    for (const gateway of this.#all) {
      gateway.line.isCut = false;
      this.#resume(gateway);
    }
    await this.#pass(3 * LEASE_MS);
    this.#look('all are back');
    for (const gateway of this.#all) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      while (gateway.inUse.length > 0) await this.#release(gateway, 0);
    }
    await this.#pass(IDLE_MS);
    await this.#answered();
    for (const id of IDS) if (this.#levelOf(id) > 0) this.#wrong(`${this.#levelOf(id)} slots are left`);
    const timers = this.#all.reduce((sum, { time }) => sum + time.timers, 0);
    if (timers > 0) this.#wrong(`${timers} timers are left`);
    const { outcome } = await this.#all[0]!.limiter.hold([{ limit: 'InFlight', id: 'a', cost: SLOTS }]);
    if (outcome !== 'allowed') this.#wrong('not all slots are free');
  }

  #wrong(what: string): void {
    this.wrongs.push(`step ${this.steps}: ${what}`);
  }
}

function isDisturbed({ line, time }: Gateway): boolean {
  return line.isCut || time.isStalled;
}

/** The slots of an id that requests with at most a share use. */
function usedBy({ inUse }: Gateway, id: string, share = 1): number {
  return inUse.reduce((sum, one) => (one.id === id && one.share <= share ? sum + one.cost : sum), 0);
}
