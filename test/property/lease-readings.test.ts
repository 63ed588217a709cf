// The scenes of leases.test.ts count what the rules of leases let through. Limiters decide by the readings of the store, which
// come later than the decision of the rules, when the clock has moved and others have spent.
import type { SpendEntry } from '@sluice/core';
import { levelAfter, passes, type Mode } from '@sluice/core/store';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LimiterGateways, type SecondLimit } from '../leases/limiter-gateways.ts';
import { Random } from '../leases/random.ts';
import { readingOf } from '../../packages/redis/src/leases/leased-batch.ts';
import type { LeasedEntry } from '../../packages/redis/src/leases/leased-levels.ts';
import { decide, type LeaseDecision } from '../../packages/redis/src/leases/rules/decide.ts';
import { Lease } from '../../packages/redis/src/leases/rules/lease.ts';
import { isLeased, leaseNumbers } from '../../packages/redis/src/leases/rules/lease-numbers.ts';
import { LeasedBucket, type LeaseTerms } from '../../packages/redis/src/leases/rules/leased-bucket.ts';
import { LeaseStream } from '../../packages/redis/src/leases/rules/lease-stream.ts';
import { WaitingBatches } from '../../packages/redis/src/leases/rules/waiting-batches.ts';
import { RUNS } from './runs.ts';

const TICKS_PER_MS = 16_000;

const { SLUICE_PROPERTY_SEED: seed = '1' } = process.env;
/** Half a second each. */
const SCENES = Math.max(4, Math.min(Math.floor(RUNS / 80), 200));
const MS = 600;
const MOVES_EVERY_MS = 150;
/** So many requests for each token of the rate. */
const OF_RATE = 3;
const ID = '1';
const LIMITS = ['First', 'Second'] as const;

/** What came of a scene, for one limit. */
interface Let {
  readonly through: number;
  /** By how many tokens the TAT rose in Redis. */
  readonly charged: number;
  /** What refilled, and the bound of the leases. */
  readonly most: number;
}

class Scene {
  readonly #random: Random;
  readonly #gateways: LimiterGateways;
  readonly #limits: Readonly<Record<string, SecondLimit>>;
  readonly #through = new Map<string, number>(LIMITS.map((name) => [name, 0]));
  readonly #pending = new Set<Promise<unknown>>();

  constructor(sceneSeed: number) {
    const random = (this.#random = new Random(sceneSeed));
    this.#limits = Object.fromEntries(LIMITS.map((name) => [name, someLimit(random)]));
    const options = { limits: this.#limits, gateways: random.whole(2, 4), stepMicros: random.pick([1, 10, 30]) };
    this.#gateways = new LimiterGateways({ ...options, roundTripMs: random.pick([2, 20, 30, 40, 50, 80]) }, random);
  }

  get waits(): number {
    return this.#gateways.waits;
  }

  async run(): Promise<readonly Let[]> {
    const { time, limiters } = this.#gateways;
    for (const name of LIMITS) this.#gateways.empty(name, ID);
    const tats = LIMITS.map((name) => this.#gateways.tatTicks(name, ID));
    const startMs = time.nowMs;
    const perMs = (OF_RATE * this.#limits['First']!.count) / 1000;
    for (let due = 0; time.nowMs < startMs + MS;) {
      const ms = time.nowMs - startMs;
      for (; due < ms * perMs; due++) this.#request(limiters[Math.floor(ms / MOVES_EVERY_MS) % limiters.length]!);
      // oxlint-disable-next-line no-await-in-loop -- one moment after the other
      await time.pass(1);
    }
    await time.pass(200);
    await Promise.all(this.#pending);
    const seconds = (time.nowMs - startMs) / 1000;
    const leases = LIMITS.map((name) => limiters[0]!.describe(name).lease);
    await this.#gateways.close();
    return LIMITS.map((name, i) => {
      const lease = leases[i]!;
      const bound = lease.leased ? lease.bound : 0;
      return {
        through: this.#through.get(name)!,
        charged: (this.#gateways.tatTicks(name, ID) - tats[i]!) / this.#gateways.intervalTicks(name),
        most: this.#limits[name]!.count * seconds + bound,
      };
    });
  }

  #request(limiter: LimiterGateways['limiters'][number]): void {
    const decided = limiter.spend(this.#entries()).then(({ allowed, results }) => {
      if (!allowed) return;
      for (const { limit, spent } of results) this.#through.set(limit, this.#through.get(limit)! + spent);
    });
    this.#pending.add(decided);
    void decided.finally(() => this.#pending.delete(decided));
  }

  #entries(): readonly SpendEntry[] | { readonly firstOf: readonly (readonly SpendEntry[])[] } {
    const first = { limit: 'First', id: ID };
    const second = { limit: 'Second', id: ID, cost: this.#random.pick([1, 1, 2]) };
    const kind = this.#random.next();
    if (kind < 0.6) return [first];
    if (kind < 0.8) return [first, second];
    return { firstOf: [[first], [second]] };
  }
}

const T = 10 * TICKS_PER_MS;
const NOW = 1e6 * TICKS_PER_MS;
const MOST_WAIT_TICKS = 50 * TICKS_PER_MS;

/** A bucket as a process may see it: near the limit, with or without leases, and with some of its overdraft spent. */
const bucketState = fc.record({
  /** What is left by the view, in eighths of a token. */
  leftEighths: fc.integer({ min: -20, max: 40 }),
  /** In tokens. The overdraft is 7. */
  overdrawn: fc.nat(12),
  leased: fc.nat(2),
  viewAgeMs: fc.constantFrom(0, 10, 100),
});
const entryOf = fc.record({
  bucket: fc.nat(2),
  tokens: fc.nat(3),
  mode: fc.constantFrom<Mode[]>('check-and-spend', 'check-only', 'spend-only', 'charge'),
});
const batchOf = fc.uniqueArray(entryOf, { minLength: 1, maxLength: 3, selector: ({ bucket }) => bucket });
/** What happens between the decisions and the readings. */
const meanwhile = fc.record({
  answerAfterMs: fc.constantFrom(1, 20, 60),
  leftTokens: fc.nat(3),
  granted: fc.nat(2),
  passesTicks: fc.nat(20 * T),
});

function termsOf(onFailure: 'closed' | 'local'): LeaseTerms {
  const demand = { burst: 200, intervalTicks: T, overshoot: 0.1, gateways: 2, syncTicks: 200 * TICKS_PER_MS };
  const numbers = leaseNumbers(demand);
  if (!isLeased(numbers)) throw new Error(numbers.strictBecause);
  return { ...numbers, waits: true, onFailure };
}

type BucketState = (typeof bucketState extends fc.Arbitrary<infer State> ? State : never) & { readonly id: string };

function bucketIn(stream: LeaseStream, terms: LeaseTerms, state: BucketState): LeasedBucket {
  const bucket = new LeasedBucket({ limit: 'Limit', id: state.id, key: state.id }, stream, terms);
  stream.buckets.push(bucket);
  bucket.uncharged.add(state.overdrawn * T, NOW);
  bucket.tatTicks = NOW + terms.fitTicks - (state.leftEighths * T) / 8;
  bucket.viewAtTicks = NOW - state.viewAgeMs * TICKS_PER_MS;
  if (state.leased > 0) {
    bucket.addLease(new Lease(state.leased, T, { sentTicks: NOW, leaseTicks: terms.leaseTicks }));
  }
  return bucket;
}

interface Conclusion {
  readonly batch: readonly LeasedEntry[];
  readonly decision: LeaseDecision;
  readonly hasWaited: boolean;
}

/** Decides batches in one process at one moment, and those that wait after an answer or in vain. */
function conclusionsOf(
  batches: readonly (readonly LeasedEntry[])[],
  stream: LeaseStream,
  { answerAfterMs, leftTokens, granted }: { answerAfterMs: number; leftTokens: number; granted: number },
): readonly Conclusion[] {
  const waiting = new WaitingBatches<{ readonly batch: readonly LeasedEntry[]; readonly untilTicks: number }>();
  const concluded: Conclusion[] = [];
  for (const batch of batches) {
    const decision = decide(batch, NOW);
    if (decision.outcome === 'waits') waiting.add({ batch, untilTicks: NOW + MOST_WAIT_TICKS }, NOW);
    else concluded.push({ batch, decision, hasWaited: false });
  }
  const call = waiting.size > 0 ? stream.nextCall(NOW) : undefined;
  const atTicks = NOW + answerAfterMs * TICKS_PER_MS;
  if (call !== undefined && atTicks < NOW + MOST_WAIT_TICKS) {
    const buckets = call.entries.map(({ wantedTokens, fitTicks, intervalTicks }) => {
      const grantedTokens = Math.min(granted, wantedTokens);
      return { levelTicks: fitTicks - leftTokens * intervalTicks, keptFloor: true, grantedTokens };
    });
    stream.answered(call, { nowTicks: atTicks, fresh: true, lost: false, buckets }, atTicks);
  }
  const decided = [...waiting.decideAgain(atTicks), ...waiting.endAll(atTicks)];
  return [...concluded, ...decided.map(({ waiting: { batch }, decision }) => ({ batch, decision, hasWaited: true }))];
}

test('a reading says what the process has decided, however late it is made', () => {
  const outcomes = new Map<string, number>();
  fc.assert(
    fc.property(
      fc.tuple(bucketState, bucketState, bucketState),
      fc.array(batchOf, { minLength: 1, maxLength: 5 }),
      fc.constantFrom<('closed' | 'local')[]>('closed', 'local'),
      meanwhile,
      (states, given, onFailure, since) => {
        const terms = termsOf(onFailure);
        const stream = new LeaseStream('stream', terms.syncTicks, 1);
        const buckets = states.map((state, i) => bucketIn(stream, terms, { ...state, id: String(i) }));
        const batches = given.map((entries) =>
          entries.map(({ bucket: index, tokens, mode }): LeasedEntry => {
            const { fitTicks } = terms;
            const bucket = buckets[index]!;
            const transaction = {
              limit: 'Limit',
              id: bucket.id,
              incrementTicks: tokens * T,
              fitTicks,
              capTicks: fitTicks,
              mode,
            };
            return { bucket, tokens, mode, transaction, spent: undefined, waitTicks: 0, levelTicks: 0 };
          }),
        );
        const concluded = conclusionsOf(batches, stream, since);
        // The clock moves on, and others spend, before any of the readings is made.
        const laterTicks = NOW + MOST_WAIT_TICKS + since.passesTicks;
        for (const bucket of buckets) bucket.charge(since.leftTokens, laterTicks);
        for (const { batch, decision, hasWaited } of concluded) {
          const outcome = hasWaited ? `${decision.outcome} after a wait` : decision.outcome;
          outcomes.set(outcome, 1 + (outcomes.get(outcome) ?? 0));
          if (decision.outcome !== 'passed' && decision.outcome !== 'denied') continue;
          const transactions = batch.map(({ transaction }) => transaction as Parameters<typeof passes>[0][number]);
          const hasPassed = decision.outcome === 'passed';
          const { passed, levelsTicks } = readingOf(batch, hasPassed, laterTicks);
          expect(passed).toBe(hasPassed ? 0 : -1);
          // A denial shows a wait.
          expect(hasPassed || !passes(transactions, levelsTicks)).toBe(true);
          // What only spends, and does not deny, tells by its level whether it has.
          const telling = batch.filter(({ mode, tokens }) => hasPassed && mode === 'spend-only' && tokens > 0);
          const told = telling.map((each) => {
            const i = batch.indexOf(each);
            return levelAfter(transactions[i]!, levelsTicks[i]!) > levelsTicks[i]!;
          });
          expect(told).toEqual(telling.map(({ spent }) => spent !== undefined));
          expect(hasPassed || batch.every(({ spent }) => spent === undefined)).toBe(true);
        }
      },
    ),
  );
  console.log(`decisions: ${[...outcomes].map(([outcome, count]) => `${count} ${outcome}`).join(', ')}`);
  for (const outcome of ['passed', 'denied']) expect(outcomes.get(outcome)).toBeGreaterThan(RUNS / 4);
  expect(outcomes.get('denied after a wait')).toBeGreaterThan(RUNS / 20);
});

function someLimit(random: Random): SecondLimit {
  const count = random.pick([200, 500, 1000]);
  // It is not full again before the end.
  return { count, burst: 4 * count, overshoot: random.pick([0.025, 0.025, 0.1]) };
}

test('limiters with leases let through no more than Redis has charged, and no more than their bound', async () => {
  const violations: string[] = [];
  let [through, most, waits] = [0, 0, 0];
  for (let i = 0; i < SCENES; i++) {
    const sceneSeed = Number(seed) * 1_000_003 + i;
    const scene = new Scene(sceneSeed);
    // oxlint-disable-next-line no-await-in-loop -- one scene after the other
    for (const [index, each] of (await scene.run()).entries()) {
      if (each.through > Math.min(each.charged, each.most)) {
        violations.push(`scene ${sceneSeed}, ${LIMITS[index]}: ${JSON.stringify(each)}`);
      }
      through += each.through;
      most += each.most;
    }
    waits += scene.waits;
  }
  console.log(`${SCENES} scenes: ${through} tokens of ${Math.round(most)} let through, ${waits} requests waited`);
  expect(violations).toEqual([]);
  // The limits are used, and requests wait.
  expect(through).toBeGreaterThan(0.3 * most);
  expect(waits).toBeGreaterThan(SCENES);
});

test('a check denies what the view denies, also where a spend would wait for reports of other processes', async () => {
  const slow = { burst: 10, count: 1, overshoot: 0.5 };
  const gateways = new LimiterGateways(
    { limits: { Slow: slow }, gateways: 2, roundTripMs: 4, stepMicros: 1 },
    new Random(1),
  );
  gateways.empty('Slow', ID);
  const { time, limiters } = gateways;
  const entries = [{ limit: 'Slow', id: ID }];
  // Before it has a view, the process spends its overdraft of two tokens.
  const spent: boolean[] = [];
  const spends = [1, 2, 3].map(() => limiters[0]!.spend(entries).then(({ allowed }) => spent.push(allowed)));
  await time.pass(14);
  expect(spent).toEqual([true, true]);
  // It has a view now, and answers at once.
  const checked: boolean[] = [];
  void limiters[0]!.check(entries).then(({ allowed }) => checked.push(allowed));
  await time.pass(0);
  expect(checked).toEqual([false]);
  await time.pass(50);
  await Promise.all(spends);
  expect(spent).toEqual([true, true, false]);
  await gateways.close();
});
