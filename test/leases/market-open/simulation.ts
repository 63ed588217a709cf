import type { LeaseNumbers } from '../../../packages/redis/src/leases/rules/lease-numbers.ts';
import { BoundCheck } from '../bound-check.ts';
import { Gateway } from '../gateway.ts';
import { Random } from '../random.ts';
import type { ModelTransaction } from '../redis-model.ts';
import { Clients } from './clients.mjs';
import { QueuedRedis } from './queued-redis.ts';
import { leaseNumbersOf, offeredAt, type Scenario } from './scenario.ts';
import { StrictGateway } from './strict-gateway.ts';
import { Tally, type Interval } from './tally.ts';

const TICKS_PER_MICRO = 16;
const TICKS_PER_MS = 16_000;
const EVERYONE = 'everyone';
const MAX_KEYS = 100_000;

/**
 * How the gateways decide: by a call of Redis for each request, denying it (`closed`) or letting it through (`open`) if
 * Redis does not answer in time, or by leases.
 */
export type Setup = 'closed' | 'open' | 'leased';

export interface SimulatedSetup {
  readonly intervals: readonly Interval[];
  /** How many tokens the limit of everyone was exceeded by, in the worst window of time. */
  readonly overTokens: number;
  /** How many requests waited for a sync. */
  readonly waited: number;
}

/** Lets the clients open the market, on a virtual clock. */
export function simulate(scenario: Scenario, setup: Setup, progress: (share: number) => void): SimulatedSetup {
  return new MarketOpen(scenario, setup).run(progress);
}

class MarketOpen {
  readonly #scenario: Scenario;
  readonly #setup: Setup;
  readonly #clients: Clients;
  readonly #random: Random;
  readonly #tally: Tally;
  readonly #redis: QueuedRedis;
  readonly #everyone: LeaseNumbers;
  readonly #client: LeaseNumbers;
  readonly #over: BoundCheck;
  readonly #request: (gateway: number, client: string) => void;
  #waited = 0;

  constructor(scenario: Scenario, setup: Setup) {
    const { seed, gateways, durationMs, redis, oneWayMicros } = scenario;
    this.#scenario = scenario;
    this.#setup = setup;
    this.#clients = new Clients(scenario);
    this.#random = new Random(seed);
    this.#tally = new Tally(durationMs);
    this.#redis = new QueuedRedis(redis, oneWayMicros, (served) => this.#tally.served(served));
    this.#everyone = leaseNumbersOf(scenario.everyone, gateways);
    this.#client = leaseNumbersOf(scenario.client, gateways);
    this.#over = new BoundCheck(this.#everyone.fitTicks, 0);
    this.#request = setup === 'leased' ? this.#leasedGateways() : this.#strictGateways();
  }

  run(progress: (share: number) => void): SimulatedSetup {
    const { rise, durationMs, gateways, everyone } = this.#scenario;
    let due = 0;
    for (let ms = 0; ms < durationMs; ms++) {
      due += offeredAt(rise, ms + 0.5) / 1000;
      for (; due >= 1; due--) {
        const atTicks = ms * TICKS_PER_MS + TICKS_PER_MICRO * this.#random.whole(0, 999);
        this.#redis.at(atTicks, () => {
          this.#tally.count('offered', this.#redis.nowTicks);
          this.#request(this.#random.whole(0, gateways - 1), `client:${this.#clients.next()}`);
        });
      }
      this.#redis.runUntil((ms + 1) * TICKS_PER_MS);
      if (ms % 50 === 0) progress(ms / durationMs);
    }
    return {
      intervals: this.#tally.intervals((1000 * everyone.count) / everyone.periodMs),
      overTokens: Math.max(0, Math.round((this.#over.worstShare - 1) * everyone.burst)),
      waited: this.#waited,
    };
  }

  #strictGateways(): (gateway: number, client: string) => void {
    const { gateways: count, turnMicros, deadlineMs } = this.#scenario;
    const gateways = Array.from({ length: count }, () => {
      return new StrictGateway({ redis: this.#redis, turnMicros, deadlineMs });
    });
    // Without leases nowhere, a bucket is never in debt.
    const transaction = (key: string, { intervalTicks, fitTicks }: LeaseNumbers): ModelTransaction => {
      return { key, incrementTicks: intervalTicks, fitTicks, capTicks: fitTicks, mode: 'check-and-spend' };
    };
    const ofEveryone = transaction(EVERYONE, this.#everyone);
    return (gateway, client) => {
      gateways[gateway]!.request([transaction(client, this.#client), ofEveryone], (outcome) => {
        if (outcome === 'passed') this.#admit();
        else if (outcome === 'failed') this.#undecided();
      });
    };
  }

  #leasedGateways(): (gateway: number, client: string) => void {
    const gateways = Array.from({ length: this.#scenario.gateways }, (_, i) => {
      return new Gateway({
        name: String(i),
        network: this.#redis,
        reports: {
          decided: (_gateway, _batch, { outcome }, waitedTicks) => {
            if (waitedTicks > 0) this.#waited++;
            if (outcome === 'passed') this.#admit();
            else if (outcome === 'unavailable') this.#undecided();
          },
          gaveBack: () => undefined,
        },
        terms: (key) => ({
          ...(key === EVERYONE ? this.#everyone : this.#client),
          waits: true,
          onFailure: 'closed',
        }),
        syncTicks: this.#everyone.syncTicks,
        pace: 1 - this.#random.next() / 8,
        clockAheadTicks: TICKS_PER_MICRO * this.#random.whole(0, 1e9),
        maxKeys: MAX_KEYS,
      });
    });
    const tokens = [1, 1];
    const modes = ['check-and-spend', 'check-and-spend'] as const;
    return (gateway, client) => gateways[gateway]!.request({ keys: [client, EVERYONE], tokens, modes });
  }

  #admit(): void {
    const { nowTicks } = this.#redis;
    this.#tally.count('admitted', nowTicks);
    this.#over.admit(nowTicks, this.#everyone.intervalTicks);
  }

  /** Redis did not answer. */
  #undecided(): void {
    const { nowTicks } = this.#redis;
    if (this.#setup === 'open') {
      this.#tally.count('admittedUnchecked', nowTicks);
      this.#admit();
    } else this.#tally.count('unavailable', nowTicks);
  }
}
