import type { LeaseDecision, LeaseTransaction } from '../../packages/redis/src/leases/rules/decide.ts';
import type { LeaseNumbers } from '../../packages/redis/src/leases/rules/lease-numbers.ts';
import type { LeaseTerms } from '../../packages/redis/src/leases/rules/leased-bucket.ts';
import { BoundCheck } from './bound-check.ts';
import { Gateway, type Request } from './gateway.ts';
import { SimulatedNetwork } from './network.ts';
import { Random } from './random.ts';
import type { Scene } from './scene.ts';

const TICKS_PER_MS = 16_000;
const TICKS_PER_SECOND = 1000 * TICKS_PER_MS;
/** What was given back counts in windows that begin up to so long after it, and the life of a lease. */
const GIVEN_BACK_TICKS = 10 * TICKS_PER_SECOND;

/** What came of a scene. */
export interface Outcome {
  readonly requests: number;
  readonly passed: number;
  readonly waited: number;
  readonly syncs: number;
  readonly resets: number;
  readonly refunds: number;
  /** The part of the bound that was used, of the key where it was the largest. */
  readonly worstShare: number;
}

/** Gateways with leases, some without, and one Redis. */
export class Simulation {
  readonly #scene: Scene;
  readonly #random: Random;
  readonly #network: SimulatedNetwork;
  readonly #checks: ReadonlyMap<string, BoundCheck>;
  readonly #numbers: LeaseNumbers[];
  readonly #gateways: Gateway[];
  readonly #counts = { requests: 0, passed: 0, waited: 0, resets: 0, refunds: 0 };
  #started = 0;

  constructor(scene: Scene) {
    this.#scene = scene;
    this.#random = new Random(scene.seed ^ 0x5eed);
    this.#network = new SimulatedNetwork(this.#random, scene.network, (key, ticks) => this.#gaveBack(key, ticks));
    const gateways = scene.numbers.gateways;
    this.#numbers = Array.from({ length: gateways }, () => scene.numbers);
    this.#checks = new Map(scene.keys.map((key) => [key, this.#check()]));
    this.#gateways = Array.from({ length: gateways }, (_, i) => this.#newGateway(i));
  }

  run(): Outcome {
    this.#planRequests();
    this.#planDisturbances();
    this.#network.runUntil(this.#scene.durationTicks + TICKS_PER_SECOND);
    const worstShare = Math.max(...[...this.#checks.values()].map((check) => check.worstShare));
    return { ...this.#counts, syncs: this.#network.syncs, worstShare };
  }

  #check(): BoundCheck {
    const { numbers, laterNumbers = numbers, kind } = this.#scene;
    const largest = (of: (numbers: LeaseNumbers) => number): number => Math.max(of(numbers), of(laterNumbers));
    const boundTicks =
      largest(({ fitTicks }) => fitTicks) +
      numbers.gateways * largest(({ overdraftTicks }) => overdraftTicks) +
      largest(({ leaseTicks }) => leaseTicks);
    const inOutages = kind === 'local' ? numbers.gateways * numbers.intervalTicks : 0;
    return new BoundCheck(boundTicks + inOutages, largest(({ leaseTicks }) => leaseTicks) + GIVEN_BACK_TICKS);
  }

  #newGateway(index: number): Gateway {
    const { numbers, waits, kind } = this.#scene;
    return new Gateway({
      name: `${index}-${this.#started++}`,
      network: this.#network,
      reports: {
        decided: (...decided) => this.#decided(...decided),
        gaveBack: (key, ticks) => this.#gaveBack(key, ticks),
      },
      terms: (): LeaseTerms => ({
        ...this.#numbers[index]!,
        waits,
        onFailure: kind === 'local' ? 'local' : 'closed',
      }),
      syncTicks: numbers.syncTicks,
      pace: 1 - this.#random.next() / 8,
      clockAheadTicks: 16 * this.#random.whole(0, 1e9),
      maxKeys: 1000,
    });
  }

  #planRequests(): void {
    const { requests, durationTicks } = this.#scene;
    for (let i = 0; i < requests; i++) this.#network.at(this.#time(durationTicks), () => this.#request());
    // A flood at one instant, and the first requests of all gateways for a key.
    const floodTicks = this.#random.pick([0, this.#time(durationTicks)]);
    const flood = this.#random.pick([0, 0.2, 0.5]);
    for (let i = 0; i < flood * requests; i++) this.#network.at(floodTicks, () => this.#request());
  }

  #request(): void {
    this.#counts.requests++;
    const index = this.#someGateway();
    const request = this.#someRequest();
    if (index < this.#scene.strictShare * this.#gateways.length) this.#requestStrictly(request, this.#numbers[index]!);
    else this.#gateways[index]!.request(request);
  }

  #someGateway(): number {
    return Math.floor(this.#random.next() ** this.#scene.skew * this.#gateways.length);
  }

  #someRequest(): Request {
    const { keys, mostTokens, numbers, kind } = this.#scene;
    const random = this.#random;
    const chosen = keys.filter(() => random.chance(0.7));
    const used = chosen.length > 0 ? chosen : [keys[0]!];
    const most = Math.min(mostTokens, numbers.burst);
    return {
      keys: used,
      tokens: used.map(() => random.magnitude(1, most)),
      modes: used.map(() =>
        random.chance(0.9)
          ? 'check-and-spend'
          : random.pick(['check-only', 'spend-only', kind === 'calm' ? 'check-only' : 'charge']),
      ),
    };
  }

  #requestStrictly({ keys, tokens }: Request, { intervalTicks, fitTicks, capTicks }: LeaseNumbers): void {
    const batch = keys.map((key, i) => {
      return { key, incrementTicks: tokens[i]! * intervalTicks, fitTicks, capTicks, mode: 'check-and-spend' as const };
    });
    this.#network.spend(batch, (levels) => {
      const passes = batch.every(({ incrementTicks }, i) => levels[i]! + incrementTicks <= fitTicks);
      if (passes) for (const { key, incrementTicks } of batch) this.#admit(key, incrementTicks);
    });
  }

  #decided(gateway: Gateway, batch: readonly LeaseTransaction[], decision: LeaseDecision, waitedTicks: number): void {
    if (waitedTicks > 0) this.#counts.waited++;
    if (decision.outcome !== 'passed') return;
    this.#counts.passed++;
    for (const { bucket, tokens, mode, spent } of batch) {
      const spends = mode === 'check-and-spend' || (mode === 'spend-only' && spent !== undefined);
      if (spends) this.#admit(bucket.key, tokens * bucket.terms.intervalTicks);
    }
    if (this.#scene.kind === 'refunds' && this.#random.chance(0.5)) {
      this.#counts.refunds++;
      this.#network.at(this.#network.nowTicks + this.#time(500 * TICKS_PER_MS), () => gateway.refund(batch));
    }
  }

  #planDisturbances(): void {
    const { kind, durationTicks, keys } = this.#scene;
    const random = this.#random;
    const several = (times: number, run: () => void): void => {
      for (let i = 0; i < random.whole(1, times); i++) this.#network.at(this.#time(durationTicks), run);
    };
    const aKey = (): string => random.pick(keys);
    const aGateway = (): Gateway => random.pick(this.#gateways);
    if (kind === 'faults') {
      several(4, () => aGateway().stall(random.pick([50, 300, 2000]) * TICKS_PER_MS));
      several(3, () => this.#crash());
    }
    if (kind === 'resets' || kind === 'losses') several(3, () => this.#reset(aKey()));
    if (kind === 'refunds')
      several(3, () => aGateway().refundInRedis(aKey(), random.whole(1, this.#scene.numbers.fitTicks)));
    if (kind === 'losses') {
      several(2, () => this.#network.takeSnapshot());
      several(2, () => this.#network.failOver(keys));
      several(2, () => this.#network.flushAll(keys));
    }
    if (kind === 'changes') this.#planChanges();
    if (kind === 'moves') several(3, () => this.#network.moveSlot(random.pick([100, 1000, 5000]) * TICKS_PER_MS));
    if (kind === 'local') several(2, () => this.#network.cut(random.pick([80, 300, 1000, 4000]) * TICKS_PER_MS));
  }

  #reset(key: string): void {
    this.#counts.resets++;
    if (this.#random.chance(0.3)) this.#network.reset(key);
    else this.#random.pick(this.#gateways).reset(key);
  }

  #crash(): void {
    const index = this.#random.whole(0, this.#gateways.length - 1);
    this.#gateways[index]!.crash();
    // The next process has an overdraft of its own, before it has a view of the bucket.
    for (const check of this.#checks.values()) check.allow(this.#scene.numbers.overdraftTicks);
    this.#gateways[index] = this.#newGateway(index);
  }

  #planChanges(): void {
    const { durationTicks, laterNumbers } = this.#scene;
    for (const index of this.#gateways.keys()) {
      this.#network.at(this.#time(durationTicks), () => {
        this.#numbers[index] = laterNumbers!;
        this.#gateways[index]!.changeTerms();
      });
    }
  }

  #admit(key: string, ticks: number): void {
    this.#checks.get(key)!.admit(this.#network.nowTicks, ticks);
  }

  #gaveBack(key: string, ticks: number): void {
    // Once more for leases that were unspent then, and are given back when they lapse.
    this.#checks.get(key)!.giveBack(this.#network.nowTicks, 2 * ticks);
  }

  /** A moment, on a whole microsecond as clocks read it. */
  #time(mostTicks: number): number {
    return 16 * this.#random.whole(0, Math.floor(mostTicks / 16));
  }
}
