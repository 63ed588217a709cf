import { all, any } from '../engine/logic.ts';
import type { Theorem } from '../engine/theorem.ts';
import { EPOCH_MS, StalePeriodError } from '../subjects/stores.ts';
import { IN_BOTH, LENGTH, NEXT, OF_CALENDARS, QuotaBucket, THIS } from './quota-bucket.ts';

const MICROS = { min: 0, max: 999 };

/** Batches with quotas, in both stores. */
export const quotaBatches: readonly Theorem[] = [
  {
    name: 'quota-beside-rate',
    words:
      'A batch of a rate and a quota passes exactly if both have room. Then both give their tokens, and otherwise neither does, alike in both stores.',
    sources: IN_BOTH,
    assumes: [OF_CALENDARS, 'The increment of the rate differs from the cost and the count of the quota.'],
    run(t) {
      const quota = new QuotaBucket(t, ['used in this period', 'used in the next period']);
      const { both } = quota;
      quota.goTo(THIS);
      const level = t.int('level of the rate', { min: 1, max: 2 ** 45 });
      both.put('rate', level);
      const [increment, tolerance] = [
        t.int('cost × T', { min: 1, max: 2 ** 45 }),
        t.int('τ', { min: 1, max: 2 ** 45 }),
      ];
      const rate = {
        id: 'rate',
        mode: 'check-and-spend',
        incrementTicks: increment,
        fitTicks: tolerance,
        capTicks: tolerance,
      } as const;
      const cost = quota.tokens('cost');
      const count = quota.tokens('count');
      const own = quota.entry(THIS, {
        mode: 'check-and-spend',
        incrementTicks: cost,
        fitTicks: count,
        capTicks: count,
      });
      t.assume(all(increment !== cost, increment !== count));
      const fits = all(level + increment <= tolerance, !quota.isAhead, quota.used + cost <= count);
      const memory = both.memory('spend', [rate, own]);
      const redis = both.script('spend', [rate, own]);
      t.claim('both reply the same level of the rate', memory[0] === redis[0]);
      for (const after of [both.memoryLevel('rate'), both.redisLevel('rate')]) {
        t.tell('level of the rate after it', after);
        t.claim('the rate is taken if both have room', after === (fits ? level + increment : level));
      }
      if (quota.isAhead) quota.goTo(NEXT, 'later');
      for (const after of [quota.memoryLevel(), quota.redisUsed(quota.isAhead ? NEXT : THIS)]) {
        t.tell('used of the quota after it', after);
        t.claim('so is the quota', after === (fits ? quota.used + cost : quota.used));
      }
    },
  },
  {
    name: 'quota-stale-periods',
    words:
      'The clock of the store chooses the period. Outside of the two periods of a call, both stores reject the whole call with the time of their clock, and take nothing. Otherwise both choose the same period.',
    sources: IN_BOTH,
    assumes: [OF_CALENDARS],
    run(t) {
      const quota = new QuotaBucket(t, ['never used']);
      const { both, starts } = quota;
      const now = t.int('now, in ms since 2026', { min: 0, max: 2 ** 39 });
      both.setWall(now, t.int('µs of Redis above them', MICROS));
      const cost = quota.tokens('cost');
      const rate = { id: 'rate', mode: 'check-and-spend', incrementTicks: 16, fitTicks: 16, capTicks: 16 } as const;
      const own = quota.entry(THIS, {
        mode: 'check-and-spend',
        incrementTicks: cost,
        fitTicks: cost,
        capTicks: cost,
      });
      const isStale = any(now < starts[1]!, now >= starts[3]!);
      for (const [name, unit, since] of [
        ['memory', 2048, EPOCH_MS],
        ['Redis', 16_000, 0],
      ] as const) {
        const reading =
          name === 'memory' ? both.memoryAnswer('spend', [rate, own]) : both.scriptAnswer('spend', [rate, own]);
        if (reading instanceof StalePeriodError) {
          t.claim(`${name} rejects only stale periods`, isStale);
          t.claim(`${name} tells its time`, reading.wallMs === EPOCH_MS + now);
        } else {
          const end = now < starts[2]! ? starts[2]! : starts[3]!;
          t.claim(`${name} rejects stale periods`, !isStale);
          t.claim(`${name} counts from the end of the period`, reading.bucketNowTicks![1] === unit * (since + end));
          t.claim(`${name} tells the time of a period only`, reading.bucketWallMs![0] === undefined);
          t.claim(`${name} tells the time by which it chose`, reading.bucketWallMs![1] === EPOCH_MS + now);
        }
        const level = name === 'memory' ? both.memoryLevel('rate') : both.redisLevel('rate');
        t.claim(`${name} takes all or nothing`, level === (isStale ? 0 : 16));
      }
    },
  },
  {
    name: 'quota-alternatives',
    words:
      'Of two alternatives with quotas of different periods, both stores take the second if the first is denied. Each counts from the end of its own period.',
    sources: IN_BOTH,
    assumes: [OF_CALENDARS, 'The cost is not the count.'],
    run(t) {
      const quota = new QuotaBucket(t, ['used in this period']);
      const { both } = quota;
      const now = quota.goTo(THIS);
      const cost = quota.tokens('cost');
      const [length, left] = [
        t.int('length of the other periods in ms', LENGTH),
        t.int('what is left of the first, in ms', LENGTH),
      ];
      t.assume(all(left <= length, quota.most <= 1000 * length, quota.most !== cost));
      const end = EPOCH_MS + now + left;
      const numbers = {
        mode: 'check-and-spend',
        incrementTicks: cost,
        fitTicks: quota.most,
        capTicks: quota.most,
      } as const;
      const first = [quota.entry(THIS, numbers)];
      const second = [{ ...first[0]!, id: 'other', period: [end - length, end, end + length] as const }];
      const memory = both.memoryFirst([first, second]);
      const redis = both.scriptFirst([first, second]);
      const fits = quota.used + cost <= quota.most;
      t.claim(
        'the second is tried if the first is denied',
        all(memory.passed === redis.passed, (memory.passed === 0) === fits),
      );
      t.claim('the levels are the same', all(...memory.levelsTicks.map((level, i) => level === redis.levelsTicks[i])));
      for (const after of [quota.memoryLevel(), quota.redisUsed()]) {
        t.claim('of the first', after === quota.used + (fits ? cost : 0));
      }
      const look = { ...second[0]!, mode: 'check-only' } as const;
      const { bucketNowTicks, levelsTicks } = both.memoryReading('check', [look]);
      t.claim('of the second in memory', levelsTicks[0] === (fits ? 0 : cost));
      t.claim('from its end', bucketNowTicks![0] === 2048 * end);
      if (!fits) t.claim('of the second in Redis', both.redisTat('other') === 16_000 * (now + left) + cost);
    },
  },
];
