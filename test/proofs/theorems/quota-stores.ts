import { all, any } from '../engine/logic.ts';
import type { Part, Scenario } from '../engine/theorem.ts';
import { MODES } from '../subjects/rule.ts';
import { EPOCH_MS, type Entry, type Kind } from '../subjects/stores.ts';
import { quotaBatches } from './quota-batches.ts';
import { COST, IN_BOTH, NEXT, OF_CALENDARS, QuotaBucket, THIS } from './quota-bucket.ts';

const DECIDE = 'packages/redis/lua/decide.lua';
/** The script takes a TAT for an error that is older. Keys expire half a minute after it. */
const OLDEST = 60_000 * 16_000;
/** What keys live longer than their period, so that a clock that steps back loses no count. */
const KEPT = 30_000 * 16_000;
const MICROS = { min: 0, max: 999 };
const OTHERS: readonly Kind[] = ['charge', 'refund', 'cap', 'check', 'reset'];

/** A quota at an unknown time of its period, in both stores. */
function quotaIn(t: Scenario): QuotaBucket {
  const quota = new QuotaBucket(t);
  const ms = quota.goTo(THIS);
  quota.both.setWall(ms, t.int('µs of Redis above them', MICROS));
  if (quota.state === 'used in the period before') {
    t.assume(quota.both.nowTicks - quota.both.redisTat('a') <= OLDEST);
  }
  return quota;
}

function numbersOf(t: Scenario, quota: QuotaBucket): Pick<Entry, 'incrementTicks' | 'fitTicks' | 'capTicks'> {
  const incrementTicks = t.int('cost', COST);
  return { incrementTicks, fitTicks: quota.tokens('count of its share'), capTicks: quota.tokens('count') };
}

/** Claims that both stores replied alike, and have the same tokens used now and in the next period. */
function claimAlike(t: Scenario, quota: QuotaBucket, memory: readonly number[], redis: readonly number[]): void {
  const { both } = quota;
  const [one, two] = [memory[0]!, redis[0]!];
  t.tell('level of the memory store', one);
  t.tell('level of the script', two);
  t.claim('as many levels', memory.length === redis.length);
  t.claim('the same reply, or nothing fits in both', any(one === two, all(one > quota.most, two > quota.most)));
  const [inMemory, inRedis] = [quota.memoryLevel(), quota.redisUsed()];
  t.claim('the same tokens used', any(inMemory === inRedis, all(inMemory > quota.most, inRedis > quota.most)));
  const life = both.lifeMs('a');
  if (life !== undefined) {
    t.claim('the key outlives its period', life * 16_000 >= both.redisTat('a') - both.nowTicks + KEPT);
  }
  quota.goTo(NEXT, 'later');
  t.claim('and in the next period', quota.memoryLevel() === quota.redisUsed(NEXT));
}

/** That the memory store and the script count quotas alike. */
export const quotaStores: Part = {
  title: 'Quotas in memory and Redis',
  about:
    'The memory store and decide.lua get the same calls about a quota in the same period, by the wall clock of the store. Their units of time differ: 1/2048 ms and 1/16 µs.',
  theorems: [
    {
      name: 'quota-alike',
      words:
        'One transaction of any mode, on a bucket used in this period, the one before, the next or never: both stores reply and keep the same number of tokens. The key of Redis lives for half a minute after its period.',
      sources: IN_BOTH,
      assumes: [OF_CALENDARS],
      run(t) {
        const quota = quotaIn(t);
        const mode = t.choice('mode', MODES);
        const batch = [quota.entry(THIS, { mode, ...numbersOf(t, quota) })];
        claimAlike(t, quota, quota.both.memory('spend', batch), quota.both.script('spend', batch));
      },
    },
    {
      name: 'quota-alike-others',
      words: 'Charges, refunds, caps, looks and resets of a quota: alike in both stores.',
      sources: IN_BOTH,
      assumes: [OF_CALENDARS],
      run(t) {
        const quota = quotaIn(t);
        const kind = t.choice('call', OTHERS);
        const batch = [quota.entry(THIS, numbersOf(t, quota))];
        claimAlike(t, quota, quota.both.memory(kind, batch), quota.both.script(kind, batch));
      },
    },
    {
      name: 'quota-alike-refund',
      words: 'The refund of a decision on a quota, in its period, the one before or the next: alike in both stores.',
      sources: IN_BOTH,
      assumes: [OF_CALENDARS],
      run(t) {
        const quota = quotaIn(t);
        const place = t.choice('decision in', [THIS, NEXT, 'the period before'] as const);
        const end = quota.starts[place === 'the period before' ? 1 : place + 1]!;
        const after = quota.tokens('used after the decision');
        const incrementTicks = quota.tokens('cost');
        const refund = (unit: number, since: number) =>
          quota.entry(THIS, { incrementTicks, tatAfterSpendTicks: unit * (since + end) + after });
        const memory = quota.both.memory('refund', [refund(2048, EPOCH_MS)]);
        const redis = quota.both.script('refund', [refund(16_000, 0)]);
        claimAlike(t, quota, memory, redis);
      },
    },
    ...quotaBatches,
    {
      name: 'quota-clock-repair',
      words:
        'A bucket that is further ahead than the next period, because the clock of Redis was wrong, is cut at the first look to what was used then. It is rounded up by at most a sixteenth. The key lives for half a minute after this period.',
      sources: [DECIDE, 'packages/redis/src/batches/script-batch.ts'],
      assumes: [OF_CALENDARS],
      run(t) {
        const quota = new QuotaBucket(t, ['never used']);
        const { both, starts } = quota;
        const used = quota.tokens('tokens used while the clock was wrong');
        const end = t.int('end of the period that it showed, in ms since 2026', { min: 0, max: 2 ** 39 });
        t.assume(end - starts[2]! > 1.75 * (starts[3]! - starts[2]!));
        both.putUsed('a', end, used);
        quota.goTo(THIS);
        const look = { mode: 'check-only', incrementTicks: 1, fitTicks: quota.most, capTicks: quota.most } as const;
        const [seen] = both.script(t.choice('call', ['check', 'spend'] as const), [quota.entry(THIS, look)]) as [
          number,
        ];
        t.tell('level in the reply', seen);
        t.claim('no token is granted', all(seen >= used, 16 * seen <= 17 * used));
        t.claim('it is stored', quota.redisUsed() === seen);
        const life = both.lifeMs('a') ?? 0;
        t.claim('the key outlives its period', life * 16_000 >= both.redisTat('a') - both.nowTicks + KEPT);
        t.claim('not longer', life * 16_000 < both.redisTat('a') - both.nowTicks + KEPT + 16_000);
      },
    },
  ],
};
