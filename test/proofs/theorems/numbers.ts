import { all, any, implies } from '../engine/logic.ts';
import { BURST, INTERVAL, LEVEL, TOKENS } from '../engine/ranges.ts';
import type { Part } from '../engine/theorem.ts';
import { checkBounds, levelsFrom, rateOf, SluiceError, ticksOf } from '../subjects/limits.ts';
import { shareOf, spendAt, wholeShareOf } from '../subjects/rule.ts';

const RATE = 'packages/core/src/rule/rate.ts';
const MOST_MS = 366 * 86_400_000;
const SMALL = { min: 1, max: 1_000_000 };

/**
 * The shortest T of rates up to 1,000, 10,000 and 100,000 per second and of all, and the part by which a rate may be higher; 0
 * where none is promised.
 */
const RATES = [
  [16_000, 10_000],
  [1600, 1000],
  [160, 100],
  [1, 0],
] as const;

/** What follows from the numbers of a limit. */
export const numbers: Part = {
  title: 'The numbers of a limit',
  about: 'From the numbers that a user writes to ticks, which is done once, when a limit is defined.',
  theorems: [
    {
      name: 'rate-as-written',
      words:
        'The rate is never below what is written, and hardly above. It is higher by at most 0.01 % up to 1,000 per second, 0.1 % up to 10,000 per second and 1 % up to 100,000 per second.',
      formula: 'count × T ≤ period ≤ count × T × (1 + 0.0001)',
      sources: [RATE, 'packages/core/src/rule/duration.ts'],
      assumes: [
        'The period is a number of whole milliseconds, from 1,000 up, or whole microseconds, from 1 ms up. That a text becomes its microseconds is tested.',
        'The burst is 1.',
      ],
      run(t) {
        const [shortest, part] = t.choice('shortest T and part above', RATES);
        const count = t.int('count', BURST);
        const written = t.choice('period', ['a number of ms', 'in µs'] as const);
        const micros =
          written === 'in µs'
            ? t.int('period in µs', { min: 1000, max: 1000 * MOST_MS })
            : 1000 * t.int('period in ms', { min: 1000, max: MOST_MS });
        const ticks = 16 * micros;
        t.assume(count * shortest <= ticks);
        const { emissionIntervalTicks: T, toleranceTicks } =
          written === 'in µs'
            ? ticksOf('limits.Limit', { burst: 1, count, periodTicks: ticks })
            : rateOf('limits.Limit', { burst: 1, count, period: micros / 1000 });
        t.tell('T in ticks', T);
        t.product(T - shortest, count);
        t.claim('never below', all(T >= 1, T * count <= ticks));
        t.claim('less than a tick below it for each token', (T + 1) * count > ticks);
        if (part > 0) t.claim('not much above', (ticks - T * count) * part <= T * count);
        t.claim('τ of a burst of 1 is T', toleranceTicks === T);
      },
    },
    {
      name: 'levels-of-a-limit',
      words:
        'A request fits up to an empty bucket and the longest wait more. A charge goes up to the debt or that wait. Both are at most ten years.',
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
        const { fitTicks, capTicks, lineTicks } = levelsFrom(rate, rate);
        t.tell('room', fitTicks);
        t.tell('cap', capTicks);
        t.claim('the bucket fits', all(fitTicks >= toleranceTicks, fitTicks <= capTicks, capTicks <= LEVEL.max));
        t.claim('a wait is at most maxWait', fitTicks - toleranceTicks <= waitTicks);
        t.claim('the debt fits', capTicks >= toleranceTicks + maxDebt * emissionIntervalTicks);
        t.claim(
          'no more than the larger of both',
          any(capTicks <= toleranceTicks + waitTicks, capTicks === toleranceTicks + maxDebt * emissionIntervalTicks),
        );
        t.claim('only a limit with a wait has a queue', (lineTicks === undefined) === (fitTicks === toleranceTicks));
      },
    },
    {
      name: 'at-most',
      words:
        'A limit that is accepted with `atMost` lets at most that many tokens through in any such window. Charges are included. A limit that could let more through is rejected when it is defined.',
      formula: 'accepted ⇔ no n > tokens with (n − burst − maxDebt) × T ≤ W',
      invariant:
        'By “window”, n × T ≤ τ + maxDebt × T + W; and so many pass: the burst and the debt at once, then one after each T.',
      sources: ['packages/core/src/rule/at-most.ts'],
      assumes: ['T is 1 tick or 1/7 s, and at most a million tokens are in question: the code only divides by T.'],
      run(t) {
        const T = t.choice('T in ticks', [1, 2_285_714] as const);
        const burst = t.int('burst', SMALL);
        const maxDebt = t.int('maxDebt', { min: 0, max: SMALL.max });
        const windowTicks = t.int('W in ticks', { min: 16_000, max: MOST_MS * 16_000 });
        const tokens = t.int('tokens of atMost', SMALL);
        const n = t.int('tokens taken in a window', TOKENS);
        const isPossible = (n - burst - maxDebt) * T <= windowTicks;
        const accepts = isAccepted({ T, burst, maxDebt }, { tokens, windowTicks });
        t.tell('accepted', accepts);
        if (accepts) t.claim('no more pass', implies(isPossible, n <= tokens));
        else t.claim('one more passes', (tokens + 1 - burst - maxDebt) * T <= windowTicks);
      },
    },
    {
      name: 'share-leaves-room',
      words:
        'Requests with a share of the bucket never take more than it. The rest is left for others, to the nearest tick.',
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
      words: 'A share of tokens of a quota, or of slots, is rounded down to a whole one. All of them is all.',
      sources: ['packages/core/src/rule/gcra.ts'],
      assumes: ['The share is 0.01, 0.29, 0.5, 0.57 or 1.'],
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

/** Whether a limit with these numbers can be defined. */
function isAccepted(
  { T, burst, maxDebt }: { readonly T: number; readonly burst: number; readonly maxDebt: number },
  { tokens, windowTicks }: { readonly tokens: number; readonly windowTicks: number },
): boolean {
  // Count and period only matter to what the message suggests.
  const rate = { burst, count: 0, periodMs: 0, emissionIntervalTicks: T } as never;
  try {
    checkBounds('limits.Limit', rate, maxDebt, [{ tokens, windowTicks, window: '1h' }]);
    return true;
  } catch (error) {
    if (error instanceof SluiceError && error.code === 'ERR_LIMIT') return false;
    throw error;
  }
}
