import { all, any, implies } from '../engine/logic.ts';
import type { Part } from '../engine/theorem.ts';
import { MODES } from '../subjects/rule.ts';
import { EPOCH_MS } from '../subjects/stores.ts';
import { BEFORE, COST, COUNT, IN_MEMORY, NEXT, OF_CALENDARS, QuotaBucket, THIS } from './quota-bucket.ts';

const CALLS = [...MODES, 'charge alone', 'refund'] as const;

/** What a quota counts in a period. */
export const quotas: Part = {
  title: 'Quotas',
  about:
    'A quota has `count` tokens in each calendar period. Its level is the number of tokens used in the period; it falls to 0 when the next one begins. These theorems are about the memory store; “Quotas in memory and Redis” are about both. No calendar is executed: the ends of periods are unknown numbers. A period is at least three quarters as long as the one before, and with its tokens, of which 2,048 count as a millisecond, at most one and three quarters times as long; and the tokens are at most three quarters of it. So are all periods that differ by at most a seventh from the one before, and have at most 1,000 tokens for each millisecond of themselves or of their neighbours.',
  theorems: [
    {
      name: 'quota-count',
      words:
        'In one period, the tokens taken minus those given back never exceed `count`. Charges are included. It is true in any order of calls and clock readings, even when the clock steps back, in the period or into the one before. With several counts it is the largest. The next period loses nothing by a step back.',
      formula: 'taken − given back ≤ count',
      invariant:
        'taken − given back ≤ the largest count; and it is at most the level in the period, because each call changes both by the same',
      sources: IN_MEMORY,
      assumes: [
        OF_CALENDARS,
        'The bucket is not evicted, reset or capped. The clock steps back over one end at most: after it has shown the next period for at most half a minute, or after the bucket was used there.',
      ],
      run(t) {
        const quota = new QuotaBucket(t);
        const call = t.choice('call', CALLS);
        const period = quota.periodOfCaller();
        const incrementTicks = t.int('cost', COST);
        const count = quota.tokens('count of this call');
        const net = t.int('taken minus given back, before', { min: -COUNT.max, max: COUNT.max });
        quota.goTo(THIS);
        const before = quota.memoryLevel();
        t.assume(all(net <= before, net <= quota.most));
        if (quota.state === 'used in this period') t.claim('what was used counts', before === quota.used);
        else if (!quota.isAhead) t.claim('the period began with all tokens', before === 0);
        const kind = call === 'charge alone' ? 'charge' : call === 'refund' ? 'refund' : 'spend';
        const mode = kind === 'spend' ? { mode: call as (typeof MODES)[number] } : {};
        const numbers = { incrementTicks, fitTicks: count, capTicks: count, ...mode };
        quota.both.memory(kind, [{ ...quota.entry(THIS, numbers), period }]);
        const after = quota.memoryLevel();
        t.tell('level after it', after);
        t.claim('at most the count', net + (after - before) <= quota.most);
        if (!quota.isAhead) return;
        t.claim('nothing is taken before the next period', after === before);
        quota.goTo(NEXT, 'later');
        t.claim('the next period keeps its count', quota.memoryLevel() === quota.used);
      },
    },
    {
      name: 'quota-exactly-count',
      words:
        'A request passes exactly if its cost and what was used in the period are at most `count`. Then its cost is taken. A denial takes nothing.',
      formula: 'passes ⇔ used + cost ≤ count',
      sources: IN_MEMORY,
      assumes: [OF_CALENDARS],
      run(t) {
        const quota = new QuotaBucket(t, ['never used', 'used in this period', 'used in the period before']);
        const mode = t.choice('mode', MODES);
        const cost = t.int('cost', COST);
        const count = quota.tokens('count');
        quota.goTo(THIS);
        const used = quota.state === 'used in this period' ? quota.used : 0;
        const numbers = { mode, incrementTicks: cost, fitTicks: count, capTicks: count };
        const passed = quota.both.memoryTakes([quota.entry(THIS, numbers)]);
        const after = quota.memoryLevel();
        const fits = any(used + cost <= count, cost === 0);
        t.tell('passed', passed);
        t.tell('used after it', after);
        t.claim(
          'denied only by a check that does not fit',
          passed === any(fits, mode === 'spend-only', mode === 'charge'),
        );
        t.claim('a denial takes nothing', any(passed, after === used));
        t.claim('a look takes nothing', any(mode !== 'check-only', after === used));
        t.claim('what fits is taken whole', implies(all(fits, mode !== 'check-only'), after === used + cost));
        t.claim('only a charge takes a part', any(fits, mode === 'charge', after === used));
        t.claim(
          'a charge takes at most the count',
          implies(all(mode === 'charge', !fits), after === Math.max(used, count)),
        );
      },
    },
    {
      name: 'quota-next-period',
      words:
        'All tokens are back when the next period begins. A millisecond earlier, none is. What was used of a quota for the last time in an earlier period counts in no later one.',
      sources: IN_MEMORY,
      assumes: [OF_CALENDARS],
      run(t) {
        const quota = new QuotaBucket(t, ['used in this period']);
        const end = quota.starts[NEXT]!;
        quota.both.setWall(end - 1);
        t.claim('none is back before it ends', quota.memoryLevel() === quota.used);
        const isFirst = t.choice('then', ['the first moment', 'any later one'] as const) === 'the first moment';
        if (isFirst) quota.both.setWall(end);
        else quota.goTo(NEXT);
        t.claim('all are back', quota.memoryLevel() === 0);
        const whole = {
          mode: 'check-and-spend',
          incrementTicks: quota.most,
          fitTicks: quota.most,
          capTicks: quota.most,
        } as const;
        t.claim('all can be taken at once', quota.both.memoryTakes([quota.entry(THIS, whole)]));
        t.claim('they are taken', quota.memoryLevel() === quota.most);
      },
    },
    {
      name: 'quota-kept',
      words:
        'A clock that shows the next period for at most half a minute and steps back loses no count, unless the bucket was used meanwhile. It is true even if the store has dropped buckets that are full.',
      sources: IN_MEMORY,
      assumes: [OF_CALENDARS],
      run(t) {
        const quota = new QuotaBucket(t, ['used in this period']);
        const shown = quota.goTo(NEXT, 'shown');
        t.assume(shown - quota.starts[NEXT]! <= 30_000);
        // After a table was made, the next call checks all of its slots.
        t.claim('the next period is full', quota.memoryLevel() === 0);
        quota.goTo(THIS);
        t.claim('the count is kept', quota.memoryLevel() === quota.used);
      },
    },
    {
      name: 'quota-clock-far-ahead',
      words:
        'A bucket that was used while the clock was wrong, by more than a period, has what was used then. It has nothing left, if others of its quota were used later still. It is full when the next period begins.',
      sources: IN_MEMORY,
      assumes: [OF_CALENDARS],
      run(t) {
        const quota = new QuotaBucket(t, ['never used']);
        const used = quota.tokens('tokens used while the clock was wrong');
        const shown = t.int('when the period began that it showed, in ms since 2026', { min: 0, max: 2 ** 39 });
        const length = quota.starts[NEXT + 1]! - quota.starts[NEXT]!;
        const end = shown + length;
        t.assume(end - quota.starts[NEXT]! > 1.75 * length);
        const wrong = [EPOCH_MS + shown, EPOCH_MS + end, EPOCH_MS + end + length] as const;
        const charge = { ...quota.entry(THIS), incrementTicks: used, capTicks: quota.most, period: wrong };
        quota.both.setWall(shown);
        quota.both.memory('charge', [charge]);
        const others = t.choice('others', ['were not used later', 'were used later'] as const);
        if (others === 'were used later') {
          quota.both.setWall(end);
          quota.both.memory('charge', [{ ...charge, id: 'other' }]);
        }
        quota.goTo(THIS);
        const seen = quota.memoryLevel();
        t.tell('seen as used', seen);
        t.claim('what was used then', seen === (others === 'were used later' ? quota.most : used));
        t.claim('it is kept', quota.memoryLevel() === seen);
        quota.goTo(NEXT, 'later');
        t.claim('all are back in the next period', quota.memoryLevel() === 0);
      },
    },
    {
      name: 'quota-refund',
      words:
        'The refund of a decision gives back what the decision took, in its period. It gives back nothing in a later or an earlier one. No refund makes a bucket fuller than full.',
      formula: 'gives back cost in the period of the decision, otherwise 0',
      sources: IN_MEMORY,
      assumes: [OF_CALENDARS],
      run(t) {
        const quota = new QuotaBucket(t, ['never used', 'used in this period']);
        const cost = quota.tokens('cost of the decision');
        const spend = {
          mode: 'check-and-spend',
          incrementTicks: cost,
          fitTicks: quota.most,
          capTicks: quota.most,
        } as const;
        t.assume(quota.used + cost <= quota.most);
        quota.goTo(THIS, 'time of the decision');
        const { bucketNowTicks, levelsTicks } = quota.both.memoryReading('spend', [quota.entry(THIS, spend)]);
        const tatAfterSpendTicks = bucketNowTicks![0]! + levelsTicks[0]! + cost;
        const where = t.choice('refund in', ['its period', 'the next period', 'the period before', 'named'] as const);
        const other = t.int('then used by others', COST);
        const charge = { incrementTicks: other, capTicks: quota.most };
        if (where === 'the period before') {
          quota.goTo(BEFORE);
          const before = quota.memoryLevel(BEFORE);
          quota.both.memory('refund', [quota.entry(BEFORE, { incrementTicks: cost, tatAfterSpendTicks })]);
          t.claim('a bucket of a later period does not change', quota.memoryLevel(BEFORE) === before);
          return;
        }
        const place = where === 'the next period' ? NEXT : THIS;
        quota.goTo(place);
        quota.both.memory('charge', [quota.entry(THIS, charge)]);
        const before = quota.memoryLevel();
        const named = t.int('tokens to give back', COST);
        const refund = where === 'named' ? { incrementTicks: named } : { incrementTicks: cost, tatAfterSpendTicks };
        quota.both.memory('refund', [quota.entry(THIS, refund)]);
        const after = quota.memoryLevel();
        t.tell('used before the refund', before);
        t.tell('used after it', after);
        if (where === 'its period') t.claim('all of it', after === before - cost);
        else if (where === 'named') t.claim('up to a full one', after === Math.max(before - named, 0));
        else t.claim('nothing in a later period', after === before);
      },
    },
  ],
};
