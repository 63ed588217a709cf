import { createLimiter, memoryStore, type Decision, type Limiter, type Override, type SpendEntry } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyNumbers, limitOf, written } from './limit-arbitraries.ts';
import { OracleBuckets, roundedRule, type Asked, type Numbers, type OracleDecision, type Rule } from './oracle.ts';

/** Debts from older sets of limits pass with time. */
const MOST_REPLACED = 8;
const MINUTE_TICKS = 60n * 16_000_000n;
const SEVEN_YEARS_MS = 7 * 365 * 86_400_000;
const MODES = ['check-and-spend', 'check-only', 'spend-only', 'charge'] as const;
// `plan` has an override of the first limit, `free` is unlimited in it.
const BUCKETS = [
  ['First', '7'],
  ['First', '8'],
  ['First', 'plan'],
  ['First', 'free'],
  ['Second', '7'],
  ['Second', '8'],
] as const;

interface LimitSet {
  readonly First: Numbers;
  readonly Second: Numbers;
  readonly plan: Numbers;
  /** The debt of the first limit and of the override, as a part of the burst. The second limit has none. */
  readonly debt: number;
  readonly planDebt: number | undefined;
}

interface Part {
  readonly place: number;
  /** As a part of what fits, or tokens when it is negative. */
  readonly cost: number;
  readonly share: number;
  readonly mode: (typeof MODES)[number];
}

const anyDebt = fc.oneof(fc.constantFrom(0, 0, 1), fc.double({ min: 0, max: 2, noNaN: true }));
const limitSet: fc.Arbitrary<LimitSet> = fc.record({
  First: anyNumbers,
  Second: anyNumbers,
  plan: anyNumbers,
  debt: anyDebt,
  planDebt: fc.option(anyDebt, { nil: undefined }),
});
const anyCost = fc.oneof(fc.constantFrom(0, -1, -1, -1, -2, 1), fc.double({ min: 0, max: 1, noNaN: true }));
const anyShare = fc.oneof(
  { weight: 3, arbitrary: fc.constant(1) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 99 }).map((percent) => percent / 100) },
  { weight: 1, arbitrary: fc.double({ min: 0, minExcluded: true, max: 1, noNaN: true }) },
);
const part: fc.Arbitrary<Part> = fc.record({
  place: fc.nat(BUCKETS.length - 1),
  cost: anyCost,
  share: anyShare,
  mode: fc.constantFrom('check-and-spend', ...MODES),
});
const parts = fc.uniqueArray(part, { maxLength: 4, selector: ({ place }) => place });
const alternatives = fc.array(fc.uniqueArray(part, { minLength: 1, maxLength: 4, selector: ({ place }) => place }), {
  minLength: 1,
  maxLength: 4,
});

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ call: fc.constant('spend' as const), parts }) },
  { weight: 1, arbitrary: fc.record({ call: fc.constant('check' as const), parts }) },
  { weight: 3, arbitrary: fc.record({ call: fc.constant('spendFirst' as const), alternatives }) },
  { weight: 1, arbitrary: fc.record({ call: fc.constant('checkFirst' as const), alternatives }) },
  { weight: 1, arbitrary: fc.record({ call: fc.constantFrom('charge' as const, 'refund' as const), parts }) },
  { weight: 1, arbitrary: fc.record({ call: fc.constant('refundDecision' as const), back: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ call: fc.constant('reset' as const), parts }) },
  { weight: 1, arbitrary: fc.record({ call: fc.constant('replace' as const), limits: limitSet }) },
  { weight: 2, arbitrary: fc.record({ call: fc.constant('wait' as const), micros: fc.nat(2_000_000) }) },
  // As long as the last decision told to wait, or a microsecond less.
  { weight: 3, arbitrary: fc.record({ call: fc.constant('waitAsTold' as const), lessMicros: fc.nat(1) }) },
  // A share of the time in which the first limit's bucket fills.
  {
    weight: 3,
    arbitrary: fc.record({ call: fc.constant('fill' as const), share: fc.double({ min: 0, max: 1.2, noNaN: true }) }),
  },
);

/** Both sides of the comparison, and what the steps need to know. */
class Comparison {
  readonly time = new FakeTime();
  readonly oracle = new OracleBuckets();
  readonly limiter: Limiter;
  readonly past: { decision: Decision; exact: OracleDecision }[] = [];
  /** What the limiter has said, and what the oracle has. */
  readonly ours: unknown[] = [];
  readonly exact: unknown[] = [];
  limits: LimitSet;
  /** The numbers that were replaced. */
  #replaced: { set: LimitSet; at: bigint }[] = [];
  /** The buckets that were cut, and how far. */
  readonly #cuts = new Map<string, bigint>();

  constructor(limits: LimitSet) {
    this.limits = limits;
    this.limiter = createLimiter({ ...setOf(limits), store: memoryStore({ time: this.time }), log: false });
  }

  get now(): bigint {
    return BigInt(this.time.nowMicros());
  }

  async run(next: typeof step extends fc.Arbitrary<infer Step> ? Step : never): Promise<void> {
    if (next.call === 'wait') this.#advance(next.micros / 1000);
    else if (next.call === 'fill') this.#advance(Math.round(next.share * this.#fillMs()));
    else if (next.call === 'waitAsTold') this.#advance(Math.max(0, this.#toldMs() - next.lessMicros / 1000));
    else if (next.call === 'replace') this.#replace(next.limits);
    else if (next.call === 'refundDecision') this.#refundDecision(next.back);
    else if (next.call === 'reset') this.#reset(next.parts);
    else if (next.call === 'charge' || next.call === 'refund') await this.#correct(next.call, next.parts);
    else if (next.call === 'spendFirst') this.#decideFirst('spend', next.alternatives);
    else if (next.call === 'checkFirst') this.#decideFirst('check', next.alternatives);
    else this.#decide(next.call, next.parts);
  }

  /** All buckets side by side. */
  lookAtAll(): void {
    for (let place = 0; place < BUCKETS.length; place++)
      this.#decide('check', [{ place, cost: 0, share: 1, mode: 'check-only' }]);
  }

  #decide(call: 'spend' | 'check', asked: readonly Part[]): void {
    const { entries, exactly } = this.#asked(asked);
    const decision = this.limiter[`${call}Sync`](entries);
    this.#compare(decision, this.#decideExactly([exactly], call === 'spend'));
  }

  #decideFirst(call: 'spend' | 'check', asked: readonly (readonly Part[])[]): void {
    const all = asked.map((each) => this.#asked(each));
    const decision = this.limiter[`${call}Sync`]({ firstOf: all.map(({ entries }) => entries) });
    const batches = all.map(({ exactly }) => exactly);
    this.#compare(decision, this.#decideExactly(batches, call === 'spend'));
  }

  #compare(decision: Decision, [exact, batch]: readonly [OracleDecision, readonly Asked[]]): void {
    this.ours.push(figuresOf(decision));
    this.exact.push(exactFigures(exact, batch));
    this.past.push({ decision, exact });
  }

  async #correct(call: 'charge' | 'refund', asked: readonly Part[]): Promise<void> {
    const { entries, exactly } = this.#asked(asked);
    const states = await this.limiter[call](entries.map(({ limit, id, cost }) => ({ limit, id, cost })));
    this.ours.push(states.map(({ remaining, resetAfterMs }) => ({ remaining, resetAfterMs })));
    this.exact.push(exactly.map((each) => this.oracle[call](each, this.now)));
  }

  #replace(limits: LimitSet): void {
    this.#replaced = [...this.#replaced, { set: this.limits, at: this.now }].slice(-MOST_REPLACED);
    this.limiter.replace(setOf((this.limits = limits)));
  }

  /**
   * Decides by the exact rule, and once more when it met debts from before a raise and took nothing.
   *
   * @returns The decision and its batch: the first that passes, or else the one with the shortest wait.
   */
  #decideExactly(batches: readonly (readonly Asked[])[], takes: boolean): readonly [OracleDecision, readonly Asked[]] {
    const met = batches.map((batch) => batch.filter((asked) => this.#isOldDebt(asked)));
    let decided = this.oracle.decideFirst(batches, this.now, takes);
    const tried = met.slice(0, decided.length).flat();
    const debts = tried.filter((asked) => {
      const left = this.#cuts.get(asked.bucket);
      return (
        left === undefined || this.oracle.owesBetween(asked.bucket, this.#longest(asked), { tolerance: left }, this.now)
      );
    });
    for (const asked of debts) {
      const longest = this.#longest(asked);
      this.#cuts.set(asked.bucket, longest.tolerance);
      this.oracle.cap(asked.bucket, longest, this.now);
    }
    const tookNothing = decided.at(-1)!.answers.every(({ spent }) => spent === 0);
    if (debts.length > 0 && tookNothing) decided = this.oracle.decideFirst(batches, this.now, takes);
    const waits = decided.map(({ answers, strictest }) => answers[strictest]?.retryAfterMs ?? 0);
    const chosen = waits.indexOf(Math.min(...waits));
    return [decided[chosen]!, batches[chosen]!];
  }

  /** Whether a debt is longer than those of all known numbers that are at least as fast, and may be from slower ones. */
  #isOldDebt(asked: Asked): boolean {
    const longest = this.#longest(asked);
    return this.#known(asked).some(
      ({ interval, cap }) =>
        asked.rule.interval < interval && this.oracle.owesBetween(asked.bucket, longest, { tolerance: cap }, this.now),
    );
  }

  /** The longest debt of the numbers in effect, and of all known ones that are at least as fast. */
  #longest(asked: Asked): Rule {
    const { rule, cap = rule.tolerance } = asked;
    const fast = this.#known(asked).filter(({ interval }) => interval <= rule.interval);
    const tolerance = fast.reduce((longest, other) => (longest > other.cap ? longest : other.cap), cap);
    return { ...rule, tolerance };
  }

  /** The numbers that were replaced, as far as debts from them can be left, and each for at least a minute. */
  #known({ bucket }: Asked): { interval: bigint; cap: bigint }[] {
    const name = bucket === 'First plan' ? 'plan' : bucket.startsWith('First') ? 'First' : 'Second';
    return this.#replaced.flatMap(({ set, at }) => {
      const cap = capOf(set, name);
      const isLeft = 16n * (this.now - at) < (cap > MINUTE_TICKS ? cap : MINUTE_TICKS);
      return isLeft ? [{ interval: roundedRule(set[name]).interval, cap }] : [];
    });
  }

  #refundDecision(back: number): void {
    const [given] = this.past.splice(-1 - back, 1);
    if (given === undefined) return;
    void this.limiter.refund(given.decision);
    this.oracle.refundDecision(given.exact, this.now, 16n);
  }

  #reset(asked: readonly Part[]): void {
    const { entries, exactly } = this.#asked(asked);
    void this.limiter.reset(entries.map(({ limit, id }) => ({ limit, id })));
    for (const { bucket } of exactly) this.oracle.reset(bucket);
  }

  #asked(asked: readonly Part[]): { entries: SpendEntry[]; exactly: Asked[] } {
    const all = asked.map(({ place, cost: asks, mode, ...given }) => {
      const [limit, id] = BUCKETS[place]!;
      const numbers = id === 'plan' ? 'plan' : limit;
      const rule = roundedRule(this.limits[numbers]);
      const cap = capOf(this.limits, numbers);
      const share = mode === 'charge' ? 1 : given.share;
      const fit = BigInt(Math.round(share * Number(rule.tolerance)));
      const most = Number((mode === 'charge' ? cap : fit) / rule.interval);
      const cost = asks < 0 ? Math.min(-asks, most) : Math.floor(asks * most);
      return { limit, id, cost, share, mode, bucket: `${limit} ${id}`, rule, fit, cap };
    });
    return {
      entries: all.map(({ limit, id, cost, share, mode }) => ({ limit, id, cost, share, mode })),
      exactly: all.filter(({ id }) => id !== 'free'),
    };
  }

  // No further than seven years: a TAT ten years ahead of it is still on the time grid.
  #advance(ms: number): void {
    this.time.advance(Math.min(ms, Math.max(0, SEVEN_YEARS_MS - this.time.nowMs)));
  }

  #fillMs(): number {
    const { tolerance } = roundedRule(this.limits.First);
    return Number(tolerance / 16n) / 1000;
  }

  #toldMs(): number {
    return this.past.at(-1)?.decision.retryAfterMs ?? 0;
  }
}

/** What a decision says of its batch, and each of its results of itself. */
function figuresOf({ allowed, limit, id, remaining, retryAfterMs, resetAfterMs, results }: Decision) {
  const strictest = { bucket: limit === null ? null : `${limit} ${id}`, remaining, retryAfterMs, resetAfterMs };
  const own = results.map((result) => ({
    bucket: `${result.limit} ${result.id}`,
    allowed: result.allowed,
    spent: result.spent,
    remaining: result.remaining,
    retryAfterMs: result.retryAfterMs,
    resetAfterMs: result.resetAfterMs,
  }));
  return { allowed, strictest, own };
}

/** The same by the oracle. */
function exactFigures({ allowed, answers, strictest }: OracleDecision, batch: readonly Asked[]) {
  const own = answers.map((answer, place) => ({ bucket: batch[place]!.bucket, ...answer }));
  const none = { bucket: null, remaining: Infinity, retryAfterMs: 0, resetAfterMs: 0 };
  const { bucket, remaining, retryAfterMs, resetAfterMs } = own[strictest] ?? none;
  return { allowed, strictest: { bucket, remaining, retryAfterMs, resetAfterMs }, own };
}

type NumbersOf = 'First' | 'Second' | 'plan';

function setOf(set: LimitSet) {
  const { First, Second, plan, planDebt } = set;
  const own = planDebt === undefined ? {} : { maxDebt: debtTokens(plan, planDebt) };
  const overrides: Record<string, Record<string, Override>> = {
    First: { plan: { ...written(plan), ...own }, free: 'unlimited' },
  };
  return {
    limits: { First: { ...limitOf(First), maxDebt: debtTokens(First, set.debt) }, Second: limitOf(Second) },
    overrides,
  };
}

const TEN_YEARS_TICKS = (BigInt(36_525) * 86_400n * 16_000_000n) / 10n;

/** A part of the burst, as far as the bucket is full again within ten years. */
function debtTokens(numbers: Numbers, ofBurst: number): number {
  const { interval, tolerance } = roundedRule(numbers);
  const most = Number((TEN_YEARS_TICKS - tolerance) / interval);
  return Math.min(Math.floor(ofBurst * numbers.burst), most, 1e9);
}

/** The level up to which a charge goes: an override inherits its debt in tokens. */
function capOf(set: LimitSet, name: NumbersOf): bigint {
  if (name === 'Second') return roundedRule(set.Second).tolerance;
  const { interval, tolerance } = roundedRule(set[name]);
  const isOwn = name === 'plan' && set.planDebt !== undefined;
  const tokens = isOwn ? debtTokens(set.plan, set.planDebt) : debtTokens(set.First, set.debt);
  const cap = tolerance + BigInt(tokens) * interval;
  return cap < TEN_YEARS_TICKS ? cap : TEN_YEARS_TICKS;
}

test('in any sequence of calls, every figure of every decision is that of the exact rule', async () => {
  await fc.assert(
    fc.asyncProperty(limitSet, fc.array(step, { minLength: 1, maxLength: 40 }), async (limits, steps) => {
      const comparison = new Comparison(limits);
      for (const next of steps) await comparison.run(next);
      comparison.lookAtAll();
      expect(comparison.ours).toEqual(comparison.exact);
    }),
  );
});
