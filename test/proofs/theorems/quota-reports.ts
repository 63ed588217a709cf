import { all, any } from '../engine/logic.ts';
import type { Theorem } from '../engine/theorem.ts';
import { forgetHours, HOURS } from '../subjects/limits.ts';
import { decisionFrom, DenialCache, quotaAsk, WatchedQuota } from '../subjects/quotas.ts';
import { EPOCH_MS } from '../subjects/stores.ts';

const LEFT = 'packages/core/src/decision/period-left.ts';
const NAMED = 'packages/core/src/kinds/quota/named-periods.ts';
const DECIDED = 'packages/core/src/decision/decided.ts';
const RESULTS = 'packages/core/src/decision/results.ts';
const PERIODS = 'packages/core/src/store/server-periods.ts';
const CACHE = 'packages/redis/src/batches/denial-cache.ts';
const MICROS = { min: 0, max: 999 };
const HOUR = 3_600_000;

/** What is said of a quota apart from the first answer of its store. */
export const quotaReports: readonly Theorem[] = [
  {
    name: 'quota-repeated-call',
    words:
      'The figures are those of the period in which the store counted. Its call may have been repeated, because its clock was outside of the periods of the first call.',
    sources: [LEFT, NAMED, RESULTS],
    assumes: ['The periods are hours of UTC. The count is 100 and the cost 1.'],
    run(t) {
      forgetHours();
      const now = t.int('clock of the store, in ms since 2026', { min: 0, max: 2 ** 39 });
      const hour = Math.floor(now / HOUR);
      const first = t.int('hour of the first call', { min: 0, max: 200_000 });
      const begin = EPOCH_MS + HOUR * first;
      const period = [begin, begin + HOUR, begin + 2 * HOUR] as const;
      const used = t.int('used', { min: 1, max: 100 });
      const ask = quotaAsk({ cost: 1, count: 100, mode: 'check-and-spend', period, calendar: HOURS });
      const wallMs = EPOCH_MS + now;
      const decision = decisionFrom([ask], {
        nowTicks: 0,
        levelsTicks: [used],
        bucketNowTicks: [0],
        bucketWallMs: [wallMs],
      });
      t.tell('resetAfterMs', decision.resetAfterMs);
      t.claim('until the next hour', decision.resetAfterMs === HOUR * (hour + 1) - now);
      t.claim('of an hour', decision.results[0]!.periodMs === HOUR);
    },
  },
  {
    name: 'quota-remembered-denial',
    words:
      'A process that remembers a denial by Redis denies a quota only while the clock of Redis is certainly in the same period. The wait that it reports is not too short.',
    sources: [CACHE, PERIODS, LEFT, NAMED, DECIDED],
    assumes: [
      'The clocks of the process and of Redis are equally fast. Redis answered at some moment between the call and the reply. The quota has 10 tokens, all of which are used, and the cost is 1.',
    ],
    run(t) {
      const length = t.int('length of the periods in ms', { min: 1000, max: 367 * 86_400_000 });
      const start = t.int('start of the period in ms since 2026', { min: 0, max: 2 ** 38 });
      const micros = { min: 1, max: 2 ** 52 };
      const [sent, answered, got, now] = [
        t.int('sent, in µs of the process', micros),
        t.int('answered', micros),
        t.int('got', micros),
        t.int('asked again', micros),
      ] as const;
      t.assume(all(sent <= answered, answered <= got, got <= now));
      let clock = got;
      const cache = new DenialCache(1000, { nowMicros: () => clock } as never);
      const begin = EPOCH_MS + start;
      const period = [begin, begin + length, begin + 2 * length] as const;
      const ms = t.int('clock of Redis when it answered, in ms since 2026', { min: 0, max: 2 ** 39 });
      const rest = t.int('µs above them', MICROS);
      t.assume(all(ms >= start, ms < start + 2 * length));
      const end = ms < start + length ? start + length : start + 2 * length;
      const ask = quotaAsk({ cost: 1, count: 10, mode: 'check-and-spend', period });
      const reading = {
        nowTicks: 16 * (1000 * ms + rest),
        levelsTicks: [10],
        bucketNowTicks: [16_000 * end],
        bucketWallMs: [EPOCH_MS + ms],
      };
      cache.add({ batch: [ask], keys: ['key'] }, reading, sent);
      clock = now;
      const denial = cache.findDenial([ask], ['key']);
      const micro = 1000 * ms + rest + (now - answered);
      const when = t.choice('then', ['in the period', 'after it'] as const);
      t.assume(when === 'in the period' ? micro < 1000 * end : micro >= 1000 * end);
      t.tell('clock of Redis now, in µs since 2026', micro);
      t.tell('denied from memory', denial !== undefined);
      if (when === 'after it') {
        t.claim('Redis is asked after the period', denial === undefined);
        return;
      }
      if (denial === undefined) {
        t.claim(
          'Redis is asked after a second, or near the end',
          any(now - sent >= 1_000_000, 1000 * end - micro <= now - sent + 1000),
        );
        return;
      }
      const { allowed, retryAfterMs } = decisionFrom([ask], denial);
      t.tell('retryAfterMs', retryAfterMs);
      t.claim('it is denied', !allowed);
      t.claim('the wait is enough', micro + 1000 * retryAfterMs >= 1000 * end);
      t.claim('for at most a second', now - sent < 1_000_000);
    },
  },
  {
    name: 'quota-usage',
    words:
      '`limiter.usage` returns what was used in the current period. It also returns when that begins and ends. Only a call that reaches a threshold of `warnAt` emits its event, except that a charge beyond the count may repeat one of another period.',
    sources: ['packages/core/src/limiter/usage.ts', 'packages/core/src/kinds/quota/quota-warnings.ts', LEFT, NAMED],
    assumes: ['The quota has 10 tokens in each hour, and the thresholds 0.8 and 1.'],
    run(t) {
      const quota = new WatchedQuota({ count: 10, per: 'hour', warnAt: [0.8, 1] });
      const [first, second] = [
        t.int('time of the first in ms since 2026', MOMENT),
        t.int('time of the second', MOMENT),
      ];
      const [one, two] = [
        t.int('tokens of the first', { min: 1, max: 10 }),
        t.int('tokens of the second', { min: 1, max: 10 }),
      ];
      const call = t.choice('second call', ['spend', 'charge'] as const);
      quota.setWall(first);
      quota.spend(one);
      t.claim('warnings of the first', isReached(quota.takeWarnings(), 0, one));
      quota.setWall(second);
      quota[call](two);
      const [hour, firstHour] = [Math.floor(second / HOUR), Math.floor(first / HOUR)];
      // The clock has stepped back into the hour before: nothing is left there.
      const isAhead = hour === firstHour - 1;
      const before = hour > firstHour ? 0 : isAhead ? 10 : one;
      const after = before + two <= 10 ? before + two : call === 'charge' ? 10 : before;
      const { used, count, remaining, start, end } = quota.usage();
      t.tell('used', used);
      t.claim('what was used', all(used === after, remaining === 10 - after, count === 10));
      t.claim('the start of the hour', start.getTime() === EPOCH_MS + hour * HOUR);
      t.claim('its end', end.getTime() === EPOCH_MS + (hour + 1) * HOUR);
      // A charge that takes less than its cost is told as if all of it was taken, but not twice in a period.
      const isCut = all(call === 'charge', before + two > 10, hour < firstHour - 1);
      t.claim('warnings of the second', isReached(quota.takeWarnings(), isCut ? 10 - two : before, after));
    },
  },
];

const MOMENT = { min: 0, max: 2 ** 38 };

/** Whether exactly the thresholds of 8 and 10 tokens were told that a call has reached. */
function isReached(told: readonly number[], before: number, after: number): boolean {
  return all(
    told.includes(0.8) === all(before < 8, after >= 8),
    told.includes(1) === all(before < 10, after >= 10),
    told.length <= 2,
  );
}
