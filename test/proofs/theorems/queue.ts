import { all, implies } from '../engine/logic.ts';
import { EXACT, LEVEL } from '../engine/ranges.ts';
import type { Part } from '../engine/theorem.ts';
import { levelOf, refundAt, spendAt, waitFor } from '../subjects/rule.ts';

const SOURCES = ['packages/core/src/rule/gcra.ts', 'packages/core/src/store/transaction-rule.ts'];
/** A `maxWait`: up to an hour. */
const WAIT = { min: 1, max: 3_600_000 * 16_000 };
const HALF = { min: 0, max: 2 ** 51 };

/** Limits with a `maxWait`. */
export const queue: Part = {
  title: 'The queue',
  about:
    'A limit with `maxWait`: a request that does not fit yet takes its tokens, and its turn is when the level has fallen to τ. There is no list of requests: the TAT is the queue.',
  theorems: [
    {
      name: 'queue-turns',
      words:
        'Requests continue in the order in which they came, and none waits longer than `maxWait`. A request that waits continues at least cost × T after the one before it; with a burst of 1, all of them do.',
      formula: 'turn = max(now, TAT after − τ)',
      sources: SOURCES,
      run(t) {
        const tolerance = t.int('τ in ticks', HALF);
        const [one, two] = [t.int('cost × T of the first', HALF), t.int('cost × T of the second', HALF)];
        const maxWait = t.int('maxWait in ticks', WAIT);
        const tat = t.int('TAT before', HALF);
        const [first, second] = [t.int('first request', HALF), t.int('second request', HALF)];
        t.assume(all(first <= second, one > 0, two > 0, one <= tolerance, two <= tolerance));
        const ask = (incrementTicks: number) =>
          ({
            mode: 'check-and-spend',
            incrementTicks,
            fitTicks: tolerance + maxWait,
            capTicks: tolerance + maxWait,
          }) as const;
        const begin = spendAt(tat, first, ask(one));
        const end = spendAt(begin.tat, second, ask(two));
        t.assume(all(begin.passed, end.passed));
        const waits = [waitFor(begin.before, one, tolerance), waitFor(end.before, two, tolerance)] as const;
        const [turn, next] = [first + waits[0], second + waits[1]];
        t.tell('turn of the first', turn);
        t.tell('turn of the second', next);
        t.claim('at most maxWait', all(waits[0] <= maxWait, waits[1] <= maxWait));
        t.claim('in order', next >= turn);
        t.claim('those that wait are cost × T apart', implies(all(waits[0] > 0, waits[1] > 0), next - turn >= two));
        t.claim('with a burst of 1 all are', implies(all(one === tolerance, two === tolerance), next - turn >= two));
        t.claim('at its turn the bucket has room', levelOf(end.tat, next) <= tolerance);
      },
    },
    {
      name: 'queue-is-full',
      words: 'A request that would wait longer than `maxWait` is denied, and no other.',
      sources: SOURCES,
      run(t) {
        const tolerance = t.int('τ in ticks', HALF);
        const increment = t.int('cost × T', { min: 1, max: HALF.max });
        const maxWait = t.int('maxWait in ticks', WAIT);
        const tat = t.int('TAT', HALF);
        const now = t.int('now', HALF);
        t.assume(increment <= tolerance);
        const ask = {
          mode: 'check-and-spend',
          incrementTicks: increment,
          fitTicks: tolerance + maxWait,
          capTicks: tolerance + maxWait,
        } as const;
        const step = spendAt(tat, now, ask);
        t.claim('exactly these', step.passed === waitFor(step.before, increment, tolerance) <= maxWait);
      },
    },
    {
      name: 'queue-refund',
      words:
        'A request that leaves the queue gives its tokens back only if it is the last one. So no later request gets a turn before those that wait already.',
      sources: SOURCES,
      run(t) {
        const tolerance = t.int('τ in ticks', HALF);
        const increment = t.int('cost × T of the one that leaves', { min: 1, max: HALF.max });
        const other = t.int('cost × T of one that came after it', HALF);
        const tat = t.int('TAT before both', HALF);
        const now = t.int('now', HALF);
        t.assume(all(increment <= tolerance, other <= tolerance));
        const wide = { mode: 'check-and-spend', fitTicks: LEVEL.max, capTicks: LEVEL.max } as const;
        const leaving = spendAt(tat, now, { ...wide, incrementTicks: increment });
        const last = spendAt(leaving.tat, now, { ...wide, incrementTicks: other });
        t.assume(all(leaving.passed, last.passed, last.after > tolerance));
        const refund = { incrementTicks: increment, tatAfterSpendTicks: leaving.tat, lineTicks: tolerance };
        const after = refundAt(last.tat, now, refund);
        t.tell('TAT after both', last.tat);
        t.tell('TAT after the refund', after.tat);
        t.claim('nothing moves while others wait behind it', implies(other > 0, after.tat === last.tat));
        t.claim('the last one gives all back', implies(other === 0, after.after === leaving.before));
      },
    },
    {
      name: 'queue-reset',
      words: 'A bucket that was reset since gets nothing back from a request that had still been waiting for its turn.',
      sources: SOURCES,
      run(t) {
        const tolerance = t.int('τ in ticks', HALF);
        const increment = t.int('cost × T', { min: 1, max: HALF.max });
        const now = t.int('now', HALF);
        const level = t.int('level since the reset', HALF);
        const after = t.int('TAT after the decision', { min: 0, max: EXACT });
        t.assume(all(after - now > tolerance, level !== after - now));
        const step = refundAt(now + level, now, {
          incrementTicks: increment,
          tatAfterSpendTicks: after,
          lineTicks: tolerance,
        });
        t.claim('nothing', step.after === level);
      },
    },
  ],
};
