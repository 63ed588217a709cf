import { implies } from '../engine/logic.ts';
import { LEVEL, TIME } from '../engine/ranges.ts';
import type { Theorem } from '../engine/theorem.ts';
import { fits, levelOf } from '../subjects/rule.ts';

const ABOUT = { words: '', sources: ['packages/core/src/rule/gcra.ts'] };

/** Theorems that are true and say nothing, and the reason with which the engine must refuse each of them. */
export const emptyTheorems: readonly { readonly theorem: Theorem; readonly problem: string }[] = [
  {
    problem: 'its assumptions exclude each other',
    theorem: {
      ...ABOUT,
      name: 'an assumption that can not be true',
      run(t) {
        const level = levelOf(t.int('TAT', TIME), t.int('now', TIME));
        t.assume(level < 0);
        t.claim('anything', level > 7);
      },
    },
  },
  {
    problem: 'nothing is possible with these choices: now: later',
    theorem: {
      ...ABOUT,
      name: 'a choice for which all is left out',
      run(t) {
        const tat = t.int('TAT', TIME);
        const when = t.choice('now', ['at the TAT', 'later'] as const);
        const level = levelOf(tat, when === 'later' ? tat + 1 : tat - 1);
        t.assume(level > 0);
        t.claim('a tick is left', level === 1);
      },
    },
  },
  {
    problem: 'no example has the condition 1 of: nothing',
    theorem: {
      ...ABOUT,
      name: 'an implication of what is never true',
      run(t) {
        const level = levelOf(t.int('TAT', TIME), t.int('now', TIME));
        t.claim('a level is not negative', level >= 0);
        t.claim('nothing', implies(level < 0, level > 7));
      },
    },
  },
  {
    problem: 'true whatever the sources do: what was asked',
    theorem: {
      ...ABOUT,
      name: 'a claim that repeats the question of its branch',
      run(t) {
        const [level, tolerance] = [t.int('level', LEVEL), t.int('τ', LEVEL)];
        if (fits(level, 1, tolerance)) t.claim('what was asked', fits(level, 1, tolerance));
        else t.claim('it lacks room', level >= tolerance);
      },
    },
  },
];
