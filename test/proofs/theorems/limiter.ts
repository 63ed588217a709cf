import { all, any, implies } from '../engine/logic.ts';
import type { Part } from '../engine/theorem.ts';
import { TimedLimiter } from '../subjects/limits.ts';

const SOURCES = [
  'packages/core/src/limiter/create-limiter.ts',
  'packages/core/src/decision/decided.ts',
  'packages/core/src/decision/results.ts',
  'packages/core/src/store/memory/memory-store.ts',
];
const MICROS = { min: 1, max: 2 ** 46 };
/** 7 per second has a T that is no whole number of µs. */
const LIMITS = [
  { count: 7, period: '1s' },
  { burst: 3, count: 1, period: '1s' },
  { burst: 300, count: 300, period: '180m' },
] as const;
const TICKS = [2_285_714, 16_000_000, 576_000_000] as const;
const BURSTS = [7, 3, 300] as const;
/** Costs of requests of a limit with a burst of 2. */
const TWO = { min: 1, max: 2 };

const HOUR = 3_600_000;
const HOURS = { min: Date.UTC(2026, 0, 1), max: Date.UTC(2040, 0, 1) };
const [FEBRUARY, MARCH, APRIL] = [Date.UTC(2026, 0, 31, 23), Date.UTC(2026, 1, 28, 23), Date.UTC(2026, 2, 31, 22)];
const MONTHS = { min: FEBRUARY, max: APRIL - 1 };

/** Where a time is: the number of its period, and when that begins and ends. */
function periodOf(
  time: number,
  per: 'hour' | 'month',
): { readonly place: number; readonly start: number; readonly end: number } {
  if (per === 'month') {
    return time < MARCH ? { place: 0, start: FEBRUARY, end: MARCH } : { place: 1, start: MARCH, end: APRIL };
  }
  const place = Math.floor(time / HOUR);
  return { place, start: place * HOUR, end: (place + 1) * HOUR };
}

/** From `createLimiter` to the figures of a decision. */
export const limiter: Part = {
  title: 'A limiter as a whole',
  about:
    'A limiter that is made with numbers as users write them, a memory store, and calls at unknown times with unknown costs.',
  theorems: [
    {
      name: 'limiter-figures',
      words:
        'Two requests with any costs at any times: `allowed`, `remaining`, `retryAfterMs` and `resetAfterMs` are those of the rule, to the microsecond.',
      sources: SOURCES,
      assumes: ['The limit is 7 per second, 1 per second with a burst of 3, or 300 in 180 minutes.'],
      run(t) {
        const which = t.choice('limit', [0, 1, 2] as const);
        const [T, burst] = [TICKS[which], BURSTS[which]];
        const limit = new TimedLimiter({ Limit: LIMITS[which] });
        const [first, second] = [t.int('time of the first in µs', MICROS), t.int('time of the second in µs', MICROS)];
        t.assume(first <= second);
        const costs = { min: 0, max: burst };
        const [one, two] = [t.int('cost of the first', costs), t.int('cost of the second', costs)];
        limit.setTime(first);
        const begin = limit.spend([{ limit: 'Limit', cost: one }]);
        t.claim('a full bucket allows its burst', all(begin.allowed, begin.remaining === burst - one));
        limit.setTime(second);
        const end = limit.spend([{ limit: 'Limit', cost: two }]);
        const level = Math.max(0, one * T - 16 * (second - first));
        const fits = any(level + two * T <= burst * T, two === 0);
        const after = end.allowed ? level + two * T : level;
        t.tell('allowed', end.allowed);
        t.tell('remaining', end.remaining);
        t.tell('retryAfterMs', end.retryAfterMs);
        t.claim('allowed if it fits', end.allowed === fits);
        t.claim(
          'remaining is what fits',
          all(end.remaining * T <= burst * T - after, (end.remaining + 1) * T > burst * T - after),
        );
        const wait = end.retryAfterMs * 16_000;
        const exact = level + two * T - burst * T;
        t.claim('no wait if allowed', implies(end.allowed, wait === 0));
        t.claim('the wait to the microsecond', any(end.allowed, all(wait >= exact, wait < exact + 16)));
        const reset = end.resetAfterMs * 16_000;
        t.claim('full after the reset time', all(reset >= after, reset < after + 16));
      },
    },
    {
      name: 'limiter-all-or-nothing',
      words:
        'When one limit of a batch denies, nothing is taken from the others. The decision says what each of them has left.',
      sources: SOURCES,
      assumes: ['The limits are 7 per second, and 1 per second with a burst of 3.'],
      run(t) {
        const limit = new TimedLimiter({ Fast: LIMITS[0], Slow: LIMITS[1] });
        const now = t.int('time in µs', MICROS);
        limit.setTime(now);
        const used = t.int('used of Slow', { min: 0, max: 3 });
        limit.spend([{ limit: 'Slow', cost: used }]);
        const [fast, slow] = [t.int('cost at Fast', { min: 1, max: 7 }), t.int('cost at Slow', { min: 1, max: 3 })];
        const both = limit.spend([
          { limit: 'Fast', cost: fast },
          { limit: 'Slow', cost: slow },
        ]);
        const left = limit.spend([{ limit: 'Fast', cost: 0 }]).remaining;
        t.tell('left at Fast', left);
        t.claim('denied if one does not fit', both.allowed === used + slow <= 3);
        t.claim('all or nothing', left === (both.allowed ? 7 - fast : 7));
        const [ofFast, ofSlow] = both.results;
        t.claim('what Fast has left', ofFast!.remaining === left);
        t.claim('what Slow has left', ofSlow!.remaining === 3 - used - (both.allowed ? slow : 0));
      },
    },
    {
      name: 'limiter-queue',
      words: 'At a limit with `maxWait`, `delayMs` is the time until the turn of the request.',
      sources: SOURCES,
      assumes: [
        'The limit is 10 per second with a burst of 1 and a `maxWait` of two seconds, and both requests cost 1.',
      ],
      run(t) {
        const limit = new TimedLimiter({ Line: { burst: 1, count: 10, period: '1s', maxWait: '2s' } });
        const [first, second] = [t.int('time of the first in µs', MICROS), t.int('time of the second in µs', MICROS)];
        t.assume(first <= second);
        limit.setTime(first);
        limit.spend([{ limit: 'Line' }]);
        limit.setTime(second);
        const { allowed, delayMs } = limit.spend([{ limit: 'Line' }]);
        const turn = Math.max(second, first + 100_000);
        t.tell('delayMs', delayMs);
        t.claim('it waits and is not denied', allowed);
        t.claim('until its turn', second + delayMs * 1000 === turn);
      },
    },
    {
      name: 'limiter-quota',
      words:
        'Of two requests with any costs, both count in the same period, and in a later one only the second. After a step of the clock into the period before, nothing passes; after a larger one, the count is kept.',
      sources: [
        ...SOURCES,
        'packages/core/src/decision/period-left.ts',
        'packages/core/src/kinds/quota/named-periods.ts',
        'packages/core/src/kinds/quota/stale-periods.ts',
        'packages/core/src/store/memory/buckets.ts',
        'packages/core/src/store/memory/batch-periods.ts',
        'packages/core/src/store/calendar-period.ts',
        'packages/core/src/calendar/calendar.ts',
      ],
      assumes: ['The periods are hours at any time, or February and March of 2026 in Berlin.'],
      run(t) {
        const per = t.choice('per', ['hour', 'month'] as const);
        const [one, two] = [
          t.int('cost of the first', { min: 1, max: 10 }),
          t.int('cost of the second', { min: 0, max: 10 }),
        ];
        const limit = new TimedLimiter({ Quota: { count: 10, per, timeZone: 'Europe/Berlin' } });
        const times = per === 'hour' ? HOURS : MONTHS;
        const [first, second] = [
          t.int('time of the first in ms since 1970', times),
          t.int('time of the second in ms', times),
        ];
        if (per === 'month') {
          // Berlin is ahead of UTC by an hour in February, and by two at the end of March. With this call the limiter finds out.
          limit.setWall(times.min);
          limit.spend([{ limit: 'Quota', cost: 0 }]);
        }
        limit.setWall(first);
        const begin = limit.spend([{ limit: 'Quota', cost: one }]);
        t.claim('a full quota allows its count', all(begin.allowed, begin.remaining === 10 - one));
        limit.setWall(second);
        const end = limit.spend([{ limit: 'Quota', cost: two }]);
        const [from, to] = [periodOf(first, per), periodOf(second, per)];
        const isAhead = to.place === from.place - 1;
        const used = to.place > from.place ? 0 : one;
        const fits = any(two === 0, all(used + two <= 10, !isAhead));
        const after = all(fits, !isAhead) ? used + two : used;
        t.tell('allowed', end.allowed);
        t.tell('remaining', end.remaining);
        t.tell('retryAfterMs', end.retryAfterMs);
        t.claim('allowed if it fits', end.allowed === fits);
        t.claim('remaining is what is left', end.remaining === (isAhead ? 0 : 10 - after));
        t.claim('the wait ends with the period', end.retryAfterMs === (end.allowed ? 0 : to.end - second));
        t.claim('the reset too', end.resetAfterMs === (after === 0 ? 0 : to.end - second));
        t.claim('the length of the period', end.results[0]!.periodMs === to.end - to.start);
      },
    },
    {
      name: 'limiter-borrowing',
      words:
        'A client that keeps to its assured tokens is never denied, however empty the pool is. What is borrowed is never more than the pool has left.',
      sources: [...SOURCES, 'packages/core/src/kinds/borrow/loan.ts', 'packages/core/src/kinds/borrow/pools.ts'],
      assumes: ['Two limits with one id each borrow from one pool of 5 tokens, all at one instant.'],
      run(t) {
        const ceiling = { count: 10, period: '1s' };
        const limit = new TimedLimiter({
          A: { count: 2, period: '1s', borrow: { from: 'Pool', ceiling, fair: false } },
          B: { count: 2, period: '1s', borrow: { from: 'Pool', ceiling, fair: false } },
          Pool: { count: 5, period: '1s' },
        });
        limit.setTime(t.int('time in µs', MICROS));
        const own = limit.spend([{ limit: 'A', cost: 2 }]);
        const [one, two] = [t.int('borrowed by A', TWO), t.int('then borrowed by A', TWO)];
        const first = limit.spend([{ limit: 'A', cost: one }]);
        const second = limit.spend([{ limit: 'A', cost: two }]);
        const assured = limit.spend([{ limit: 'B', cost: t.int('assured of B', TWO) }]);
        t.tell('A borrows', first.allowed);
        t.tell('A borrows again', second.allowed);
        t.claim('own tokens', own.allowed);
        t.claim('the pool lends', first.allowed);
        t.claim('as much as it has left', second.allowed === one + two <= 3);
        t.claim('assured tokens are never denied', assured.allowed);
      },
    },
  ],
};
