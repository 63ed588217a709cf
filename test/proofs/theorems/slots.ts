import { all, implies } from '../engine/logic.ts';
import type { Part } from '../engine/theorem.ts';
import { levelAfter, passes, SlotBucket } from '../subjects/limits.ts';

const SOURCES = ['packages/core/src/store/memory/slot-bucket.ts', 'packages/core/src/store/transaction-rule.ts'];
const MOMENT = { min: 0, max: 2 ** 51 };
const SLOTS = { min: 1, max: 1_000_000 };
const EXPIRY = { min: 16_000_000, max: 3_600_000 * 16_000 };

/** Limits of requests in progress. */
export const slots: Part = {
  title: 'Slots',
  about: 'A limit with `concurrency`: C slots, which requests hold until they release them, or until they expire.',
  theorems: [
    {
      name: 'slots-within-limit',
      words:
        'Never more than C slots are held. A transaction that takes slots takes what it asked for, and only slots that are free.',
      formula: 'held + taken ≤ C',
      invariant: 'held ≤ C, before and after each transaction',
      sources: SOURCES,
      run(t) {
        const C = t.int('C', SLOTS);
        const held = t.int('held slots', { min: 0, max: SLOTS.max });
        const asked = t.int('asked for', { min: 0, max: SLOTS.max });
        const mode = t.choice('mode', ['check-and-spend', 'check-only', 'spend-only'] as const);
        t.assume(held <= C);
        const transaction = {
          limit: 'Limit',
          id: 'id',
          mode,
          incrementTicks: asked,
          fitTicks: C,
          capTicks: C,
          holding: { holder: 'holder', expiryMs: 10_000 },
        };
        const passed = passes([transaction], [held]);
        const taken = passed ? levelAfter(transaction, held) - held : 0;
        t.tell('taken', taken);
        t.claim('never above C', held + taken <= C);
        t.claim('nothing or what was asked', implies(taken > 0, taken === asked));
        t.claim(
          'only denied if it does not fit',
          implies(mode === 'check-and-spend', passed === (asked <= C - held || asked === 0)),
        );
      },
    },
    {
      name: 'slots-counted',
      words:
        'The number of held slots is that of those that have not expired. It is so after any of: holding, releasing, renewing, expiring and a clock that steps back.',
      sources: SOURCES,
      run(t) {
        const bucket = new SlotBucket('key', 'Limit');
        const [one, two] = [t.int('slots of the first holder', SLOTS), t.int('slots of the second holder', SLOTS)];
        const [first, second] = [t.int('time of the first', MOMENT), t.int('time of the second', MOMENT)];
        const [short, long] = [t.int('expiry of the first', EXPIRY), t.int('expiry of the second', EXPIRY)];
        t.assume(all(first <= second, second < first + short));
        bucket.hold('one', 1, 1 + one, short, first);
        bucket.hold('two', 1, 1 + two, long, second);
        t.claim('both are held', bucket.look(second) === one + two);
        const what = t.choice('then', ['slots expire', 'a release', 'a renewal', 'the clock steps back'] as const);
        const now = t.int('now', { min: 0, max: 2 ** 52 });
        if (what === 'slots expire') {
          t.assume(now >= second);
          const live = (now < first + short ? one : 0) + (now < second + long ? two : 0);
          t.claim('those that have not expired', bucket.look(now) === live);
        } else if (what === 'a release') {
          bucket.free('one', 1, 1 + one);
          bucket.free('one', 1, 1 + one);
          t.claim('once', bucket.held === two);
        } else if (what === 'a renewal') {
          t.assume(all(now >= second, now < first + short, now < second + long));
          bucket.hold('one', 1, 1 + one, short, now);
          t.claim('not held twice', bucket.held === one + two);
          t.claim(
            'for another expiry',
            bucket.look(now + short - 1) === one + (now + short - 1 < second + long ? two : 0),
          );
        } else {
          t.assume(now < second);
          t.claim('none is lost', bucket.look(now) === one + two);
          t.claim('none lasts longer than its expiry from then on', bucket.look(now + Math.max(short, long)) === 0);
        }
      },
    },
  ],
};
