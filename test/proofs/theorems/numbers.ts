import { all, any, implies } from '../engine/logic.ts';
import { BURST, INTERVAL, LEVEL, TOKENS } from '../engine/ranges.ts';
import type { Part } from '../engine/theorem.ts';
import { checkBounds, levelsFrom, rateOf } from '../subjects/limits.ts';
import { shareOf, spendAt, wholeShareOf } from '../subjects/rule.ts';

const RATE = 'packages/core/src/rule/rate.ts';
const MOST_MS = 366 * 86_400_000;

/** What follows from the numbers of a limit. */
export const numbers: Part = {
  title: 'The numbers of a limit',
  about: 'From the numbers that a user writes to ticks, which is done once, when a limit is defined.',
  theorems: [
    {
      name: 'rate-as-written',
      words:
        'The rate is never below what is written. It is higher by at most 0.01 % up to 1,000 per second, 0.1 % up to 10,000 per second and 1 % up to 100,000 per second.',
      formula: 'count × T ≤ period ≤ count × T × (1 + 0.0001)',
      sources: [RATE, 'packages/core/src/rule/duration.ts'],
      assumes: [
        'The period is a whole number of milliseconds from 1,000 up; text is converted to such a number first.',
      ],
      run(t) {
        const [perSecond, part] = t.choice('rate up to', [
          [1000, 10_000],
          [10_000, 1000],
          [100_000, 100],
        ] as const);
        const count = t.int('count', BURST);
        const period = t.int('period in ms', { min: 1000, max: MOST_MS });
        t.assume(count * 1000 <= perSecond * period);
        const {
          emissionIntervalTicks: T,
          toleranceTicks,
          periodMs,
        } = rateOf('limits.Limit', { burst: 1, count, period });
        const ticks = period * 16_000;
        t.tell('T in ticks', T);
        t.product(T - 16_000_000 / perSecond, count);
        t.claim('never below', all(T >= 1, T * count <= ticks));
        t.claim('not much above', (ticks - T * count) * part <= T * count);
        t.claim('τ is burst × T', all(toleranceTicks === T, periodMs === period));
      },
    },
    {
      name: 'levels-of-a-limit',
      words:
        'A request fits up to an empty bucket and the longest wait more; a charge goes up to the debt or that wait. Both are at most ten years.',
      sources: ['packages/core/src/limits/levels.ts'],
      run(t) {
        const emissionIntervalTicks = t.int('T in ticks', INTERVAL);
        const burst = t.int('burst', BURST);
        const maxDebt = t.int('maxDebt', { min: 0, max: BURST.max });
        const waitTicks = t.int('maxWait in ticks', { min: 0, max: 3_600_000 * 16_000 });
        const toleranceTicks = burst * emissionIntervalTicks;
        t.assume(toleranceTicks <= LEVEL.max);
        t.assume(maxDebt * emissionIntervalTicks <= LEVEL.max - toleranceTicks);
        const rate = { toleranceTicks, emissionIntervalTicks, maxDebt, waitTicks } as never;
        const { roomTicks, capTicks, lineTicks } = levelsFrom(rate, rate);
        t.tell('room', roomTicks);
        t.tell('cap', capTicks);
        t.claim('the bucket fits', all(roomTicks >= toleranceTicks, roomTicks <= capTicks, capTicks <= LEVEL.max));
        t.claim('a wait is at most maxWait', roomTicks - toleranceTicks <= waitTicks);
        t.claim('the debt fits', capTicks >= toleranceTicks + maxDebt * emissionIntervalTicks);
        t.claim(
          'no more than the larger of both',
          any(capTicks <= toleranceTicks + waitTicks, capTicks === toleranceTicks + maxDebt * emissionIntervalTicks),
        );
        t.claim('only a limit with a wait has a queue', (lineTicks === undefined) === (roomTicks === toleranceTicks));
      },
    },
    {
      name: 'at-most',
      words:
        'A limit that is accepted with `atMost` lets at most that many tokens through in any such window, charges included.',
      formula: 'burst + maxDebt + ⌊W / T⌋ ≤ tokens',
      invariant: 'By “window”, n × T ≤ τ + maxDebt × T + W.',
      sources: ['packages/core/src/rule/at-most.ts'],
      run(t) {
        const T = t.int('T in ticks', INTERVAL);
        const burst = t.int('burst', BURST);
        const maxDebt = t.int('maxDebt', { min: 0, max: BURST.max });
        const windowTicks = t.int('W in ticks', { min: 1, max: MOST_MS * 16_000 });
        const tokens = t.int('tokens of atMost', BURST);
        const n = t.int('tokens taken in a window', TOKENS);
        t.assume(all(burst * T <= LEVEL.max / 4, maxDebt * T <= LEVEL.max / 4));
        t.assume(n * T <= (burst + maxDebt) * T + windowTicks);
        const rate = { burst, count: 1, periodMs: 1000, emissionIntervalTicks: T } as never;
        const most = burst + maxDebt + Math.floor(windowTicks / T);
        t.assume(most <= tokens);
        checkBounds('limits.Limit', rate, maxDebt, [{ tokens, windowTicks, window: '1h' }]);
        t.product(n - most - 1, T);
        t.claim('within the bound', n <= tokens);
      },
    },
    {
      name: 'at-most-rejects',
      words: 'A limit that could let more through than `atMost` is rejected when it is defined.',
      sources: ['packages/core/src/rule/at-most.ts'],
      run(t) {
        const T = t.choice('T in ticks', [1, 16, 16_000, 576_000_000] as const);
        const burst = t.int('burst', { min: 1, max: 1_000_000 });
        const windowTicks = t.int('W in ticks', { min: 1, max: 2 ** 40 });
        const tokens = t.int('tokens of atMost', { min: 1, max: 1_000_000 });
        const rate = { burst, count: 1, periodMs: 1000, emissionIntervalTicks: T } as never;
        const isWithin = burst + Math.floor(windowTicks / T) <= tokens;
        t.assume(isWithin);
        checkBounds('limits.Limit', rate, 0, [{ tokens, windowTicks, window: '1h' }]);
        t.claim('n tokens at once and then one after each T are within it', burst * T + windowTicks < (tokens + 1) * T);
      },
    },
    {
      name: 'share-leaves-room',
      words:
        'Requests with a share of the bucket never take more than it: the rest is left for others, to the nearest tick.',
      formula: 'level after ≤ round(share × τ)',
      sources: ['packages/core/src/rule/gcra.ts', 'packages/core/src/store/transaction-rule.ts'],
      assumes: ['share × τ is a real number: the rounding of this one product is left out.'],
      run(t) {
        const tolerance = t.int('τ in ticks', LEVEL);
        const share = t.real('share', { min: 0, max: 1 });
        const fitTicks = shareOf(tolerance, share);
        t.claim('between nothing and all', all(fitTicks >= 0, fitTicks <= tolerance));
        t.claim('to the nearest tick', all(fitTicks <= share * tolerance + 0.5, fitTicks >= share * tolerance - 0.5));
        const level = t.int('level in ticks', LEVEL);
        const increment = t.int('cost × T', { min: 1, max: LEVEL.max });
        t.assume(level <= 2 ** 52);
        const step = spendAt(level, 0, {
          mode: 'check-and-spend',
          incrementTicks: increment,
          fitTicks,
          capTicks: tolerance,
        });
        t.claim('the rest is left', implies(step.passed, step.after <= fitTicks));
      },
    },
    {
      name: 'share-of-whole-things',
      words: 'A share of tokens of a quota, or of slots, is rounded down to a whole one, and all of them is all.',
      sources: ['packages/core/src/rule/gcra.ts'],
      run(t) {
        const count = t.int('number', BURST);
        const hundredths = t.choice('share in hundredths', [1, 29, 50, 57, 100] as const);
        const whole = wholeShareOf(count, hundredths / 100);
        t.tell('whole share', whole);
        t.claim('rounded down', all(whole * 100 <= count * hundredths, (whole + 1) * 100 > count * hundredths));
        t.claim('all is all', implies(hundredths === 100, whole === count));
      },
    },
  ],
};
