import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { leaseNumbers, type LeaseNumbers } from '../../../src/leases/rules/lease-numbers.ts';
import { DENIES, EXACT, FITS, UNAVAILABLE, WAITS } from '../../../src/leases/rules/leased-bucket.ts';
import {
  addBucket,
  answer,
  leased,
  makeStream,
  nextCall,
  overdraw,
  SYNC,
  syncedBucket,
  TERMS,
  TICKS_PER_MS,
  TOKEN,
} from '../support/leased.ts';

const { overdraftTokens, burst, leaseTicks } = TERMS;

/** Reads a bucket, which Redis answers with a level. Returns the moment of the answer. */
function readAgain({ stream, bucket }: ReturnType<typeof syncedBucket>, atTicks: number, levelTicks: number): number {
  stream.requestEarly(bucket, atTicks);
  const call = stream.nextCall(atTicks)!;
  stream.endWait(bucket);
  answer(stream, call, atTicks, { levelTicks });
  return atTicks;
}

describe('a bucket whose tokens come back slowly', () => {
  const T = 1000 * TICKS_PER_MS;
  const SETTLE = 10 * TICKS_PER_MS;
  const slow = {
    intervalTicks: T,
    fitTicks: burst * T,
    overdraftTicks: overdraftTokens * T,
    reportTicks: 0,
    settleTicks: SETTLE,
  };

  test('is denied only after its TAT was the same for long enough, and then for as long as the tokens take', () => {
    const synced = syncedBucket(slow, { levelTicks: burst * T });
    const { bucket, nowTicks } = synced;
    expect(bucket.look(1, nowTicks)).toBe(WAITS);
    const early = readAgain(synced, nowTicks + SETTLE - 16, burst * T - SETTLE + 16);
    expect(bucket.look(1, early)).toBe(WAITS);
    // Another process reports a token.
    const reported = readAgain(synced, early + SETTLE, (burst + 1) * T - 2 * SETTLE + 16);
    expect(bucket.look(1, reported)).toBe(WAITS);
    const settled = readAgain(synced, reported + SETTLE, (burst + 1) * T - 3 * SETTLE + 16);
    expect(bucket.look(1, settled)).toBe(DENIES);
    expect(bucket.retryTicks).toBe(2 * T - 3 * SETTLE + 16);
  });

  test('makes requests wait that would come after those that wait already', () => {
    const synced = syncedBucket(slow, { levelTicks: (burst - 1) * T });
    const { bucket, nowTicks } = synced;
    overdraw(bucket, nowTicks);
    bucket.tatTicks = bucket.viewTicks;
    bucket.waitingTokens = 1;
    expect(bucket.look(1, nowTicks)).toBe(WAITS);
    bucket.steadySinceTicks = nowTicks - SETTLE;
    // Until what this process has let through is counted.
    expect(bucket.look(1, nowTicks)).toBe(WAITS);
  });

  test('is denied later after slow answers, because the reports of other processes are as late', () => {
    const synced = syncedBucket(slow, { levelTicks: burst * T });
    synced.stream.roundTripTicks = 2 * SETTLE;
    const early = readAgain(synced, synced.nowTicks + 3 * SETTLE - 16, burst * T - 3 * SETTLE + 16);
    synced.stream.roundTripTicks = 2 * SETTLE;
    expect(synced.bucket.look(1, early)).toBe(WAITS);
    const settled = readAgain(synced, synced.nowTicks + 4 * SETTLE, burst * T - 4 * SETTLE);
    synced.stream.roundTripTicks = 2 * SETTLE;
    expect(synced.bucket.look(1, settled)).toBe(DENIES);
  });

  test('is denied at once where requests may not wait, and adds what others may not have reported', () => {
    const { bucket, nowTicks } = syncedBucket({ ...slow, waits: false }, { levelTicks: burst * T });
    expect(bucket.look(1, nowTicks)).toBe(DENIES);
    expect(bucket.retryTicks).toBe((1 + overdraftTokens) * T);
    bucket.steadySinceTicks = nowTicks - SETTLE;
    expect(bucket.look(1, nowTicks)).toBe(DENIES);
    expect(bucket.retryTicks).toBe(T);
  });

  test('lacks in a denial by Redis what the others have let through, while reports take longer than leases are useful', () => {
    const { stream, bucket } = syncedBucket(slow);
    expect(bucket.unreportedTicks).toBe(0);
    stream.roundTripTicks = leaseTicks;
    expect(bucket.unreportedTicks).toBe(overdraftTokens * T);
  });

  test('reports what it let through within that time, however large its overdraft is', () => {
    const numbers = { ...slow, overdraftTokens: 100, overdraftTicks: 100 * T };
    const { stream, bucket, nowTicks } = syncedBucket(numbers, { levelTicks: (burst - 100) * T });
    bucket.look(1, nowTicks);
    bucket.spend(1, nowTicks);
    const { call, atTicks } = nextCall(stream);
    expect(call.entries.at(0)).toMatchObject({ chargeTicks: T });
    expect(atTicks - nowTicks).toBeLessThanOrEqual(SETTLE);
  });

  test('far from its limit is reported as late as others', () => {
    const { stream, bucket, nowTicks } = syncedBucket(slow, { levelTicks: (burst / 2) * T });
    bucket.look(1, nowTicks);
    bucket.spend(1, nowTicks);
    expect(stream.nextTicks - nowTicks).toBeGreaterThan(2 * SETTLE);
  });

  test('is reported soon as soon as the overdrafts of all could use it up', () => {
    // Those of two processes, and four tokens of each.
    const leftTokens = 2 * (overdraftTokens + 4);
    for (const [tokens, isSoon] of [
      [0, false],
      [1, true],
    ] as const) {
      const { stream, bucket, nowTicks } = syncedBucket(slow, { levelTicks: (burst - leftTokens - 1 + tokens) * T });
      bucket.look(1, nowTicks);
      bucket.spend(1, nowTicks);
      expect(stream.nextTicks - nowTicks <= SETTLE).toBe(isSoon);
    }
  });
});

describe('a bucket of which other processes can let much through before they report it', () => {
  const SETTLE = 10 * TICKS_PER_MS;
  const REPORT = 200 * TICKS_PER_MS;
  const large = { overdraftTokens: 50, overdraftTicks: 50 * TOKEN, reportTicks: REPORT, settleTicks: SETTLE };

  function spend({ bucket, nowTicks }: ReturnType<typeof syncedBucket>, tokens: number): void {
    for (let i = 0; i < tokens; i++) {
      expect(bucket.look(1, nowTicks)).toBe(FITS);
      bucket.spend(1, nowTicks);
    }
  }

  test('is reported as soon as it has let through more than its part of what a denial adds to its wait', () => {
    const synced = syncedBucket(large, { levelTicks: (burst - 100) * TOKEN });
    // There is one other process.
    spend(synced, REPORT / TOKEN);
    const usualTicks = synced.stream.nextTicks;
    expect(usualTicks - synced.nowTicks).toBeGreaterThan(2 * SETTLE);
    spend(synced, 1);
    expect(synced.stream.nextTicks - synced.nowTicks).toBeLessThanOrEqual(SETTLE);
    const { call } = nextCall(synced.stream);
    expect(call.entries.at(0)).toMatchObject({ chargeTicks: REPORT + TOKEN });
    // Its demand is counted since the same moment as before.
    const { dueTicks, dueGapTicks } = synced.bucket;
    expect(dueTicks - dueGapTicks).toBe(usualTicks - SYNC);
  });

  test('is denied only after it was not used much for long enough, and adds what others may not have reported', () => {
    const synced = syncedBucket(large, { levelTicks: burst * TOKEN });
    const { bucket, nowTicks } = synced;
    expect(bucket.look(1, nowTicks)).toBe(WAITS);
    // Others report more than a denial adds.
    const reported = readAgain(synced, nowTicks + SETTLE, burst * TOKEN + REPORT - SETTLE + 16);
    expect(bucket.look(1, reported)).toBe(WAITS);
    const more = readAgain(synced, reported + SETTLE / 2, burst * TOKEN + 1.5 * REPORT);
    expect(bucket.look(1, more)).toBe(WAITS);
    const settled = readAgain(synced, reported + SETTLE, burst * TOKEN + 1.5 * REPORT - SETTLE / 2);
    expect(bucket.look(1, settled)).toBe(DENIES);
    expect(bucket.retryTicks).toBe(TOKEN + 2.5 * REPORT - SETTLE / 2);
  });

  test('is not denied while it has let through more itself than its part of what a denial adds', () => {
    const synced = syncedBucket(large, { levelTicks: (burst - 21) * TOKEN });
    synced.bucket.steadySinceTicks = -Infinity;
    spend(synced, 20);
    expect(synced.bucket.look(2, synced.nowTicks)).toBe(DENIES);
    spend(synced, 1);
    expect(synced.bucket.look(2, synced.nowTicks)).toBe(WAITS);
  });

  test('is not settled by many small steps within that time', () => {
    const synced = syncedBucket(large, { levelTicks: burst * TOKEN });
    const step = 0.6 * REPORT;
    const first = readAgain(synced, synced.nowTicks + SETTLE / 2, burst * TOKEN + step);
    const second = readAgain(synced, first + SETTLE / 2, burst * TOKEN + 2 * step);
    expect(synced.bucket.look(1, second)).toBe(WAITS);
  });

  test('is denied at once while it is used at its rate', () => {
    const synced = syncedBucket(large, { levelTicks: burst * TOKEN });
    let { nowTicks } = synced;
    for (let i = 1; i < 100; i++) {
      nowTicks = readAgain(synced, nowTicks + SETTLE, burst * TOKEN);
      expect(synced.bucket.look(1, nowTicks)).toBe(DENIES);
      expect(synced.bucket.retryTicks).toBe(TOKEN + REPORT);
    }
  });
});

describe('a bucket that is leased', () => {
  test('lets through its overdraft without a lease, and nothing more before Redis has counted it', () => {
    const { stream, bucket, nowTicks } = syncedBucket({ waits: false });
    for (let i = 0; i < overdraftTokens; i++) {
      expect(bucket.look(1, nowTicks)).toBe(FITS);
      bucket.spend(1, nowTicks);
    }
    expect(bucket.look(1, nowTicks)).toBe(DENIES);
    const { call, atTicks } = nextCall(stream);
    expect(call.entries.at(0)).toMatchObject({ chargeTicks: overdraftTokens * TOKEN });
    // On its way, it still counts.
    expect(bucket.look(1, atTicks)).toBe(DENIES);
    answer(stream, call, atTicks, { levelTicks: overdraftTokens * TOKEN });
    expect(bucket.look(1, atTicks)).toBe(FITS);
  });

  test('leaves costs above half of its overdraft to Redis, unless leases pay for them', () => {
    const { stream, bucket, nowTicks } = syncedBucket();
    expect(bucket.look(3, nowTicks)).toBe(FITS);
    expect(bucket.look(4, nowTicks)).toBe(EXACT);
    const now = leased(stream, bucket, 10, nowTicks);
    expect(bucket.look(10, now)).toBe(FITS);
    expect(bucket.look(11, now)).toBe(EXACT);
  });

  test('leaves no cost to Redis that its view denies', () => {
    const { bucket, nowTicks } = syncedBucket({}, { levelTicks: (burst - 10) * TOKEN });
    expect(bucket.look(10, nowTicks)).toBe(EXACT);
    expect(bucket.look(11, nowTicks)).toBe(DENIES);
  });

  test('leaves costs of one token to its overdraft, however small that is', () => {
    const { bucket, nowTicks } = syncedBucket({ overdraftTokens: 1, overdraftTicks: TOKEN });
    expect(bucket.look(1, nowTicks)).toBe(FITS);
  });

  test('leaves all that its overdraft does not pay to Redis while calls take longer than leases are useful', () => {
    const { stream, bucket, nowTicks } = syncedBucket();
    const tooLong = leaseTicks - TERMS.dueTicks + 1;
    let now = nowTicks;
    for (const _ of [1, 2]) {
      bucket.touch(now);
      const { call, atTicks } = nextCall(stream);
      now = atTicks + tooLong;
      answer(stream, call, now);
    }
    expect(bucket.look(1, now)).toBe(FITS);
    overdraw(bucket, now);
    expect(bucket.look(1, now)).toBe(EXACT);
    expect(bucket.look(1, now + 2 * SYNC)).toBe(EXACT);
  });

  test('reports an overdraft as the level that it leaves in a full bucket, at the time of sending', () => {
    const { stream, bucket, nowTicks } = syncedBucket();
    bucket.look(2, nowTicks);
    bucket.spend(2, nowTicks);
    const { call, atTicks } = nextCall(stream);
    expect(call.entries.at(0)).toMatchObject({
      chargeTicks: 2 * TOKEN,
      ownLevelTicks: 2 * TOKEN - (atTicks - nowTicks),
    });
  });

  test('spends leases before the overdraft', () => {
    const { stream, bucket, nowTicks } = syncedBucket();
    const now = leased(stream, bucket, 10, nowTicks);
    expect(bucket.look(10, now)).toBe(FITS);
    expect(bucket.spend(10, now).overdraftTicks).toBe(0);
    expect(bucket.uncharged.isEmpty).toBe(true);
    expect(bucket.look(1, now)).toBe(FITS);
    expect(bucket.spend(1, now).overdraftTicks).toBe(TOKEN);
  });

  test('spends a lease from its answer until its life after the sending is over, and not at that moment', () => {
    const { stream, bucket, nowTicks } = syncedBucket();
    const now = leased(stream, bucket, 50, nowTicks);
    expect(bucket.look(50, now + leaseTicks - 1)).toBe(FITS);
    expect(bucket.look(50, now + leaseTicks)).not.toBe(FITS);
  });

  test('denies what does not fit its view, until the moment at which it fits', () => {
    const { bucket, nowTicks } = syncedBucket({}, { levelTicks: burst * TOKEN });
    expect(bucket.look(1, nowTicks)).toBe(DENIES);
    expect(bucket.look(1, nowTicks + TOKEN - 1)).toBe(DENIES);
    expect(bucket.look(1, nowTicks + TOKEN)).toBe(FITS);
  });

  test('asks to wait for the tokens, and for the syncs by which other processes report what they took', () => {
    const { bucket, nowTicks } = syncedBucket({}, { levelTicks: burst * TOKEN });
    bucket.look(1, nowTicks);
    expect(bucket.retryTicks).toBe(TOKEN + SYNC);
  });

  test('asks to wait for the tokens alone if there is no other process', () => {
    const { bucket, nowTicks } = syncedBucket({ gateways: 1, reportTicks: 0 }, { levelTicks: (burst + 9) * TOKEN });
    bucket.look(1, nowTicks);
    expect(bucket.retryTicks).toBe(10 * TOKEN);
  });

  test('asks to wait for those that wait already, too', () => {
    const { bucket, nowTicks } = syncedBucket({}, { levelTicks: (burst - 1) * TOKEN });
    overdraw(bucket, nowTicks);
    bucket.tatTicks = bucket.viewTicks;
    bucket.waitingTokens = 3;
    expect(bucket.look(1, nowTicks)).toBe(DENIES);
    expect(bucket.retryTicks).toBe(3 * TOKEN + SYNC);
  });

  test.each([
    { waits: true, look: WAITS },
    { waits: false, look: DENIES },
  ])('does not deny for long by a view older than two syncs, if requests may wait: $waits', ({ waits, look }) => {
    const { bucket, nowTicks } = syncedBucket({ waits }, { levelTicks: 2 * burst * TOKEN });
    expect(bucket.look(1, nowTicks + 2 * TERMS.dueTicks)).toBe(DENIES);
    expect(bucket.look(1, nowTicks + 2 * TERMS.dueTicks + 1)).toBe(look);
  });

  test('spends its overdraft on what refills in a bucket that is used up', () => {
    const { bucket, nowTicks } = syncedBucket({}, { levelTicks: burst * TOKEN });
    for (let i = 1; i <= 2; i++) {
      expect(bucket.look(1, nowTicks + i * TOKEN - 1)).toBe(DENIES);
      expect(bucket.look(1, nowTicks + i * TOKEN)).toBe(FITS);
      bucket.spend(1, nowTicks + i * TOKEN);
    }
    bucket.uncharged.sentChargeTicks = (overdraftTokens - 2) * TOKEN;
    expect(bucket.look(1, nowTicks + 3 * TOKEN)).toBe(WAITS);
  });

  test('lets a request wait only while the tokens that are waited for would fit', () => {
    const { bucket, nowTicks } = syncedBucket({}, { levelTicks: (burst - overdraftTokens - 12) * TOKEN });
    overdraw(bucket, nowTicks);
    bucket.waitingTokens = 10;
    expect(bucket.look(2, nowTicks)).toBe(WAITS);
    expect(bucket.look(3, nowTicks)).toBe(DENIES);
  });

  test('takes a charge whether it fits or not, up to an empty bucket', () => {
    const { stream, bucket, nowTicks } = syncedBucket();
    bucket.charge(10 * burst, nowTicks);
    expect(bucket.levelTicks(nowTicks)).toBe(burst * TOKEN);
    expect(bucket.charge(1, nowTicks).overdraftTicks).toBe(0);
    expect(nextCall(stream).call.entries.at(0)).toMatchObject({ chargeTicks: burst * TOKEN });
  });

  test('keeps counting what it let through when its numbers change, and returns its leases', () => {
    const { stream, bucket, nowTicks } = syncedBucket();
    const now = leased(stream, bucket, 50, nowTicks);
    bucket.charge(2, now);
    bucket.setTerms({ ...TERMS, intervalTicks: 2 * TOKEN }, now);
    expect(bucket.leases.tokens).toBe(0);
    expect(bucket.leases.hasLapsed).toBe(true);
    expect(bucket.uncharged.chargeTicks).toBe(2 * TOKEN);
    expect(nextCall(stream).call.entries.at(0)).toMatchObject({ chargeTicks: 2 * TOKEN, intervalTicks: 2 * TOKEN });
  });

  test('does not spend a lease that was asked for with other numbers', () => {
    const { stream, bucket, nowTicks } = syncedBucket();
    bucket.waitingTokens = 50;
    stream.requestEarly(bucket, nowTicks);
    const { call, atTicks } = nextCall(stream);
    bucket.setTerms({ ...TERMS, intervalTicks: 2 * TOKEN }, atTicks);
    answer(stream, call, atTicks, { grantedTokens: 50 });
    expect(bucket.leases.tokens).toBe(0);
    expect(bucket.leases.hasLapsed).toBe(true);
  });

  test('adds to its view what it let through while the sync was in flight', () => {
    const { stream, bucket, nowTicks } = syncedBucket();
    bucket.charge(1, nowTicks);
    const { call, atTicks } = nextCall(stream);
    bucket.charge(3, atTicks);
    answer(stream, call, atTicks, { levelTicks: 10 * TOKEN });
    expect(bucket.levelTicks(atTicks)).toBe(13 * TOKEN);
  });

  test('has at most four leases: older ones are merged, and lapse with the first of them', () => {
    const { stream, bucket, nowTicks } = syncedBucket();
    const first = leased(stream, bucket, 10, nowTicks);
    let now = first;
    for (let i = 0; i < 4; i++) now = leased(stream, bucket, 10, now);
    expect(bucket.leases.tokens).toBe(50);
    expect(bucket.look(50, first + leaseTicks - 1)).toBe(FITS);
    bucket.look(50, first + leaseTicks);
    expect(bucket.leases.tokens).toBe(30);
  });

  test('forgets everything when the process resets it, and reads it again', () => {
    const { stream, bucket, nowTicks } = syncedBucket({}, { levelTicks: burst * TOKEN });
    const now = leased(stream, bucket, 20, nowTicks);
    bucket.charge(1, now);
    bucket.reset(now, now);
    expect(bucket.leases.isEmpty).toBe(true);
    const { call, atTicks } = nextCall(stream);
    expect(call.entries.at(0)).toMatchObject({ chargeTicks: 0, floorTicks: 0, returnTicks: 0 });
    answer(stream, call, atTicks);
    expect(bucket.look(1, atTicks)).toBe(FITS);
  });
});

test('keeps leases that were asked for after the reset was sent, when the reset is answered', () => {
  const { stream, bucket, nowTicks } = syncedBucket();
  const before = leased(stream, bucket, 20, nowTicks);
  const after = leased(stream, bucket, 30, before + 1);
  bucket.reset(after, before);
  expect(bucket.leases.tokens).toBe(30);
  expect(bucket.look(30, after)).toBe(FITS);
});

describe('a refund', () => {
  test('of leased tokens returns them to their lease', () => {
    const { stream, bucket, nowTicks } = syncedBucket();
    const now = leased(stream, bucket, 10, nowTicks);
    bucket.look(7, now);
    const spent = bucket.spend(7, now);
    bucket.refund(spent, now);
    expect(bucket.leases.tokens).toBe(10);
    expect(bucket.uncharged.returnTicks).toBe(0);
  });

  test('returns tokens to all leases that a decision used', () => {
    const { stream, bucket, nowTicks } = syncedBucket();
    leased(stream, bucket, 3, nowTicks);
    leased(stream, bucket, 4, nowTicks);
    const now = leased(stream, bucket, 5, nowTicks);
    bucket.look(10, now);
    const spent = bucket.spend(10, now);
    expect(bucket.leases.tokens).toBe(2);
    bucket.refund(spent, now);
    expect(bucket.leases.tokens).toBe(12);
    bucket.look(12, now);
    expect(bucket.spend(12, now).overdraftTicks).toBe(0);
  });

  test('of leased tokens is lost when their lease has lapsed', () => {
    const { stream, bucket, nowTicks } = syncedBucket();
    const now = leased(stream, bucket, 10, nowTicks);
    bucket.look(10, now);
    const spent = bucket.spend(10, now);
    bucket.refund(spent, now + leaseTicks);
    expect(bucket.leases.tokens).toBe(0);
    expect(bucket.leases.hasLapsed).toBe(false);
  });

  test('of an overdraft gives back at most what has not refilled by itself', () => {
    const { stream, bucket, nowTicks } = syncedBucket();
    bucket.look(3, nowTicks);
    const spent = bucket.spend(3, nowTicks);
    bucket.refund(spent, nowTicks + TOKEN);
    expect(bucket.uncharged.returnTicks).toBe(2 * TOKEN);
    bucket.refund(spent, nowTicks + 3 * TOKEN);
    expect(bucket.uncharged.returnTicks).toBe(2 * TOKEN);
    expect(nextCall(stream).call.entries.at(0)).toMatchObject({ returnTicks: 2 * TOKEN });
  });

  test('of a bucket that the process has forgotten changes nothing', () => {
    const stream = makeStream();
    const bucket = addBucket(stream);
    bucket.look(3, 0);
    const spent = bucket.spend(3, 0);
    bucket.isDropped = true;
    bucket.refund(spent, 1);
    expect(bucket.uncharged.returnTicks).toBe(0);
  });
});

/** A stream that has failed three times. */
function cutOff(onFailure: 'closed' | 'local' | 'open', spentTokens = 0) {
  const state = syncedBucket({ onFailure });
  const { stream, bucket } = state;
  bucket.look(spentTokens, state.nowTicks);
  bucket.spend(spentTokens, state.nowTicks);
  bucket.touch(state.nowTicks);
  let nowTicks = state.nowTicks;
  for (let i = 0; i < 3; i++) {
    const { call, atTicks } = nextCall(stream);
    nowTicks = atTicks + 50 * TICKS_PER_MS;
    stream.failed(call, nowTicks);
  }
  return { stream, bucket, nowTicks };
}

describe('while Redis does not answer', () => {
  test('a closed limit can spend its leases and nothing else', () => {
    const { bucket, nowTicks } = cutOff('closed');
    expect(bucket.look(0, nowTicks)).toBe(FITS);
    expect(bucket.look(1, nowTicks)).toBe(UNAVAILABLE);
  });

  test('an open limit lets everything through and counts nothing', () => {
    const { bucket, nowTicks } = cutOff('open');
    expect(bucket.look(burst, nowTicks)).toBe(FITS);
    bucket.spend(burst, nowTicks);
    expect(bucket.uncharged.isEmpty).toBe(true);
  });

  test('a local limit lets its overdraft through, and then its share of the rate', () => {
    const { bucket, nowTicks } = cutOff('local');
    let now = nowTicks;
    expect(bucket.look(overdraftTokens, now)).toBe(FITS);
    bucket.spend(overdraftTokens, now);
    expect(bucket.look(1, now)).toBe(DENIES);
    expect(bucket.retryTicks).toBe(2 * TOKEN);
    now += 2 * TOKEN;
    expect(bucket.look(1, now - 1)).toBe(DENIES);
    expect(bucket.look(1, now)).toBe(FITS);
  });

  test('a local limit whose overdraft is spent lets its share of the rate through from the beginning of the outage', () => {
    const { bucket, nowTicks } = cutOff('local', overdraftTokens);
    expect(bucket.look(1, nowTicks + 2 * TOKEN - 1)).toBe(DENIES);
    expect(bucket.look(1, nowTicks + 2 * TOKEN)).toBe(FITS);
  });

  test('a local limit whose bucket was above its burst has spent as much of its overdraft, however its view refills', () => {
    const gateways = 10;
    const level = (burst + overdraftTokens) * TOKEN;
    const { bucket, nowTicks } = syncedBucket({ onFailure: 'local', gateways }, { levelTicks: level });
    const later = nowTicks + 2 * overdraftTokens * TOKEN;
    expect(bucket.waitByView(overdraftTokens, later)).toBe(0);
    bucket.beginOutage(nowTicks, later);
    // The other nine have used their shares of the rate: its own has brought back 1.4 tokens.
    expect(bucket.look(1, later)).toBe(FITS);
    expect(bucket.look(2, later)).toBe(DENIES);
    expect(bucket.retryTicks).toBe(2 * gateways * TOKEN - 2 * overdraftTokens * TOKEN);
  });

  test('a local limit still denies what its view denies', () => {
    const { bucket, nowTicks } = cutOff('local');
    bucket.tatTicks = nowTicks + burst * TOKEN;
    expect(bucket.look(1, nowTicks)).toBe(DENIES);
  });

  test('what a local limit let through is charged after the first answer, and nothing is leased for two syncs', () => {
    const { stream, bucket, nowTicks } = cutOff('local');
    const spentTicks = nowTicks + 90 * TICKS_PER_MS;
    bucket.look(overdraftTokens, spentTicks);
    bucket.spend(overdraftTokens, spentTicks);
    const trial = nextCall(stream);
    answer(stream, trial.call, trial.atTicks);
    // Its share of the rate has refilled a part since.
    const refilled = Math.floor((trial.atTicks - spentTicks) / 2);
    expect(refilled).toBeLessThan(TOKEN);
    const { call, atTicks } = nextCall(stream);
    const chargeTicks = overdraftTokens * TOKEN - refilled;
    expect(call.entries.at(0)).toMatchObject({ chargeTicks, ownLevelTicks: chargeTicks - (atTicks - trial.atTicks) });
    answer(stream, call, atTicks);

    bucket.askedTokens = 100;
    bucket.touch(atTicks);
    const calm = nextCall(stream);
    expect(calm.call.entries.at(0)!.wantedTokens).toBe(0);
    answer(stream, calm.call, calm.atTicks);
    bucket.askedTokens = 100;
    bucket.touch(trial.atTicks + 2 * SYNC);
    expect(stream.nextCall(trial.atTicks + 3 * SYNC)!.entries.at(0)!.wantedTokens).toBeGreaterThan(0);
  });
});

test.each([
  { limit: '100 a second, 4 processes', burst: 200, perSecond: 100, gateways: 4 },
  { limit: '100 a second, 16 processes', burst: 200, perSecond: 100, gateways: 16 },
  { limit: '300 in 3 hours', burst: 300, perSecond: 300 / 10_800, gateways: 4 },
  { limit: '1,000 a second', burst: 1000, perSecond: 1000, gateways: 16 },
  { limit: '80,000 a second', burst: 40_000, perSecond: 80_000, gateways: 64 },
])('$limit: leases last until syncs take as long as docs/leases.md says', ({ burst: most, perSecond, gateways }) => {
  const page = readFileSync(new URL('../../../../../docs/leases.md', import.meta.url), 'utf8');
  const said = /less\s+than\s+(\d+)\s+%\s+of\s+the\s+life\s+of\s+a\s+lease:\s+(\d+)\s+ms\s+of\s+(\d+)\s+ms/.exec(page)!;
  const [percent = 0, longestMs = 0, lifeMs = 0] = said.slice(1).map(Number);
  const intervalTicks = Math.floor((1000 * TICKS_PER_MS) / perSecond);
  const demand = { burst: most, intervalTicks, overshoot: 0.1, gateways, syncTicks: SYNC };
  const numbers = leaseNumbers(demand) as LeaseNumbers;
  const { stream, bucket } = syncedBucket(numbers);
  const isTooSlow = (ticks: number): boolean => ((stream.roundTripTicks = ticks), bucket.isTooSlow);
  expect(numbers.leaseTicks).toBeLessThanOrEqual(lifeMs * TICKS_PER_MS);
  expect(isTooSlow((percent / 100) * numbers.leaseTicks)).toBe(false);
  expect(isTooSlow(((percent + 1) / 100) * numbers.leaseTicks)).toBe(true);
  if (numbers.leaseTicks !== lifeMs * TICKS_PER_MS) return;
  expect(isTooSlow(longestMs * TICKS_PER_MS)).toBe(false);
  expect(isTooSlow((longestMs + 1) * TICKS_PER_MS)).toBe(true);
});
