import { all, any, implies, not } from '../engine/logic.ts';
import { BURST, EXACT, INTERVAL, LEVEL, TIME, TOKENS } from '../engine/ranges.ts';
import type { Part, Scenario } from '../engine/theorem.ts';
import {
  DENIES,
  FITS,
  LEFT_TO_REDIS,
  WAITS,
  BucketLeases,
  isLeased,
  Lease,
  leasedBucket,
  leaseNumbers,
  Spent,
  SyncedRedis,
  Uncharged,
  type LeaseTerms,
} from '../subjects/leases.ts';
import { wholeShareOf } from '../subjects/rule.ts';

const RULES = 'packages/redis/src/leases/rules/';
const SYNC = ['packages/redis/lua/sync.lua', 'packages/redis/src/leases/sync-script.ts'];
/** Up to nine years, so that no sum exceeds 2^53. */
const HALF = { min: 0, max: 2 ** 51 };
const QUARTER = { min: 0, max: 2 ** 50 };
/** In which products are sums. */
const INTERVALS = [1, 16_000, 2_285_714] as const;
/** 11.25 ms. */
const SHORTEST_LEASE = 180_000;
const SMALL = { min: 1, max: 1_000_000 };
const MICROS = { min: 1, max: 2 ** 51 / 16 };
/** More than a minute after 2026: a TAT of a minute ago is not negative. */
const NOW = { min: 61_000_000, max: 2 ** 51 / 16 };

/** A Redis at some moment, with a bucket whose level is not known. */
function redisWith(t: Scenario): { readonly redis: SyncedRedis; readonly level: number } {
  const redis = new SyncedRedis();
  redis.setTime(t.int('now in µs', NOW));
  const level = t.int('level of the bucket in ticks', { min: -16_000_000, max: HALF.max });
  redis.put(redis.nowTicks + level, Math.max(level, 1));
  return { redis, level };
}

const NOTHING = {
  chargeTicks: 0,
  ownLevelTicks: undefined,
  returnTicks: 0,
  wantedTokens: 0,
  floorTicks: 0,
  lost: false,
};

/** What processes with leases do, and what Redis does for them. */
export const leases: Part = {
  title: 'Leases',
  about: 'Limits with an `overshoot`: processes decide by leases and overdrafts, and sync with Redis by sync.lua.',
  theorems: [
    {
      name: 'deferred-charge',
      words:
        'What a process lets through beyond its leases, and charges later in one sync, leaves the shared bucket as if each had been charged at once. If the sync arrives later, it is never fuller than that.',
      formula: 'TAT after = max(TAT + Σ increments, own TAT)',
      sources: [`${RULES}uncharged.ts`, ...SYNC],
      assumes: [
        'The first of two decisions is at most a second before the sync is sent, which arrives within another second; and the cap is not reached.',
      ],
      run(t) {
        const redis = new SyncedRedis();
        const sent = 16 * t.int('sending in µs', MICROS);
        const delay = t.int('delay of the sync in µs', { min: 0, max: 1_000_000 });
        redis.setTime(sent / 16 + delay);
        const level = t.int('level of the bucket in ticks', { min: -16_000_000, max: 2 ** 50 });
        const before = redis.nowTicks + level;
        redis.put(before, Math.max(level, 1));
        const [first, second] = [t.int('first decision', TIME), t.int('second decision', TIME)];
        const [one, two] = [t.int('increment of the first', QUARTER), t.int('increment of the second', QUARTER)];
        t.assume(all(first <= second, second <= sent, one > 0, two > 0, sent - first <= 16_000_000));
        const uncharged = new Uncharged();
        uncharged.add(one, first);
        uncharged.add(two, second);
        uncharged.send();
        const call = { sequence: 1, answeredSequence: 0, latestTicks: EXACT };
        redis.sync(call, {
          ...NOTHING,
          chargeTicks: uncharged.sentChargeTicks,
          ownLevelTicks: uncharged.sentOwnTatTicks - sent,
          intervalTicks: 3,
          fitTicks: EXACT / 2,
          capTicks: EXACT / 2,
        });
        const atOnce = Math.max(Math.max(before, first) + one, second) + two;
        t.tell('TAT if charged at once', atOnce);
        t.tell('TAT after the sync', redis.tat);
        t.claim('at least as charged at once', redis.tat! >= atOnce);
        t.claim('the same without a delay', implies(delay === 0, redis.tat === atOnce));
      },
    },
    {
      name: 'grant-within-limit',
      words:
        'Redis leases at most the tokens that are wanted, and only as many as fit into the bucket. It charges each of them.',
      formula: 'level before + granted × T ≤ τ',
      sources: SYNC,
      run(t) {
        const { redis, level } = redisWith(t);
        const intervalTicks = t.int('T in ticks', { min: 1, max: HALF.max });
        const fitTicks = t.int('τ in ticks', HALF);
        const wantedTokens = t.int('wanted tokens', { min: 1, max: TOKENS.max });
        const call = { sequence: 2, answeredSequence: 1, latestTicks: t.int('latest moment for leases', TIME) };
        redis.remember(1);
        const entry = { ...NOTHING, intervalTicks, fitTicks, capTicks: EXACT / 2, wantedTokens };
        const { buckets } = redis.sync(call, entry);
        const granted = buckets[0]!.grantedTokens;
        t.tell('granted tokens', granted);
        t.claim('at most what is wanted', all(granted >= 0, granted <= wantedTokens));
        t.claim('they fit', any(granted === 0, Math.max(level, 0) + granted * intervalTicks <= fitTicks));
        t.claim(
          'they are charged',
          any(granted === 0, redis.tat === redis.nowTicks + Math.max(level, 0) + granted * intervalTicks),
        );
        t.claim('none after the latest moment', any(granted === 0, redis.nowTicks <= call.latestTicks));
        t.claim(
          'as many as fit',
          any(
            redis.nowTicks > call.latestTicks,
            granted === wantedTokens,
            Math.max(level, 0) + (granted + 1) * intervalTicks > fitTicks,
          ),
        );
      },
    },
    {
      name: 'sync-repeated',
      words: 'A sync that comes twice changes nothing the second time, and leases nothing.',
      sources: SYNC,
      run(t) {
        const { redis, level } = redisWith(t);
        redis.remember(5);
        const call = {
          sequence: 5,
          answeredSequence: t.int('last answered sync', { min: 0, max: 5 }),
          latestTicks: EXACT,
        };
        const chargeTicks = t.int('charge', { min: 1, max: HALF.max });
        const { fresh, buckets } = redis.sync(call, {
          ...NOTHING,
          chargeTicks,
          ownLevelTicks: t.int('own level', HALF),
          returnTicks: t.int('given back', HALF),
          wantedTokens: t.int('wanted tokens', TOKENS),
          intervalTicks: t.int('T in ticks', INTERVAL),
          fitTicks: HALF.max,
          capTicks: EXACT / 2,
        });
        t.claim('it is not new', !fresh);
        t.claim('the bucket is as before', redis.tat === redis.nowTicks + level);
        t.claim('nothing is leased', buckets[0]!.grantedTokens === 0);
      },
    },
    {
      name: 'floor-after-loss',
      words:
        'If Redis has lost data, the TATs of the last replies count again, up to the cap. Without a loss they change nothing, so that a reset stays a reset, and then nothing is given back.',
      sources: SYNC,
      assumes: ['The level is not above the cap: one above it may be an error of the clock, and is repaired.'],
      run(t) {
        const { redis, level } = redisWith(t);
        const remembered = t.int('last sync that Redis knows', { min: 1, max: 9 });
        redis.remember(remembered);
        const capTicks = t.int('cap', HALF);
        const floorTicks = t.int('TAT of the last reply', { min: 1, max: HALF.max });
        const returnTicks = t.int('given back', HALF);
        const { lost, buckets } = redis.sync(
          { sequence: 10, answeredSequence: 5, latestTicks: EXACT },
          { ...NOTHING, intervalTicks: 3, fitTicks: HALF.max, capTicks, floorTicks, returnTicks },
        );
        const floor = floorTicks - redis.nowTicks;
        const after = redis.tat! - redis.nowTicks;
        // A bucket above its cap may be repaired: the level that was written, rounded up, is never below it here.
        t.assume(level <= capTicks);
        t.tell('level after it', after);
        t.claim('a loss is noticed', lost === remembered < 5);
        t.claim('what was lost is back', implies(all(lost, returnTicks === 0, floor <= capTicks), after >= floor));
        t.claim('never above both', after <= Math.max(level, floor));
        t.claim(
          'a reset stays',
          implies(all(!lost, floor > 0, level < floor), all(after === level, !buckets[0]!.keptFloor)),
        );
        t.claim('gives back at most what is said', implies(level > 0, after >= Math.max(0, level - returnTicks)));
      },
    },
    {
      name: 'charge-within-cap',
      words:
        'A sync never lowers a level but by what is given back, and raises it at most to the cap. The key lives until its TAT.',
      sources: SYNC,
      assumes: ['The level is not above the cap before it.'],
      run(t) {
        const { redis, level } = redisWith(t);
        redis.remember(1);
        const capTicks = t.int('cap', HALF);
        const chargeTicks = t.int('charge', { min: 1, max: HALF.max });
        const ownLevelTicks = t.int('own level', HALF);
        const returnTicks = t.int('given back', HALF);
        t.assume(level <= capTicks);
        const call = { sequence: 2, answeredSequence: 1, latestTicks: t.int('latest moment for returns', TIME) };
        redis.sync(call, {
          ...NOTHING,
          chargeTicks,
          ownLevelTicks,
          returnTicks,
          intervalTicks: 3,
          fitTicks: HALF.max,
          capTicks,
        });
        const after = redis.tat! - redis.nowTicks;
        t.tell('level after it', after);
        t.claim('at most the cap', after <= capTicks);
        t.claim('counted', any(after >= level + chargeTicks - returnTicks, after >= capTicks - returnTicks));
        t.claim(
          'no return after the latest moment',
          implies(redis.nowTicks > call.latestTicks, any(after >= level + chargeTicks, after === capTicks)),
        );
        if (redis.lifeMs !== undefined) t.claim('the key lives', redis.lifeMs * 16_000 >= after);
      },
    },
    {
      name: 'sync-written-level',
      words:
        'What sync.lua writes of the level of a bucket is never below it. So the bucket keeps its debt when the clock of Redis steps back.',
      sources: SYNC,
      assumes: ['The level is at most 203 days.'],
      run(t) {
        const redis = new SyncedRedis();
        const [now, earlier] = [t.int('time of the charge in µs', NOW), t.int('time after the step in µs', NOW)];
        t.assume(earlier < now);
        const level = t.int('level in ticks', { min: 2, max: 2 ** 48 });
        const sync = (sequence: number, chargeTicks: number, capTicks: number): void => {
          const call = { sequence, answeredSequence: sequence - 1, latestTicks: EXACT };
          redis.sync(call, { ...NOTHING, chargeTicks, intervalTicks: 3, fitTicks: HALF.max, capTicks });
        };
        redis.setTime(now);
        redis.put(redis.nowTicks, 1);
        sync(1, level, HALF.max);
        redis.setTime(earlier);
        sync(2, 0, 1);
        const seen = redis.tat! - redis.nowTicks;
        t.tell('level after the step', seen);
        t.claim('no token is granted', seen >= level);
        t.claim('a sixteenth is taken at most', 16 * seen <= 17 * level);
      },
    },
    {
      name: 'overdraft',
      words:
        'Beyond its leases, a process never has more than its overdraft let through uncharged, and nothing that its view of the bucket denies. What its leases pay passes, and so does a small cost that its view and its overdraft allow. The wait of a denial is at least that of its view. Where others may have let much through, what the view denies waits until the view is settled; the wait of a denial that may not wait includes all of it.',
      formula: 'uncharged ≤ o × T',
      invariant: 'uncharged ≤ o × T, before and after each decision',
      sources: [`${RULES}leased-bucket.ts`, `${RULES}uncharged.ts`],
      assumes: [
        'Redis answers: outages follow the failure policy.',
        'Where denials wait for reports, they add nothing to their wait.',
        'T is 1 tick, 1 ms or 1/7 s, and at most a million tokens are in question: the code only multiplies by T.',
      ],
      run(t) {
        const { bucket, terms, now, leased } = bucketOf(t);
        const limit = terms.overdraftTicks;
        t.assume(bucket.uncharged.chargeTicks + bucket.uncharged.sentChargeTicks <= limit);
        const cost = t.int('cost', SMALL);
        const view = bucket.tatTicks;
        const isOld = now - bucket.viewAtTicks > 2 * terms.dueTicks;
        const uncharged = bucket.uncharged.chargeTicks + bucket.uncharged.sentChargeTicks;
        const isSettled = any(
          terms.settleTicks === 0,
          all(uncharged <= terms.reportTicks, bucket.viewAtTicks - bucket.steadySinceTicks >= terms.settleTicks),
        );
        const increment = (cost - leased) * terms.intervalTicks;
        const lack = Math.max(0, view - now) + increment - terms.fitTicks;
        const isPaid = cost <= leased;
        const isSmall = any(cost === 1, 2 * cost <= terms.overdraftTokens);
        const look = bucket.look(cost, now);
        t.tell('look', look);
        t.claim('leases pay', implies(isPaid, look === FITS));
        t.claim(
          'the overdraft pays a small cost that the view allows',
          implies(all(lack <= 0, isSmall, uncharged + increment <= limit), look === FITS),
        );
        t.claim(
          'nothing else passes',
          implies(not(any(isPaid, all(lack <= 0, uncharged + increment <= limit))), look !== FITS),
        );
        if (look === DENIES) {
          t.claim('a denial has a wait that is enough', all(bucket.retryTicks > 0, bucket.retryTicks >= lack));
          t.claim('denied by the view or after the overdraft', any(lack > 0, uncharged + increment > limit));
          t.claim('denied by a settled view', implies(all(terms.waits, lack > 0), all(not(isOld), isSettled)));
          t.claim(
            'an unsettled view adds the overdraft of the other process',
            implies(not(isSettled), bucket.retryTicks >= lack + limit),
          );
        }
        if (look === LEFT_TO_REDIS) t.claim('only a large cost is left to Redis', not(isSmall));
        if (look === WAITS)
          t.claim(
            'waits for a sync if it may',
            all(terms.waits, any(isOld, not(isSettled), uncharged + increment > limit)),
          );
        if (look !== FITS) return;
        bucket.spend(cost, now);
        const beyond = Math.max(0, cost - leased);
        t.claim('within the overdraft', bucket.uncharged.chargeTicks + bucket.uncharged.sentChargeTicks <= limit);
        t.claim('leases pay first', bucket.leases.tokens === leased - (cost - beyond));
        t.claim('within the view', any(beyond === 0, bucket.tatTicks <= now + terms.fitTicks));
        t.claim(
          'all of it is counted',
          bucket.tatTicks === (beyond === 0 ? view : Math.max(view, now) + beyond * terms.intervalTicks),
        );
      },
    },
    {
      name: 'lease-tokens-once',
      words:
        'Each leased token is spent at most once, and never after its lease has lapsed. A refund gives it back only while its lease lives.',
      sources: [`${RULES}bucket-leases.ts`, `${RULES}lease.ts`],
      assumes: ['Two leases of equal life, and one decision.'],
      run(t) {
        const held = new BucketLeases();
        const [one, two] = [t.int('tokens of the older lease', TOKENS), t.int('tokens of the newer lease', TOKENS)];
        const first = t.int('sending of the older lease', HALF);
        const second = t.int('sending of the newer lease', HALF);
        const leaseTicks = t.int('life of a lease', HALF);
        t.assume(first <= second);
        const [older, newer] = [
          new Lease(one, 3, { sentTicks: first, leaseTicks }),
          new Lease(two, 3, { sentTicks: second, leaseTicks }),
        ];
        held.add(older);
        held.add(newer);
        const cost = t.int('cost', { min: 1, max: TOKENS.max });
        t.assume(cost <= held.tokens);
        const spent = new Spent();
        held.spend(cost, spent);
        t.claim('they are spent', held.tokens === one + two - cost);
        const fromFirst = Math.min(cost, one);
        t.claim('the oldest first', all(older.tokens === one - fromFirst, newer.tokens === two - (cost - fromFirst)));
        const now = t.int('time of the refund', HALF);
        held.dropLapsed(now);
        held.refund(spent);
        const live = (now < first + leaseTicks ? one : 0) + (now < second + leaseTicks ? two : 0);
        t.tell('tokens after the refund', held.tokens);
        t.claim('exactly those of leases that live', held.tokens === live);
      },
    },
    {
      name: 'lapsed-lease',
      words:
        'What is left of a lapsed lease can be given back. The bucket is then exactly as if the lease had been smaller, whatever others took meanwhile.',
      formula: 'given back ≤ sending + granted × T − latest moment',
      sources: [`${RULES}lease.ts`],
      assumes: ['The lease has at most 4,096 tokens, and one other decision is made meanwhile.'],
      run(t) {
        const intervalTicks = t.int('T in ticks', { min: 1, max: 2 ** 40 });
        const granted = t.int('granted tokens', { min: 1, max: 4096 });
        const sent = t.int('sending of the request', HALF);
        const at = t.int('grant', HALF);
        const latest = t.int('latest moment of the return', HALF);
        const now = t.int('return', HALF);
        const before = t.int('TAT before the grant', HALF);
        const other = t.int('time of another decision', HALF);
        const increment = t.int('cost × T of it', HALF);
        t.assume(all(sent <= at, at <= other, other <= now, now <= latest));
        const lease = new Lease(granted, intervalTicks, { sentTicks: sent, leaseTicks: 1000 });
        const spent = t.int('spent tokens', { min: 0, max: 4096 });
        t.assume(spent <= granted);
        lease.tokens -= spent;
        const returned = lease.returnableTicks(latest);
        const charge = granted * intervalTicks;
        t.tell('given back', returned);
        t.claim('at most what is left', all(returned >= 0, returned <= (granted - spent) * intervalTicks));
        t.assume(returned > 0);
        const whole = Math.max(Math.max(before, at) + charge, other) + increment;
        const smaller = Math.max(Math.max(before, at) + charge - returned, other) + increment;
        const after = Math.max(0, Math.max(0, whole - now) - returned);
        t.tell('level after the return', after);
        t.tell('level with a smaller lease', Math.max(0, smaller - now));
        t.claim('as if the lease had been smaller', after === Math.max(0, smaller - now));
      },
    },
    {
      name: 'lease-numbers',
      words:
        'The overdrafts of all processes and what refills during a lease are never more than `overshoot`. A limit is decided strictly only if its overshoot has less than a token for each process and a lease of 11.25 ms, or if the bucket with it would need more than ten years to fill.',
      formula: 'N × o + ⌈lease / T⌉ ≤ ⌊overshoot × burst⌋',
      sources: [`${RULES}lease-numbers.ts`],
      assumes: ['N is 2 or 16, T is 1 ms, 1/7 s or 36 s, the overshoot is 0.1 or 1; the burst is any number.'],
      run(t) {
        const burst = t.int('burst', BURST);
        const gateways = t.choice('N', [2, 16] as const);
        const intervalTicks = t.choice('T in ticks', [16_000, 2_285_714, 576_000_000] as const);
        const part = t.choice('overshoot', [1, 0.1] as const);
        t.assume(burst * intervalTicks <= LEVEL.max);
        const numbers = leaseNumbers({ burst, intervalTicks, overshoot: part, gateways, syncTicks: 3_200_000 });
        const allowed = wholeShareOf(burst, part);
        const isEnough = all(allowed >= gateways, (allowed - gateways) * intervalTicks >= SHORTEST_LEASE);
        if (!isLeased(numbers)) {
          t.claim(
            'decided strictly only if the overshoot is too small, or too large to fill in ten years',
            any(not(isEnough), (burst + allowed) * intervalTicks > LEVEL.max),
          );
          return;
        }
        t.claim('leased only if it is enough', isEnough);
        const { overdraftTokens, boundTokens, leaseTicks, capTicks, dueTicks, fitTicks } = numbers;
        const refilled = boundTokens - gateways * overdraftTokens;
        t.tell('o', overdraftTokens);
        t.tell('lease in ticks', leaseTicks);
        t.claim('the bound contains a lease', refilled * intervalTicks >= leaseTicks);
        t.claim('an overdraft of a token at least', all(overdraftTokens >= 1, overdraftTokens <= burst));
        t.claim('within the overshoot', boundTokens <= part * burst * (1 + 2 ** -51));
        t.claim('two syncs in a lease', all(dueTicks >= 1, 2 * dueTicks <= leaseTicks));
        t.claim(
          'the cap has room for all of it',
          capTicks === fitTicks + gateways * overdraftTokens * intervalTicks + leaseTicks,
        );
      },
    },
  ],
};

/** A bucket as one process sees it at some moment: any view, any leases, and anything that is not charged yet. */
function bucketOf(t: Scenario): {
  readonly bucket: ReturnType<typeof leasedBucket>;
  readonly terms: LeaseTerms;
  readonly now: number;
  readonly leased: number;
} {
  const intervalTicks = t.choice('T in ticks', INTERVALS);
  const burst = t.int('burst', SMALL);
  const overdraftTokens = t.int('o', SMALL);
  const fitTicks = burst * intervalTicks;
  t.assume(all(fitTicks <= HALF.max, overdraftTokens <= burst));
  const settleTicks = t.choice('time until a view is settled', [0, 160_000] as const);
  // Both above 0 would double the paths, for a sum and a comparison.
  const reportTicks = settleTicks === 0 ? 3_200_000 : 0;
  const numbers = { intervalTicks, burst, fitTicks, overdraftTokens, reportTicks, settleTicks };
  const terms = termsOf(numbers, t.choice('waits', [true, false]));
  const bucket = leasedBucket(terms);
  const now = t.int('now', HALF);
  bucket.tatTicks = t.int('TAT by the view', HALF);
  bucket.viewAtTicks = t.int('time of the view', HALF);
  bucket.steadySinceTicks = t.int('time since when the TAT is the same', HALF);
  bucket.uncharged.chargeTicks = t.int('uncharged', HALF);
  bucket.uncharged.sentChargeTicks = t.int('on its way', HALF);
  const leased = t.int('leased tokens', { min: 0, max: SMALL.max });
  bucket.addLease(new Lease(leased, intervalTicks, { sentTicks: now, leaseTicks: 1000 }));
  return { bucket, terms, now, leased };
}

function termsOf(
  numbers: Pick<LeaseTerms, 'intervalTicks' | 'burst' | 'fitTicks' | 'overdraftTokens' | 'reportTicks' | 'settleTicks'>,
  waits: boolean,
): LeaseTerms {
  return {
    ...numbers,
    overshoot: 1,
    gateways: 2,
    syncTicks: 3_200_000,
    overdraftTicks: numbers.overdraftTokens * numbers.intervalTicks,
    leaseTicks: 960_000,
    dueTicks: 400_000,
    boundTokens: 0,
    capTicks: EXACT / 2,
    waits,
    onFailure: 'closed',
  };
}
