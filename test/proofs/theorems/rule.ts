import { ceilToMs, fits, levelOf, remainingTokens, waitFor, waitForNextToken } from '../subjects/rule.ts';

import { BURST, EXACT, INTERVAL, LEVEL, TIME, TOKENS } from '../engine/ranges.ts';
import { all } from '../engine/logic.ts';
import type { Part } from '../engine/theorem.ts';

const SOURCES = ['packages/core/src/rule/gcra.ts'];

/** What one decision of one bucket says. */
export const rule: Part = {
  title: 'One decision',
  about: 'One bucket with the emission interval T and the tolerance τ = burst × T, at one moment.',
  theorems: [
    {
      name: 'exactly-burst',
      words:
        'From a full bucket, requests with costs that sum up to at most `burst` are allowed at one instant. A request beyond that is denied: at every rate, and whatever the costs are.',
      formula: 'n tokens taken ⇒ level = n × T; cost c passes ⇔ n + c ≤ burst',
      invariant: 'After requests with the sum n of costs, the level is n × T. It is 0 for a full bucket.',
      sources: SOURCES,
      run(t) {
        const T = t.int('T in ticks', INTERVAL);
        const burst = t.int('burst', BURST);
        const taken = t.int('tokens taken at this instant', TOKENS);
        const cost = t.int('cost of the next request', { min: 1, max: TOKENS.max });
        const now = t.int('now in ticks', TIME);
        t.assume(burst * T <= LEVEL.max);
        t.assume(now <= EXACT - burst * T);
        t.assume(taken <= burst);
        t.assume(cost <= burst);
        const level = levelOf(now + taken * T, now);
        const allowed = fits(level, cost * T, burst * T);
        t.tell('level before it, in ticks', level);
        t.tell('allowed', allowed);
        t.claim('it is allowed if it fits into the burst', all(taken + cost <= burst) === allowed);
        t.claim('the level counts the tokens', level === taken * T);
      },
    },
    {
      name: 'wait-is-enough',
      words: 'After the wait that a denial reports, the same request is allowed. One tick earlier it is denied.',
      formula: 'wait = level + cost × T − τ',
      sources: SOURCES,
      run(t) {
        const tolerance = t.int('τ in ticks', LEVEL);
        const increment = t.int('cost × T in ticks', { min: 1, max: LEVEL.max });
        const tat = t.int('TAT in ticks', TIME);
        const now = t.int('now in ticks', TIME);
        t.assume(increment <= tolerance);
        const wait = waitFor(levelOf(tat, now), increment, tolerance);
        t.tell('wait in ticks', wait);
        t.claim('a request that fits does not wait', (wait === 0) === levelOf(tat, now) + increment <= tolerance);
        t.claim('it fits after the wait', fits(levelOf(tat, now + wait), increment, tolerance));
        if (wait > 0)
          t.claim('it does not fit one tick earlier', !fits(levelOf(tat, now + wait - 1), increment, tolerance));
      },
    },
    {
      name: 'shown-wait',
      words:
        'The wait in milliseconds is exact to 1 µs. A client whose clock shows whole microseconds is allowed after it, and denied one microsecond earlier.',
      sources: [...SOURCES, 'packages/core/src/rule/ticks.ts'],
      run(t) {
        const tolerance = t.int('τ in ticks', LEVEL);
        const increment = t.int('cost × T in ticks', { min: 1, max: LEVEL.max });
        const tat = t.int('TAT in ticks', TIME);
        const now = 16 * t.int('now in µs', { min: 0, max: TIME.max / 16 });
        t.assume(increment <= tolerance);
        const wait = waitFor(levelOf(tat, now), increment, tolerance);
        const shown = ceilToMs(wait);
        const micros = Math.round(shown * 1000);
        t.tell('shown wait in ms', shown);
        t.claim('it fits after the shown wait', fits(levelOf(tat, now + 16 * micros), increment, tolerance));
        if (micros > 0) {
          t.claim('not one microsecond earlier', !fits(levelOf(tat, now + 16 * (micros - 1)), increment, tolerance));
        }
      },
    },
    {
      name: 'remaining-is-exact',
      words: '`remaining` is the largest cost that is allowed now.',
      formula: 'remaining = ⌊(τ − level) / T⌋',
      sources: SOURCES,
      run(t) {
        const T = t.int('T in ticks', INTERVAL);
        const burst = t.int('burst', BURST);
        const level = t.int('level in ticks', LEVEL);
        t.assume(burst * T <= LEVEL.max);
        const remaining = remainingTokens(level, T, burst * T);
        t.tell('remaining', remaining);
        t.product(burst + 1 - remaining, T);
        t.claim('from 0 to burst', all(remaining >= 0, remaining <= burst));
        t.claim('that many fit', fits(level, remaining * T, burst * T));
        t.claim('one more does not', !fits(level, (remaining + 1) * T, burst * T));
      },
    },
    {
      name: 'next-token',
      words: 'The wait for one more token than now is exact to the tick.',
      sources: SOURCES,
      run(t) {
        const T = t.int('T in ticks', INTERVAL);
        const burst = t.int('burst', BURST);
        const tat = t.int('TAT in ticks', TIME);
        const now = t.int('now in ticks', TIME);
        t.assume(burst * T <= LEVEL.max);
        const level = levelOf(tat, now);
        t.assume(level > 0);
        const remaining = remainingTokens(level, T, burst * T);
        const wait = waitForNextToken(level, T, burst * T);
        t.tell('remaining', remaining);
        t.tell('wait in ticks', wait);
        t.product(burst - remaining, T);
        t.claim('then one more fits', levelOf(tat, now + wait) + (remaining + 1) * T <= burst * T);
        t.claim('not earlier', all(wait > 0, levelOf(tat, now + wait - 1) + (remaining + 1) * T > burst * T));
      },
    },
  ],
};
