import type { Mutant } from './mutant.ts';

const DECIDE = 'packages/redis/lua/decide.lua';
const BATCH = 'packages/redis/src/batches/script-batch.ts';
const REDIS_PERIODS = 'packages/core/src/store/server-periods.ts';
const CACHE = 'packages/redis/src/batches/denial-cache.ts';

/** Quotas in Redis. */
export const quotaRedisMutants: readonly Mutant[] = [
  {
    in: DECIDE,
    replace: '(now < finish and finish or next_end)',
    by: '(now <= finish and finish or next_end)',
    about: 'a period is too long in Redis',
    first: 'quota-stale-periods',
  },
  {
    in: DECIDE,
    replace: 'base = now >= start and now < next_end and',
    by: 'base = now < next_end and',
    about: 'a period is used in Redis before it begins',
    first: 'quota-stale-periods',
  },
  {
    in: DECIDE,
    replace: 'level, readable = STALE, false',
    by: 'level = STALE',
    about: 'a stale period does not reject the rate beside it',
    first: 'quota-stale-periods',
  },
  {
    in: DECIDE,
    replace: 'mendable, ahead = 1.75 * (next_end - finish), 0.75 * (next_end - finish)',
    by: 'ahead = 0.75 * (next_end - finish)',
    about: 'a step back over the end of a period is cut in Redis',
    first: 'quota-alike',
  },
  {
    in: DECIDE,
    replace: '          elseif level > ahead then\n            after = level\n',
    by: '',
    about: 'tokens of the next period are given back in Redis',
    first: 'quota-alike-others',
  },
  {
    in: DECIDE,
    replace: 'finish and PERIOD_SLACK_MS or SLACK_MS',
    by: 'SLACK_MS',
    about: 'a key of a quota expires with its period',
    first: 'quota-clock-repair',
  },
  {
    in: DECIDE,
    replace: 'afters[i] = base + after\n            ends[key] = base ~= now and base or nil',
    by: 'afters[i] = base + after',
    about: 'the level of a quota is written as the time to its end',
    first: 'quota-alike',
  },
  {
    in: DECIDE,
    replace: 'healed[key] = true\n                ends[key] = base ~= now and base or nil',
    by: 'healed[key] = true',
    about: 'a quota that was cut loses its end',
    first: 'quota-clock-repair',
  },
  {
    in: BATCH,
    replace: "const threshold = kind === 'spend' && mode !== 'charge' ? fitTicks : capTicks;",
    by: 'const threshold = capTicks;',
    about: 'a share of a quota is sent as all of it',
    first: 'quota-alike',
  },
  {
    in: BATCH,
    replace: 'isDecision ? REFUND_OF_DECISION : NUMBER_OF_KIND[kind]',
    by: 'NUMBER_OF_KIND[kind]',
    about: 'a late refund of a quota mints tokens in Redis',
    first: 'quota-alike-refund',
  },
  {
    in: REDIS_PERIODS,
    replace: 'EPOCH_MS + Math.floor(nowTicks / TICKS_PER_MS)',
    by: 'EPOCH_MS + Math.ceil(nowTicks / TICKS_PER_MS)',
    about: 'the wait by the clock of Redis is too short',
    first: 'quota-wait',
  },
  {
    in: CACHE,
    replace: 'const latestMs = wallMs + 1 + (nowMicros - sentMicros) / 1000;',
    by: 'const latestMs = wallMs + (nowMicros - gotMicros) / 1000;',
    about: 'a denial is remembered in the next period',
    first: 'quota-remembered-denial',
  },
  {
    in: CACHE,
    replace: 'return wallMs + Math.floor((nowMicros - gotMicros) / 1000);',
    by: 'return wallMs + Math.floor((nowMicros - sentMicros) / 1000);',
    about: 'the wait of a remembered denial is too short',
    first: 'quota-remembered-denial',
  },
];
