import { accountId, createLimiter, memoryStore, type Limiter } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { expect, test } from 'vitest';
import { sized } from '../sized.ts';

/** Numbers of which one burst, or one debt, fills the time of many others. */
interface Numbers {
  readonly intervalMs: number;
  readonly burst: number;
  readonly maxDebt: number;
}

const ALL: readonly Numbers[] = [1000, 60_000, 3_600_000].flatMap((intervalMs) =>
  [1, 10, 100].flatMap((burst) => [0, 20].map((maxDebt) => ({ intervalMs, burst, maxDebt }))),
);
/** What is taken of a limit before the next one replaces it. */
const USES = ['nothing', 'a token', 'all'] as const;
type Use = (typeof USES)[number];

/** What clients owe, and to which numbers: a limiter finds only the sum in its store. */
class Truth {
  /** The milliseconds that are owed, by the emission interval of the numbers that they were taken from. */
  #owed = new Map<number, number>();

  get levelMs(): number {
    return sum(this.#owed.values());
  }

  take(numbers: Numbers, tokens: number): void {
    this.#add(numbers, tokens * numbers.intervalMs);
  }

  charge(numbers: Numbers): void {
    this.#add(numbers, Math.max(0, longestMs(numbers) - this.levelMs));
  }

  /** Forgives what is owed to slower numbers, beyond an empty bucket of these: the raise that takes effect at once. */
  replace(numbers: Numbers): void {
    const slower = this.#owedTo((intervalMs) => intervalMs > numbers.intervalMs);
    const others = this.levelMs - slower;
    const left = Math.min(slower, Math.max(0, longestMs(numbers) - others));
    if (left === slower) return;
    this.#owed = new Map([...this.#owed].filter(([intervalMs]) => intervalMs <= numbers.intervalMs));
    this.#add(numbers, left);
  }

  #owedTo(isChosen: (intervalMs: number) => boolean): number {
    return sum([...this.#owed].map(([intervalMs, ms]) => (isChosen(intervalMs) ? ms : 0)));
  }

  #add({ intervalMs }: Numbers, ms: number): void {
    this.#owed.set(intervalMs, (this.#owed.get(intervalMs) ?? 0) + ms);
  }
}

const sum = (all: Iterable<number>): number => [...all].reduce((a, b) => a + b, 0);
const longestMs = ({ intervalMs, burst, maxDebt }: Numbers): number => (burst + maxDebt) * intervalMs;
const cost = (tokens: number) => [{ limit: 'Orders' as const, id: '7', cost: tokens }];
const setOf = ({ intervalMs, ...numbers }: Numbers) => ({
  limits: { Orders: { key: accountId(), ...numbers, count: 1, period: intervalMs } },
});

/** Takes tokens at one instant. @returns How many. */
async function taken(limiter: Limiter, numbers: Numbers, use: Use): Promise<number> {
  if (use === 'nothing') return 0;
  const { remaining } = limiter.checkSync(cost(0));
  const tokens = use === 'all' ? remaining : Math.min(1, remaining);
  if (tokens > 0) limiter.spendSync(cost(tokens));
  if (use === 'all' && numbers.maxDebt > 0) await limiter.charge(cost(1000));
  return tokens;
}

interface Seen {
  readonly sets: readonly Numbers[];
  readonly uses: readonly Use[];
  readonly passed: readonly number[];
  readonly levelMs: number;
  readonly trueMs: number;
}

/** Uses one set of numbers after another at one instant. */
async function inTurn(sets: readonly Numbers[], uses: readonly Use[]): Promise<Seen> {
  const time = new FakeTime();
  const limiter = createLimiter({ ...setOf(sets[0]!), store: memoryStore({ time }), time, log: false });
  const truth = new Truth();
  const passed: number[] = [];
  for (const [i, numbers] of sets.entries()) {
    if (i > 0) limiter.replace(setOf(numbers));
    if (uses[i] === 'nothing') {
      passed.push(0);
      continue;
    }
    if (i > 0) truth.replace(numbers);
    const tokens = await taken(limiter, numbers, uses[i]!);
    truth.take(numbers, tokens);
    if (uses[i] === 'all' && numbers.maxDebt > 0) truth.charge(numbers);
    passed.push(tokens);
  }
  const last = sets.at(-1)!;
  truth.replace(last);
  const { resetAfterMs: levelMs } = limiter.checkSync(cost(0));
  return { sets, uses, passed, levelMs, trueMs: truth.levelMs };
}

/** What is wrong, if anything is. */
function faultOf({ sets, passed, levelMs, trueMs }: Seen): string | undefined {
  const last = sets.at(-1)!;
  const fast = sets.filter(({ intervalMs }) => intervalMs <= last.intervalMs);
  if (levelMs < trueMs) return `${trueMs - levelMs} ms of what is owed to numbers at least as fast are forgiven`;
  const mostMs = Math.max(trueMs, ...fast.map(longestMs));
  if (levelMs > mostMs) return `a wait of ${levelMs - mostMs} ms for a debt of slower numbers`;
  const most = mostTokens(sets);
  return sum(passed) > most ? `${sum(passed)} tokens pass at one instant, of ${most}` : undefined;
}

/** The largest burst of each rate. After a raise that was rolled back, what it has forgiven can be spent once more. */
function mostTokens(sets: readonly Numbers[]): number {
  const largest = new Map<number, number>();
  for (const { intervalMs, burst } of sets) largest.set(intervalMs, Math.max(burst, largest.get(intervalMs) ?? 0));
  const [first, second, third] = sets.map(({ intervalMs }) => intervalMs);
  const forgiven = second! < first! && third! > second! ? sets[0]!.burst : 0;
  return sum(largest.values()) + forgiven;
}

const seconds = ALL.filter((_, i) => i % sized(3, 1) === 0);

test.each(ALL)(
  'in sequences of three sets, a debt is cut exactly when it is from slower numbers: burst $burst, a token in $intervalMs ms, debt $maxDebt',
  async (first) => {
    const faults: unknown[] = [];
    for (const second of seconds)
      for (const third of ALL)
        for (const before of USES)
          for (const between of USES) {
            const seen = await inTurn([first, second, third], [before, between, 'all']);
            const fault = faultOf(seen);
            if (fault !== undefined) faults.push({ fault, ...seen });
          }
    expect(faults).toEqual([]);
  },
);
