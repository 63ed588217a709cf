/**
 * Random calls of a plan of rates by all its doors, each beside the same call of the oracle.
 *
 * @module
 */
import {
  accountId,
  createLimiter,
  memoryStore,
  SluiceError,
  type Decision,
  type Limiter,
  type Override,
  type Store,
} from '@sluice/core';
import { flowSettings, runFlow, type Exchange, type FlowSettings, type RequestDecision } from '@sluice/core/http';
import { storeGuard, type StoreOperation } from '@sluice/core/store';
import { FakeTime } from '@sluice/core/testing';
import { createHash } from 'node:crypto';
import { OracleBuckets, roundedRule, type Asked, type Numbers, type OracleDecision } from './oracle.ts';

/** What the calls have met, by name: how many of them. */
type Coverage = Readonly<Record<string, number>>;

export interface Played {
  /** The first calls whose figures are not those of the oracle. */
  readonly differences: readonly unknown[];
  readonly coverage: Coverage;
  /** Of all that the calls have returned and written: equal for two versions that agree. */
  readonly digest: string;
}

const CALLS_OF_SCENE = 100;
const MODES = ['check-and-spend', 'check-and-spend', 'check-only', 'spend-only', 'charge'] as const;
const POLICIES = ['local', 'open', 'closed'] as const;
const PERIODS_MICROS = [1_000_000, 7_000_000, 60_000_000, 3_600_000_000] as const;
const WAITS_MS = [0, 0, 0.25, 130, 1000, 9000, 70_000] as const;
const NAMES = ['A', 'B', 'C'] as const;
const IDS = ['u0', 'blocked', 'unlimited', 'other', 'u4'] as const;
const STORES = ['at once', 'at once', 'promise', 'failing'] as const;

type Name = (typeof NAMES)[number];
type Policy = (typeof POLICIES)[number];

interface Part {
  readonly limit: Name;
  readonly id: (typeof IDS)[number];
  readonly cost: number;
  readonly mode: (typeof MODES)[number];
  readonly share: number;
}

interface Visit {
  readonly parts: readonly Part[];
}

/** A call, as it was decided here and by the oracle. */
interface Compared {
  readonly ours: unknown;
  readonly exact: unknown;
  /** All that was returned and written. */
  readonly all: unknown;
}

interface Spent {
  readonly decision: Decision;
  readonly exact: OracleDecision;
}

interface Random {
  below(count: number): number;
  of<T>(values: readonly T[]): T;
}

/** Plays calls. The same seed gives the same calls. */
export async function play(calls: number, seed: number): Promise<Played> {
  const random = randomOf(seed);
  const differences: unknown[] = [];
  const coverage = new Map<string, number>();
  const hash = createHash('sha256');
  for (let played = 0; played < calls; played += CALLS_OF_SCENE) {
    const scene = new Scene(random, (name) => void coverage.set(name, (coverage.get(name) ?? 0) + 1));
    for (let i = 0; i < Math.min(CALLS_OF_SCENE, calls - played); i++) {
      const { ours, exact, all } = await scene.call(); // oxlint-disable-line no-await-in-loop -- one after the other
      hash.update(JSON.stringify(all, infiniteAsText));
      const [one, other] = [ours, exact].map((each) => JSON.stringify(each, infiniteAsText));
      if (one !== other && differences.length < 5) differences.push({ call: played + i, ours, exact });
    }
  }
  return { differences, coverage: Object.fromEntries(coverage), digest: hash.digest('hex') };
}

/** Limits, their store, and the oracle. */
class Scene {
  readonly #random: Random;
  readonly #met: (name: string) => void;
  readonly #time = new FakeTime();
  readonly #kind: (typeof STORES)[number];
  readonly #policies: Readonly<Record<Name, Policy>>;
  readonly #hidden: Name;
  readonly #other: Numbers;
  readonly #limiter: Limiter<Visit>;
  readonly #settings: Readonly<Record<'own' | 'shadow', FlowSettings<Visit, readonly []>>>;
  readonly #oracle = new OracleBuckets();
  #numbers: Readonly<Record<Name, Numbers>>;
  /** The last decision of `spend`, until it is refunded. */
  #last: Spent | undefined;
  /** The decision that `onDecision` of the middleware has got. */
  #told: Decision | undefined;

  constructor(random: Random, met: (name: string) => void) {
    this.#random = random;
    this.#met = met;
    this.#kind = random.of(STORES);
    this.#policies = { A: random.of(POLICIES), B: random.of(POLICIES), C: 'local' };
    this.#hidden = random.of(NAMES);
    this.#numbers = { A: anyNumbers(random), B: anyNumbers(random), C: anyNumbers(random) };
    this.#other = anyNumbers(random);
    this.#limiter = createLimiter<Visit>({ ...this.#set(), store: this.#store(), time: this.#time, log: false });
    const uses = NAMES.map((limit) => ({
      limit,
      cost: ({ parts }: Visit) => parts.find((each) => each.limit === limit)!.cost,
      share: ({ parts }: Visit) => parts.find((each) => each.limit === limit)!.share,
    }));
    const settings = (shadow: boolean) =>
      flowSettings<Visit, readonly []>(
        { limiter: this.#limiter, limits: uses, shadow, onDecision: (decision) => void (this.#told = decision) },
        [],
      );
    this.#settings = { own: settings(false), shadow: settings(true) };
  }

  /** Makes one call, here and by the oracle. */
  async call(): Promise<Compared> {
    this.#time.advance(this.#random.of(WAITS_MS));
    const way = this.#random.below(20);
    if (way === 0 && this.#last !== undefined) return this.#refund(this.#last);
    if (way === 1) return this.#replace();
    if (way < 6) return this.#visit(way === 2);
    return this.#decide(way < 10 ? 'check' : 'spend', way > 15);
  }

  async #decide(call: 'spend' | 'check', byHandle: boolean): Promise<Compared> {
    const parts = this.#parts(byHandle ? 1 : undefined, true);
    this.#note(parts);
    this.#met(byHandle ? 'handle' : call);
    const decision = await (byHandle ? this.#byHandle(call, parts[0]!) : this.#limiter[call](parts));
    return this.#compared(decision, parts, call === 'spend', decision);
  }

  #byHandle(call: 'spend' | 'check', { limit, id, ...options }: Part): Promise<Decision> {
    return this.#limiter.limit(limit)[call](id, options);
  }

  async #visit(shadow: boolean): Promise<Compared> {
    const parts = this.#parts(undefined, false);
    this.#note(parts);
    this.#met(shadow ? 'shadow' : 'middleware');
    const fields: Record<string, string> = {};
    const exchange = exchangeOf({ parts }, fields);
    const denial = await runFlow(this.#settings[shadow ? 'shadow' : 'own'], exchange, []);
    const decision = this.#told!;
    const { ours, exact, all } = this.#compared(decision, parts, true, { denial, fields, decision: exchange.decision });
    const passes = shadow || decision.allowed;
    const seen = [denial === null, exchange.decision?.remaining, shownIn(fields)];
    const due = [passes, shadow ? undefined : decision.remaining, shadow ? '' : this.#shown(decision)];
    return { ours: [ours, seen], exact: [exact, due], all };
  }

  async #refund({ decision, exact }: Spent): Promise<Compared> {
    this.#met('refund');
    this.#last = undefined;
    const all = await this.#limiter.refund(decision);
    this.#oracle.refundDecision(exact, this.#now, 16n);
    return { ours: all.length, exact: exact.taken.filter(({ increment }) => increment > 0n).length, all };
  }

  // With other bursts alone, so that no limit is raised: debts of a raise are the subject of limiter.test.ts.
  #replace(): Compared {
    this.#met('replace');
    const { A, B, C } = this.#numbers;
    const other = (numbers: Numbers): Numbers => ({ ...numbers, burst: 1 + this.#random.below(8) });
    this.#numbers = { A: other(A), B: other(B), C: other(C) };
    this.#limiter.replace(this.#set());
    return { ours: 0, exact: 0, all: 0 };
  }

  #compared(decision: Decision, parts: readonly Part[], takes: boolean, all: unknown) {
    const blocked = parts.filter(({ limit, id }) => limit === 'A' && id === 'blocked');
    if (blocked.length > 0) {
      this.#met('blocked');
      return { ours: figuresOf(decision), exact: BLOCKED, all };
    }
    const asked = parts.filter(({ limit, id }) => !(limit === 'A' && id === 'unlimited'));
    if (this.#kind === 'failing' && asked.some(({ limit }) => this.#policies[limit] === 'closed'))
      return { ours: figuresOf(decision), exact: UNAVAILABLE, all };
    const decided = asked.filter(({ limit }) => this.#kind !== 'failing' || this.#policies[limit] !== 'open');
    const exact = this.#oracle.decide(
      decided.map((part) => this.#asked(part)),
      this.#now,
      takes,
    );
    if (takes) this.#last = { decision, exact };
    if (!exact.allowed) this.#met('denied');
    return { ours: figuresOf(decision), exact: exactFigures(exact, decided), all };
  }

  /** The members of `RateLimit` that are due: of the visible limits, in a denial of those that denied. */
  #shown({ results, failure, allowed, retryAfterMs }: Decision): string {
    if (failure !== undefined || retryAfterMs === Infinity) return '';
    const visible = results.filter((result) => result.limit !== this.#hidden && (allowed || !result.allowed));
    return visible.map(({ limit, remaining }) => `"${limit}";r=${remaining}`).join();
  }

  #note(parts: readonly Part[]): void {
    if (this.#kind === 'promise') this.#met('promise');
    if (this.#kind === 'failing') this.#met('policy');
    if (parts.some(({ limit, id }) => limit === 'A' && id === 'other')) this.#met('override');
    if (parts.some(({ share }) => share !== 1)) this.#met('share');
    for (const mode of new Set(parts.map((part) => part.mode))) this.#met(mode);
  }

  /** @param count - How many; some if it is left out, of a middleware all. */
  #parts(count: number | undefined, isFree: boolean): readonly Part[] {
    const chosen = count === undefined && isFree ? NAMES.filter(() => this.#random.below(2) === 0) : NAMES;
    return chosen.slice(0, count).map((limit): Part => {
      const id = this.#random.of(IDS);
      const mode = isFree ? this.#random.of(MODES) : 'check-and-spend';
      const share = mode !== 'charge' && this.#random.below(4) === 0 ? 0.5 : 1;
      const { burst } = this.#numbersOf(limit, id);
      return { limit, id, mode, share, cost: this.#random.below(Math.floor(share * burst) + 1) };
    });
  }

  #asked({ limit, id, cost, mode, share }: Part): Asked {
    const rule = roundedRule(this.#numbersOf(limit, id));
    const fit = BigInt(Math.round(share * Number(rule.tolerance)));
    return { bucket: `${limit} ${id}`, rule, cost, mode, fit };
  }

  #numbersOf(limit: Name, id: string): Numbers {
    return limit === 'A' && id === 'other' ? this.#other : this.#numbers[limit];
  }

  get #now(): bigint {
    return BigInt(this.#time.nowMicros());
  }

  #set() {
    const limitOf = (name: Name) => ({
      key: accountId(({ parts }: Visit) => parts.find(({ limit }) => limit === name)!.id),
      onFailure: this.#policies[name],
      hidden: name === this.#hidden,
      ...numbersOf(this.#numbers[name]),
    });
    const A: Record<string, Override> = { blocked: 'blocked', unlimited: 'unlimited', other: numbersOf(this.#other) };
    return { limits: { A: limitOf('A'), B: limitOf('B'), C: limitOf('C') }, overrides: { A } };
  }

  #store(): Store {
    const store = memoryStore({ time: this.#time });
    if (this.#kind === 'at once') return store;
    const run = this.#kind === 'promise' ? async (operation: StoreOperation) => store.run(operation) : down;
    return { guard: storeGuard, run, close: () => undefined };
  }
}

function down(): never {
  throw new SluiceError('ERR_STORE_UNAVAILABLE', 'connection refused');
}

function exchangeOf(request: Visit, fields: Record<string, string>): Exchange<Visit> {
  let decision: RequestDecision | undefined;
  return {
    request,
    method: 'GET',
    peer: undefined,
    header: () => undefined,
    getField: () => undefined,
    setField: (name, value) => void (fields[name] = value),
    get decision() {
      return decision;
    },
    set decision(made) {
      decision = made;
    },
  };
}

const BLOCKED = {
  outcome: 'denied',
  remaining: 0,
  retryAfterMs: Infinity,
  resetAfterMs: Infinity,
  results: ['A blocked'],
};
const UNAVAILABLE = { outcome: 'unavailable', remaining: 0, retryAfterMs: 1000, resetAfterMs: 1000, results: [] };

function figuresOf({ outcome, blocked, remaining, retryAfterMs, resetAfterMs, results }: Decision) {
  const own = results.map((each) => ({
    bucket: `${each.limit} ${each.id}`,
    allowed: each.allowed,
    spent: each.spent,
    remaining: each.remaining,
    retryAfterMs: each.retryAfterMs,
    resetAfterMs: each.resetAfterMs,
  }));
  return { outcome, remaining, retryAfterMs, resetAfterMs, results: blocked ? own.map(({ bucket }) => bucket) : own };
}

function exactFigures({ allowed, answers, strictest }: OracleDecision, parts: readonly Part[]) {
  const own = answers.map(({ remaining, resetAfterMs, allowed: passes, spent, retryAfterMs }, i) => {
    const { limit, id } = parts[i]!;
    return { bucket: `${limit} ${id}`, allowed: passes, spent, remaining, retryAfterMs, resetAfterMs };
  });
  const { remaining, retryAfterMs, resetAfterMs } = own[strictest] ?? {
    remaining: Infinity,
    retryAfterMs: 0,
    resetAfterMs: 0,
  };
  return { outcome: allowed ? 'allowed' : 'denied', remaining, retryAfterMs, resetAfterMs, results: own };
}

function shownIn({ RateLimit = '' }: Readonly<Record<string, string>>): string {
  return RateLimit.replaceAll(/;t=\d+/g, '').replaceAll(', ', ',');
}

function anyNumbers(random: Random): Numbers {
  return { burst: 1 + random.below(8), count: 1 + random.below(7), periodMicros: random.of(PERIODS_MICROS) };
}

function numbersOf({ burst, count, periodMicros }: Numbers) {
  return { burst, count, period: `${periodMicros}us` } as const;
}

/** A linear congruential generator: the same numbers on all machines. */
function randomOf(seed: number): Random {
  let state = seed;
  const below = (count: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * count);
  };
  return { below, of: (values) => values[below(values.length)]! };
}

function infiniteAsText(_: string, value: unknown): unknown {
  return value === Infinity ? 'Infinity' : value;
}
