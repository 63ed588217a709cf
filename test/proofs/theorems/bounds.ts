import { all, any, implies, not } from '../engine/logic.ts';
import { BURST, EXACT, INTERVAL, LEVEL, TIME, TOKENS } from '../engine/ranges.ts';
import type { Part } from '../engine/theorem.ts';
import { fits, levelOf, MODES, refundAt, restrictedLevel, spendAt } from '../subjects/rule.ts';
import { BothStores } from '../subjects/stores.ts';

const IN_MEMORY = [
  'packages/core/src/store/memory/buckets.ts',
  'packages/core/src/store/memory/memory-store.ts',
  'packages/core/src/store/transaction-rule.ts',
  'packages/core/src/rule/gcra.ts',
];
/** The moment of a call, in µs: up to late 2033. */
const MICROS = { min: 1, max: Math.floor((EXACT - LEVEL.max) / 16) };
const SOURCES = ['packages/core/src/rule/gcra.ts', 'packages/core/src/store/transaction-rule.ts'];

/** What requests can take from a bucket over time. */
export const bounds: Part = {
  title: 'Over time',
  about:
    'One bucket over many calls. A window begins at s and ends at e; its length is W = e − s. Each theorem shows that one call keeps an invariant; so it is true after any number of calls.',
  theorems: [
    {
      name: 'window',
      words:
        'In any window of length W, at most `burst + W / T` tokens are taken. It is true in any order of calls and clock readings, even when the clock steps back. With charges it is `burst + maxDebt + W / T`. With sets of numbers that have the same T, `burst` is the largest of them.',
      formula: 'tokens × T ≤ largest threshold + W',
      invariant: 'taken ≤ max(TAT, s) − s, and taken ≤ the largest threshold + W',
      sources: SOURCES,
      assumes: ['The bucket is not evicted, reset or capped in the window.'],
      run(t) {
        const start = t.int('start of the window', TIME);
        const end = t.int('end of the window', TIME);
        const largest = t.int('largest threshold in ticks', LEVEL);
        const tat = t.int('TAT before the call', TIME);
        const taken = t.int('ticks taken before it in the window', { min: 0, max: EXACT });
        const now = t.int('clock reading', TIME);
        const mode = t.choice('mode', MODES);
        const increment = t.int('cost × T', LEVEL);
        const threshold = t.int('threshold of this call', LEVEL);
        t.assume(end <= EXACT - largest);
        t.assume(all(start <= now, now <= end, threshold <= largest));
        t.assume(taken <= Math.max(tat, start) - start);
        t.assume(taken <= largest + (end - start));
        const step = spendAt(tat, now, { mode, incrementTicks: increment, fitTicks: threshold, capTicks: threshold });
        const takenAfter = taken + (step.after - step.before);
        t.tell('ticks taken after it', takenAfter);
        t.tell('TAT after it', step.tat);
        t.claim('the TAT shows what was taken', takenAfter <= Math.max(step.tat, start) - start);
        t.claim('it is at most the threshold and W', takenAfter <= largest + (end - start));
        t.claim('a call never lowers a TAT', step.tat >= tat);
      },
    },
    {
      name: 'window-with-refunds',
      words: 'With refunds, the bound applies to the tokens taken minus the tokens given back.',
      formula: '(taken − given back) ≤ τ + W',
      invariant: 'taken − given back ≤ max(TAT, s) − s, and ≤ τ + W',
      sources: SOURCES,
      assumes: ['The clock does not step back before the start of the window.'],
      run(t) {
        const start = t.int('start of the window', TIME);
        const end = t.int('end of the window', TIME);
        const tolerance = t.int('τ in ticks', LEVEL);
        const tat = t.int('TAT before the refund', TIME);
        const net = t.int('ticks taken minus given back', { min: -EXACT, max: EXACT });
        const now = t.int('clock reading', TIME);
        const increment = t.int('ticks to give back', LEVEL);
        const tatAfterSpend = t.int('TAT after the decision', TIME);
        const line = t.int('level of the queue', LEVEL);
        const kind = t.choice('refund', ['named', 'of a decision', 'of a decision in a queue'] as const);
        t.assume(end <= EXACT - tolerance);
        t.assume(all(start <= now, now <= end));
        t.assume(net <= Math.max(tat, start) - start);
        t.assume(net <= tolerance + (end - start));
        const step = refundAt(tat, now, {
          incrementTicks: increment,
          tatAfterSpendTicks: kind === 'named' ? undefined : tatAfterSpend,
          lineTicks: kind === 'of a decision in a queue' ? line : undefined,
        });
        const given = step.before - step.after;
        t.tell('ticks given back', given);
        t.claim('it gives back at most what was asked', all(given >= 0, given <= increment));
        t.claim('it never fills a bucket past full', step.after >= 0);
        t.claim('the TAT shows what was taken', net - given <= Math.max(step.tat, start) - start);
        t.claim('it is at most τ and W', net - given <= tolerance + (end - start));
      },
    },
    {
      name: 'two-rates',
      words:
        'With two sets of numbers of different rates on one bucket, at most `sum of the bursts + W / smallest T` tokens are taken in any window.',
      formula: 'n ≤ burst₁ + burst₂ + W / min(T₁, T₂)',
      invariant:
        'At the last decision by the set with the smaller T, W₁ after the start, n₁ × T₁ + n₂ × T₂ ≤ τ₁ + W₁ by “window”. From then on only the other set decides, and takes m₂ × T₂ ≤ τ₂ + W₂.',
      sources: [],
      isArithmetic: true,
      assumes: ['This is the step from “window”, in ticks, to tokens. It executes no code.'],
      run(t) {
        const [small, large] = [t.int('T₁ in ticks', INTERVAL), t.int('T₂ in ticks', INTERVAL)];
        const [burst1, burst2] = [t.int('burst₁', BURST), t.int('burst₂', BURST)];
        const [n1, n2] = [t.int('n₁', TOKENS), t.int('n₂', TOKENS)];
        const m2 = t.int('m₂', TOKENS);
        const [W1, W2] = [t.int('W₁', LEVEL), t.int('W₂', LEVEL)];
        t.assume(small <= large);
        t.assume(all(burst1 * small <= LEVEL.max, burst2 * large <= LEVEL.max));
        t.assume(n1 * small + n2 * large <= burst1 * small + W1);
        t.assume(m2 * large <= burst2 * large + W2);
        t.product(m2 - burst2, large - small);
        t.claim('the tokens are within the bound', (n1 + n2 + m2) * small <= (burst1 + burst2) * small + W1 + W2);
      },
    },
    {
      name: 'denial-takes-nothing',
      words: 'A denial takes nothing. The bucket is as before, and a client that keeps trying does not wait longer.',
      sources: IN_MEMORY,
      run(t) {
        const store = new BothStores();
        store.setTime(t.int('now in µs', MICROS));
        const level = t.int('level before, in ticks', { min: 1, max: LEVEL.max });
        store.put('a', level);
        const tolerance = t.int('τ in ticks', LEVEL);
        const increment = t.int('cost × T', LEVEL);
        const mode = t.choice('mode', MODES);
        const ask = { id: 'a', mode, incrementTicks: increment, fitTicks: tolerance, capTicks: LEVEL.max } as const;
        const passed = store.memoryTakes([ask]);
        const after = store.memoryLevel('a');
        const isDenied = all(increment > tolerance - level, increment > 0);
        const canDeny = mode === 'check-and-spend' || mode === 'check-only';
        t.tell('passed', passed);
        t.tell('level after it', after);
        t.claim('exactly a check that does not fit denies', passed === not(all(canDeny, isDenied)));
        if (canDeny) t.claim('a denial leaves the level', implies(isDenied, after === level));
        if (mode === 'check-only') t.claim('a look takes nothing', after === level);
        else
          t.claim(
            'what fits is taken whole',
            implies(not(isDenied), any(after === level + increment, mode === 'charge')),
          );
        if (mode === 'spend-only')
          t.claim('what does not fit is not taken in part', implies(isDenied, after === level));
      },
    },
    {
      name: 'charge-is-capped',
      words: 'A charge takes its tokens whether they fit or not, at most up to its cap. It never lowers a level.',
      sources: SOURCES,
      run(t) {
        const cap = t.int('cap in ticks', LEVEL);
        const tat = t.int('TAT', TIME);
        const now = t.int('now', TIME);
        const increment = t.int('cost × T', LEVEL);
        t.assume(now <= EXACT - LEVEL.max);
        const step = spendAt(tat, now, { mode: 'charge', incrementTicks: increment, fitTicks: 0, capTicks: cap });
        t.tell('level before', step.before);
        t.tell('level after', step.after);
        t.claim('never lowered', step.after >= step.before);
        t.claim(
          'all of it is taken below the cap',
          implies(step.before + increment <= cap, step.after === step.before + increment),
        );
        t.claim('up to the cap', implies(all(step.before + increment > cap, step.before <= cap), step.after === cap));
        t.claim('a level above the cap stays', implies(step.before > cap, step.after === step.before));
      },
    },
    {
      name: 'restriction',
      words:
        'A restriction never raises what is left, and restricting twice is restricting once. What a restricted bucket allows next, it would have allowed without. A request of cost 1 waits at least as long as was asked.',
      formula: 'level after = max(level, (burst − remaining) × T, τ − T + wait)',
      sources: SOURCES,
      run(t) {
        const T = t.int('T in ticks', INTERVAL);
        const burst = t.int('burst', BURST);
        const tolerance = burst * T;
        const missing = t.int('burst − remaining', { min: -BURST.max, max: BURST.max });
        const wait = t.int('wait in ticks', { min: 0, max: 3600 * 16_000_000 });
        const known = t.choice('known', ['remaining', 'wait', 'both'] as const);
        const [tat, now] = [t.int('TAT', TIME), t.int('now', TIME)];
        t.assume(all(tolerance + wait <= LEVEL.max, now <= EXACT - LEVEL.max, missing <= burst));
        const to = restrictedLevel(
          { burst, emissionIntervalTicks: T, toleranceTicks: tolerance },
          {
            remaining: known === 'wait' ? undefined : burst - missing,
            waitTicks: known === 'remaining' ? undefined : wait,
          },
        );
        const ask = { mode: 'charge', incrementTicks: to, fitTicks: 0, capTicks: to } as const;
        const [once, again] = [spendAt(tat, now, ask), spendAt(spendAt(tat, now, ask).tat, now, ask)];
        t.tell('level before', once.before);
        t.tell('level after', once.after);
        t.claim('it never lowers a level', once.after >= once.before);
        t.claim('it raises it to the one asked for at most', any(once.after === once.before, once.after === to));
        t.claim('the second changes nothing', again.after === once.after);
        const later = t.int('later', TIME);
        const increment = t.int('cost × T', LEVEL);
        t.assume(all(now <= later, later <= EXACT - LEVEL.max));
        const fit = (at: number): boolean => fits(levelOf(at, later), increment, tolerance);
        t.claim('what it allows passes without it, too', implies(fit(once.tat), fit(tat)));
        if (known !== 'wait') t.claim('as many tokens are missing', once.after >= missing * T);
        if (known !== 'remaining')
          t.claim(
            'cost 1 waits for that long',
            implies(fits(levelOf(once.tat, later), T, tolerance), later - now >= wait),
          );
      },
    },
    {
      name: 'refund-never-mints',
      words:
        'The refund of a decision never makes a bucket fuller than if the decision had not been made. It may come late, and other decisions may have taken tokens meanwhile.',
      formula: 'gives back min(cost × T, max(0, TAT after the decision − now))',
      invariant:
        'Beside the bucket there is one in which the decision was not made. The bucket’s level is higher by at least what can be given back, and its TAT is at least the one after the decision.',
      sources: SOURCES,
      assumes: ['Nothing else lowers or caps the bucket meanwhile; and its clock does not step back.'],
      run(t) {
        const tolerance = t.int('τ in ticks', LEVEL);
        const now = t.int('now', TIME);
        const increment = t.int('cost × T of the decision', LEVEL);
        const other = t.int('TAT without the decision', TIME);
        t.assume(now <= EXACT - LEVEL.max);
        const step = t.choice('step', ['the decision', 'time passes', 'another decision', 'the refund'] as const);
        const ask = (incrementTicks: number) =>
          ({ mode: 'check-and-spend', incrementTicks, fitTicks: tolerance, capTicks: tolerance }) as const;
        const owed = (after: number, at: number): number => Math.min(increment, Math.max(0, after - at));
        if (step === 'the decision') {
          const made = spendAt(other, now, ask(increment));
          t.assume(made.passed);
          t.assume(increment > 0);
          t.claim('begins', levelOf(made.tat, now) - levelOf(other, now) >= owed(made.tat, now));
          return;
        }
        const after = t.int('TAT after the decision', TIME);
        const tat = t.int('TAT', TIME);
        t.assume(tat >= after);
        t.assume(levelOf(tat, now) - levelOf(other, now) >= owed(after, now));
        if (step === 'time passes') {
          const later = t.int('later', TIME);
          t.assume(all(now <= later, later <= EXACT - LEVEL.max));
          t.claim('continues', levelOf(tat, later) - levelOf(other, later) >= owed(after, later));
        } else if (step === 'another decision') {
          const size = t.int('cost × T of the other one', LEVEL);
          const [one, two] = [spendAt(tat, now, ask(size)), spendAt(other, now, ask(size))];
          t.assume(one.passed);
          t.claim('passes without the decision, too', two.passed);
          t.claim('continues', levelOf(one.tat, now) - levelOf(two.tat, now) >= owed(after, now));
          t.claim('the TAT stays above', one.tat >= after);
        } else {
          const refunded = refundAt(tat, now, { incrementTicks: increment, tatAfterSpendTicks: after });
          t.tell('level after the refund', refunded.after);
          t.tell('level without the decision', levelOf(other, now));
          t.claim('not fuller than without the decision', refunded.after >= levelOf(other, now));
          t.claim('gives back what still lies ahead', refunded.before - refunded.after === owed(after, now));
        }
      },
    },
    {
      name: 'refunds-of-two',
      words:
        'Refunds of two decisions at one instant, in any order, give everything back if no time has passed. Later, each gives back at most what still lies ahead of its own TAT, and together never more than the bucket lacks.',
      sources: SOURCES,
      run(t) {
        const now = t.int('now', TIME);
        const tat = t.int('TAT before', TIME);
        const [one, two] = [t.int('cost × T of the first', LEVEL), t.int('cost × T of the second', LEVEL)];
        const later = t.int('time of the refunds', TIME);
        const order = t.choice('order', ['first', 'last'] as const);
        t.assume(all(now <= later, later <= EXACT - LEVEL.max));
        t.assume(all(one > 0, two > 0));
        const ask = (incrementTicks: number) =>
          ({ mode: 'check-and-spend', incrementTicks, fitTicks: LEVEL.max, capTicks: LEVEL.max }) as const;
        const first = spendAt(tat, now, ask(one));
        const second = spendAt(first.tat, now, ask(two));
        t.assume(all(first.passed, second.passed));
        const refunds = [
          { incrementTicks: one, tatAfterSpendTicks: first.tat },
          { incrementTicks: two, tatAfterSpendTicks: second.tat },
        ];
        if (order === 'last') refunds.reverse();
        const half = refundAt(second.tat, later, refunds[0]!);
        const end = refundAt(half.tat, later, refunds[1]!);
        t.tell('level after the refunds', end.after);
        t.claim('at the same instant, all is given back', implies(later === now, end.after === first.before));
        t.claim('never more than was taken', half.before - end.after <= one + two);
        t.claim('not fuller than without the decisions', end.after >= levelOf(tat, later));
      },
    },
  ],
};
