import { describe, expect, test } from 'vitest';
import { decide, isExact, refundAll, type LeaseTransaction } from '../../../src/leases/rules/decide.ts';
import type { LeasedBucket } from '../../../src/leases/rules/leased-bucket.ts';
import { WaitingBatches } from '../../../src/leases/rules/waiting-batches.ts';
import {
  addBucket,
  answer,
  makeStream,
  nextCall,
  overdraw,
  SYNC,
  TERMS,
  TICKS_PER_MS,
  TOKEN,
} from '../support/leased.ts';

const NOW = 1000 * TICKS_PER_MS;
const { overdraftTokens, burst } = TERMS;

/** Two buckets of one stream, read at `NOW`. */
function twoBuckets(terms = {}) {
  const stream = makeStream();
  const one = addBucket(stream, 'one', terms);
  const two = addBucket(stream, 'two', terms);
  one.touch(0);
  two.touch(0);
  answer(stream, stream.nextCall(NOW)!, NOW);
  return { stream, one, two };
}

function take(bucket: LeasedBucket, tokens = 1, mode: LeaseTransaction['mode'] = 'check-and-spend'): LeaseTransaction {
  return { bucket, tokens, mode, spent: undefined, waitTicks: 0, levelTicks: 0 };
}

describe('a batch', () => {
  test('takes from all its buckets or from none', () => {
    const { one, two } = twoBuckets({ waits: false });
    const batch = [take(one, 2), take(two, 3)];
    const passed = decide(batch, NOW);
    expect(passed.outcome).toBe('passed');
    expect(one.uncharged.chargeTicks).toBe(2 * TOKEN);
    expect(two.uncharged.chargeTicks).toBe(3 * TOKEN);
    refundAll(batch, NOW);
    expect(one.uncharged.returnTicks).toBe(2 * TOKEN);
    expect(two.uncharged.returnTicks).toBe(3 * TOKEN);
    decide([take(two, 3)], NOW);
    expect(decide([take(one, 2), take(two, 2)], NOW).outcome).toBe('denied');
    expect(one.uncharged.chargeTicks).toBe(2 * TOKEN);
  });

  test.each(['check-and-spend', 'check-only', 'spend-only'] as const)(
    'is left to Redis for a large cost: %s',
    (mode) => {
      const { one, two } = twoBuckets();
      const batch = [take(one), take(two, overdraftTokens, mode)];
      expect(decide(batch, NOW)).toEqual({ outcome: 'exact', retryTicks: 0 });
      expect(batch.map((each) => isExact(each, NOW))).toEqual([false, true]);
      expect(one.uncharged.isEmpty).toBe(true);
      // What Redis decides needs no leases.
      expect(two.askedTokens).toBe(0);
      one.tatTicks = NOW + burst * TOKEN;
      expect(decide(batch, NOW).outcome).toBe('denied');
      expect(two.askedTokens).toBe(0);
    },
  );

  test('is not left to Redis for a charge', () => {
    const { one } = twoBuckets();
    expect(isExact(take(one, burst, 'charge'), NOW)).toBe(false);
  });

  test('is denied for the longest wait of the buckets that deny, which are read again', () => {
    const { stream, one, two } = twoBuckets();
    one.tatTicks = NOW + (burst + 3) * TOKEN;
    two.tatTicks = NOW + burst * TOKEN;
    expect(decide([take(one), take(two)], NOW)).toEqual({ outcome: 'denied', retryTicks: 4 * TOKEN + SYNC });
    expect(nextCall(stream).call.entries.map(({ key }) => key)).toEqual(['one', 'two']);
  });

  test('is denied rather than made to wait, and waits rather than passes', () => {
    const { one, two } = twoBuckets();
    overdraw(two, NOW);
    const waiting = take(two);
    expect(decide([take(one), waiting], NOW).outcome).toBe('waits');
    one.tatTicks = NOW + burst * TOKEN;
    expect(decide([waiting, take(one)], NOW).outcome).toBe('denied');
  });

  test('looks without taking with check-only, and takes what fits with spend-only', () => {
    const { one, two } = twoBuckets();
    const looking = take(one, 3, 'check-only');
    expect(decide([looking, take(two, 3, 'spend-only')], NOW).outcome).toBe('passed');
    expect(looking.spent).toBeUndefined();
    expect(one.uncharged.isEmpty).toBe(true);
    expect(two.uncharged.chargeTicks).toBe(3 * TOKEN);
    overdraw(two, NOW);
    const tooMuch = take(two, 3, 'spend-only');
    expect(decide([tooMuch], NOW)).toEqual({ outcome: 'passed', retryTicks: 0 });
    expect(tooMuch.spent).toBeUndefined();
    expect(decide([take(two, burst + 1, 'check-only')], NOW).outcome).toBe('denied');
  });

  test('charges beyond the overdraft with the mode charge', () => {
    const { one } = twoBuckets();
    expect(decide([take(one, burst, 'charge')], NOW).outcome).toBe('passed');
    expect(one.uncharged.chargeTicks).toBe(burst * TOKEN);
  });

  test('is unavailable while Redis does not answer', () => {
    const { stream, one, two } = twoBuckets();
    one.touch(NOW);
    for (let i = 0; i < 3; i++) {
      const { call, atTicks } = nextCall(stream);
      stream.failed(call, atTicks);
    }
    expect(decide([take(one, 0), take(two)], NOW).outcome).toBe('unavailable');
  });
});

describe('batches that wait', () => {
  const WAIT = 50 * TICKS_PER_MS;
  const LONG = NOW + WAIT;
  const cost = 3;

  function waitingBatches(bucket: LeasedBucket, count: number) {
    const waiting = new WaitingBatches<{ name: number; batch: LeaseTransaction[]; untilTicks: number }>();
    overdraw(bucket, NOW);
    for (let name = 0; name < count; name++) {
      const batch = [take(bucket, cost)];
      expect(decide(batch, NOW).outcome).toBe('waits');
      waiting.add({ name, batch, untilTicks: LONG }, NOW);
    }
    return waiting;
  }

  test('are decided in the order in which they came', () => {
    const { stream, one } = twoBuckets();
    const waiting = waitingBatches(one, 3);
    const { call, atTicks } = nextCall(stream);
    expect(call.entries.at(0)!.wantedTokens).toBeGreaterThanOrEqual(3 * cost);
    answer(stream, call, atTicks, { grantedTokens: 2 * cost, levelTicks: burst * TOKEN });
    const decided = waiting.decideAgain(atTicks);
    expect(decided.map(({ waiting: { name }, decision }) => [name, decision.outcome])).toEqual([
      [0, 'passed'],
      [1, 'passed'],
      [2, 'denied'],
    ]);
    expect(waiting.size).toBe(0);
    expect(one.waitingTokens).toBe(0);
  });

  test('wait until their bucket is answered', () => {
    const { stream, one, two } = twoBuckets();
    const waiting = waitingBatches(one, 1);
    expect(waiting.decideAgain(NOW)).toEqual([]);
    two.charge(1, NOW);
    answer(stream, nextCall(stream).call, NOW);
    expect(waiting.size).toBe(1);
  });

  test('are asked for again when the answer came too late for leases', () => {
    const { stream, one } = twoBuckets();
    const waiting = waitingBatches(one, 1);
    const { call, atTicks } = nextCall(stream);
    expect(call.entries).toHaveLength(1);
    stream.failed(call, atTicks);
    const again = nextCall(stream);
    answer(stream, again.call, again.atTicks);
    overdraw(one, again.atTicks);
    expect(waiting.decideAgain(again.atTicks)).toEqual([]);
    expect(nextCall(stream).call.entries.at(0)!.wantedTokens).toBe(cost);
  });

  test('are denied after their time if Redis has answered meanwhile, and not before', () => {
    const { stream, one } = twoBuckets();
    const waiting = waitingBatches(one, 1);
    expect(waiting.untilTicks).toBe(LONG);
    const { call, atTicks } = nextCall(stream);
    answer(stream, call, atTicks);
    overdraw(one, atTicks);
    expect(waiting.decideAgain(LONG - 1)).toEqual([]);
    const decided = waiting.decideAgain(LONG).at(0)!;
    expect(decided.decision).toEqual({ outcome: 'denied', retryTicks: TERMS.reportTicks });
    expect(waiting.untilTicks).toBe(Infinity);
  });

  test('are denied after their time for as long as their bucket is full by the view and what others may not have reported', () => {
    const { stream, one } = twoBuckets({ settleTicks: 10 * TICKS_PER_MS });
    const waiting = waitingBatches(one, 1);
    const { call, atTicks } = nextCall(stream);
    answer(stream, call, atTicks, { levelTicks: (burst + 20) * TOKEN });
    expect(waiting.decideAgain(LONG - 1)).toEqual([]);
    const decided = waiting.decideAgain(LONG).at(0)!;
    const waitTicks = (20 + cost + TERMS.overdraftTokens) * TOKEN - (LONG - atTicks);
    expect(decided.decision).toEqual({ outcome: 'denied', retryTicks: waitTicks });
    expect(decided.waiting.batch.at(0)).toMatchObject({ waitTicks });
  });

  test.each(['closed', 'open'] as const)(
    'follow the policy %s after their time if Redis has not answered',
    (onFailure) => {
      const { one } = twoBuckets({ onFailure });
      const waiting = waitingBatches(one, 1);
      expect(waiting.decideAgain(LONG - 1)).toEqual([]);
      expect(waiting.decideAgain(LONG).map(({ decision }) => decision.outcome)).toEqual(['unavailable']);
      // The next one waits, too.
      expect(decide([take(one)], LONG).outcome).toBe('waits');
    },
  );

  test('are decided locally after their time if Redis has not answered, and charged by the next answer', () => {
    const { stream, one } = twoBuckets({ onFailure: 'local' });
    overdraw(one, NOW);
    const waiting = new WaitingBatches();
    const spendOne = (nowTicks: number): string => {
      const batch = [take(one)];
      const { outcome } = decide(batch, nowTicks);
      if (outcome === 'waits') waiting.add({ batch, untilTicks: nowTicks + WAIT }, nowTicks);
      return outcome;
    };
    expect(spendOne(NOW)).toBe('waits');
    const { call } = nextCall(stream);
    // The overdraft is the burst of the own share of the rate, half of it. It was spent, and two tokens have come back.
    const ended = NOW + WAIT;
    expect(waiting.decideAgain(ended).map(({ decision }) => decision.outcome)).toEqual(['passed']);
    expect([spendOne(ended), spendOne(ended)]).toEqual(['passed', 'denied']);
    const refilled = ended + TERMS.gateways * TOKEN;
    expect(spendOne(refilled)).toBe('passed');
    answer(stream, call, refilled, { levelTicks: overdraftTokens * TOKEN });
    // Until the others have reported what they let through, nothing is leased.
    one.waitingTokens = 10;
    stream.requestEarly(one, refilled);
    const after = nextCall(stream).call.entries.at(0)!;
    expect(after.chargeTicks).toBeGreaterThan(0);
    expect(after.wantedTokens).toBe(0);
  });

  test('end when only Redis can decide one of their buckets', () => {
    const { stream, one } = twoBuckets();
    const waiting = waitingBatches(one, 1);
    const { call, atTicks } = nextCall(stream);
    stream.moving(call, atTicks);
    expect(one.isLeftToRedis).toBe(true);
    expect(waiting.decideAgain(atTicks).map(({ decision }) => decision.outcome)).toEqual(['exact']);
  });

  test('are unavailable as soon as the breaker opens', () => {
    const { stream, one } = twoBuckets();
    const waiting = waitingBatches(one, 1);
    for (let i = 0; i < 3; i++) {
      const { call, atTicks } = nextCall(stream);
      stream.failed(call, atTicks);
    }
    expect(waiting.decideAgain(NOW).map(({ decision }) => decision.outcome)).toEqual(['unavailable']);
  });

  test('keep all their buckets, also those that they do not wait for', () => {
    const { one, two } = twoBuckets();
    const waiting = new WaitingBatches();
    const batch = [take(one, cost), take(two)];
    overdraw(one, NOW);
    decide(batch, NOW);
    waiting.add({ batch, untilTicks: LONG }, NOW);
    const later = NOW + 10_000 * TICKS_PER_MS;
    expect(two.isAtRest(later)).toBe(false);
    waiting.decideAgain(later);
    expect(two.usedByWaiting).toBe(0);
  });
});
