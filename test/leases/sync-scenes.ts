// What may happen to three buckets that two processes with leases share with others.
import fc from 'fast-check';

const TEN_YEARS_TICKS = 3652.5 * 86_400 * 16_000_000;
const LONGEST_INTERVAL_TICKS = 36 * 16_000_000;

export const KEYS = 3;
export const PROCESSES = 2;

/** From 0 to 1, all equally often. */
const part = fc.noBias(fc.nat(1_000_000)).map((millionths) => millionths / 1_000_000);

/** The numbers of a limit, in ticks. */
export interface LeasedNumbers {
  readonly intervalTicks: number;
  readonly burst: number;
  readonly fitTicks: number;
  readonly capTicks: number;
}

const interval = fc.oneof(
  fc.constantFrom(1, 2, 16, LONGEST_INTERVAL_TICKS),
  fc.integer({ min: 1, max: 1000 }),
  fc.integer({ min: 1, max: LONGEST_INTERVAL_TICKS }),
);

const numbers: fc.Arbitrary<LeasedNumbers> = interval.chain((intervalTicks) => {
  const longest = Math.floor(TEN_YEARS_TICKS / 2 / intervalTicks);
  return fc
    .record({
      burst: fc.oneof(
        fc.integer({ min: 1, max: Math.min(50, longest) }),
        fc.integer({ min: 1, max: Math.min(1_000_000, longest) }),
        fc.constant(Math.min(1_000_000_000, longest)),
      ),
      over: part,
    })
    .map(({ burst, over }) => {
      const fitTicks = burst * intervalTicks;
      return { intervalTicks, burst, fitTicks, capTicks: fitTicks + Math.floor(over * fitTicks) };
    });
});

/** A part of the burst, mostly a small one. */
const share = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(0, 0, 0.1, 0.5, 1) },
  { weight: 3, arbitrary: part.map((each) => each ** 2) },
);

const entry = fc.record({
  key: fc.nat(KEYS - 1),
  numbers: fc.constantFrom(0, 0, 0, 1),
  charge: share,
  /** How long ago the charged decisions were made, as a part of what they charge. */
  age: fc.constantFrom(0, 0.1, 0.9, 1.5),
  back: share,
  /** Not a whole number of tokens. */
  odd: fc.boolean(),
  want: share,
  floor: fc.constantFrom('last', 'last', 'last', 'none', 'above', 'below', 'now', 'soon'),
  lost: fc.constantFrom(false, false, false, true),
});
export type SceneEntry = typeof entry extends fc.Arbitrary<infer T> ? T : never;

const sync = fc.record({
  kind: fc.constant('sync' as const),
  process: fc.nat(PROCESSES - 1),
  entries: fc.uniqueArray(entry, { minLength: 0, maxLength: KEYS, size: 'max', selector: ({ key }) => key }),
  /** Whether the script comes too late to lease, and to write at all. */
  late: fc.constantFrom('no', 'no', 'no', 'just not', 'just', 'expired'),
  /** Whether the process does not know the last sync that was answered. */
  forgets: fc.constantFrom(false, false, false, true),
  lifeMs: fc.constantFrom(1, 1000, 600_000),
});

const strict = fc.record({
  kind: fc.constant('strict' as const),
  call: fc.constantFrom('spend', 'spend', 'spend', 'charge', 'refund', 'refund of a decision', 'cap', 'reset'),
  mode: fc.constantFrom('check-and-spend', 'check-and-spend', 'spend-only', 'check-only', 'charge'),
  key: fc.nat(KEYS - 1),
  numbers: fc.constantFrom(0, 0, 0, 1),
  share,
});
export type StrictStep = typeof strict extends fc.Arbitrary<infer T> ? T : never;

const action = fc.oneof(
  { weight: 8, arbitrary: sync },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('repeat' as const), process: fc.nat(PROCESSES - 1), ago: fc.nat(2) }),
  },
  { weight: 5, arbitrary: strict },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), key: fc.nat(KEYS + PROCESSES - 1) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('flush' as const, 'save' as const, 'restore' as const) }) },
);
export type SceneSync = typeof sync extends fc.Arbitrary<infer T> ? T : never;

const step = fc.record({
  /** How the clock moves before: on or back by a part of the time in which a bucket fills, or to the expiry of a key. */
  move: fc.constantFrom(
    'none',
    'none',
    'none',
    'on',
    'on',
    'a little',
    'second',
    'expiry',
    'just before',
    'back',
    'back',
  ),
  by: part,
  action: fc.noBias(action),
});
export type SceneStep = typeof step extends fc.Arbitrary<infer T> ? T : never;

export const scenes = fc.record({
  numbers: fc.tuple(numbers, numbers),
  /** Whether it is 2026, or as late as the ticks of these numbers allow. */
  isLate: fc.constantFrom(false, false, false, true),
  steps: fc.array(step, { minLength: 5, maxLength: 25, size: 'max' }),
});
export type Scene = typeof scenes extends fc.Arbitrary<infer T> ? T : never;
