import { all, any } from '../engine/logic.ts';
import type { Part, Scenario } from '../engine/theorem.ts';

const TIME = { min: 0, max: 2 ** 53 };
const TICKS = { min: 0, max: 2 ** 52 };

/** What is kept of one process. The other one is the rest. */
interface Process {
  /** What it let through and has not charged: at most o, by “overdraft”. */
  uncharged: number;
  /** What it let through since the base, charged or not. */
  since: number;
  /** Whether its view is newer than the base. */
  isNewer: boolean;
  /** The TAT of its view. */
  view: number;
  /** What the other one let through since that view. */
  others: number;
  /** Whether the other one has synced since that view. */
  hasOtherSynced: boolean;
}

interface State {
  now: number;
  tat: number;
  /** The TAT in the view of the last overdraft that rests on the newest view, or at the last grant if that is newer. */
  base: number;
  readonly processes: readonly [Process, Process];
}

/** max(one, now) + more ≤ max(other, now) + least, as one condition. */
function isWithin(one: number, now: number, more: number, other: number, least: number): boolean {
  const below = (most: number): boolean => all(one + more <= most, now + more <= most);
  return any(below(other + least), below(now + least));
}

function invariantOf({ now, tat, base, processes }: State, tolerance: number, most: number): boolean {
  const [one, two] = processes;
  const uncharged = one.uncharged + two.uncharged;
  const each = (self: Process, other: Process): readonly boolean[] => [
    // What is uncharged is since the base, and at most o.
    all(self.uncharged >= 0, self.uncharged <= self.since, self.since <= most),
    ...(self.isNewer ? ofNewer(self, other) : [self.since === self.uncharged]),
  ];
  const ofNewer = (self: Process, other: Process): readonly boolean[] => [
    isWithin(tat, now, uncharged, self.view, self.uncharged + self.others),
    all(other.uncharged <= self.others, self.others <= most),
    // A process that has synced since has a newer view, and has let nothing through by it.
    self.hasOtherSynced
      ? all(other.uncharged === 0, other.isNewer, !other.hasOtherSynced)
      : self.others === other.uncharged,
  ];
  return all(
    isWithin(tat, now, uncharged, base, one.since + two.since),
    base <= now + tolerance,
    ...each(one, two),
    ...each(two, one),
  );
}

/** Whose views are newer than the base; and if both are, which of the two has synced since the view of the other. */
const VIEWS = [
  { newer: [], older: undefined },
  { newer: [0], older: undefined },
  { newer: [1], older: undefined },
  { newer: [0, 1], older: undefined },
  { newer: [0, 1], older: 0 },
  { newer: [0, 1], older: 1 },
] as const satisfies readonly { readonly newer: readonly number[]; readonly older: number | undefined }[];

function processesOf(t: Scenario): readonly [Process, Process] {
  const { newer, older } = t.choice<(typeof VIEWS)[number]>('views', VIEWS);
  const processOf = (name: string, place: number): Process => ({
    uncharged: t.int(`uncharged of ${name}`, TICKS),
    since: t.int(`let through by ${name} since the base`, TICKS),
    isNewer: (newer as readonly number[]).includes(place),
    view: t.int(`view of ${name}`, TIME),
    others: t.int(`let through by the other since the view of ${name}`, TICKS),
    hasOtherSynced: older === place,
  });
  return [processOf('the first process', 0), processOf('the second process', 1)];
}

/** The first process lets something through beyond its leases. */
function overdraft(state: State, ticks: number): void {
  const [one, two] = state.processes;
  if (one.isNewer) {
    // Its view becomes the base.
    state.base = one.view;
    one.since = one.uncharged;
    two.since = one.others;
    if (!one.hasOtherSynced) forgetView(two);
    forgetView(one);
  }
  one.uncharged += ticks;
  one.since += ticks;
  if (two.isNewer) two.others += ticks;
}

/** The first process charges what it let through, and sees the TAT. */
function sync(state: State): void {
  const [one, two] = state.processes;
  state.tat = Math.max(state.tat, state.now) + one.uncharged;
  one.uncharged = 0;
  one.isNewer = true;
  one.view = state.tat;
  one.others = two.uncharged;
  one.hasOtherSynced = false;
  if (two.isNewer) two.hasOtherSynced = true;
}

/** Redis leases tokens. The TAT after it becomes the base. */
function grant(state: State, ticks: number): void {
  state.tat = Math.max(state.tat, state.now) + ticks;
  state.base = state.tat;
  for (const each of state.processes) {
    each.since = each.uncharged;
    forgetView(each);
  }
}

/** A view that is not newer than the base. */
function forgetView(process: Process): void {
  process.isNewer = false;
  process.hasOtherSynced = false;
}

/** How many processes that lease stay within a bound. */
export const processes: Part = {
  title: 'The bound of many processes',
  about:
    'An abstract model of processes that share a bucket by leases. Its steps are the theorems about leases: an overdraft is at most o and within the view (“overdraft”), a sync charges all of it (“deferred-charge”), a grant is within the limit (“grant-within-limit”), and a return leaves the bucket as if the lease had been smaller (“lapsed-lease”).',
  theorems: [
    {
      name: 'composed-bound',
      words:
        'The TAT and all that processes have not charged is never more than one overdraft of each beyond the limit. It is true in any order of decisions, syncs, grants, returns and refunds. With leases, at most `N × o + life / T` tokens more than the limit pass in any window.',
      formula: 'max(TAT, now) + Σ uncharged ≤ now + τ + N × o × T',
      invariant:
        'There is a base, a TAT within the limit. Since it was seen, each process has let through at most o; who has a view that is newer than the base has not used it yet.',
      sources: [],
      isArithmetic: true,
      assumes: [
        'Two processes. For N, the same invariant is true for each process and the others one by one; that step is by hand.',
        'Redis loses no data, and the failure policy of the limit is `closed`.',
      ],
      run(t) {
        const tolerance = t.int('τ in ticks', TICKS);
        const most = t.int('o × T', TICKS);
        const step = t.choice('step', [
          'time passes',
          'an overdraft',
          'a sync',
          'a grant',
          'a return or refund',
        ] as const);
        const state: State = {
          now: t.int('now', TIME),
          tat: t.int('TAT', TIME),
          base: t.int('base', TIME),
          processes: processesOf(t),
        };
        t.assume(invariantOf(state, tolerance, most));
        const [one, two] = state.processes;
        t.claim(
          'within the bound',
          isWithin(state.tat, state.now, one.uncharged + two.uncharged, state.now, tolerance + 2 * most),
        );
        const ticks = t.int('ticks of the step', TICKS);
        if (step === 'time passes') state.now += ticks;
        else if (step === 'a sync') sync(state);
        else if (step === 'a return or refund') state.tat -= ticks;
        else if (step === 'a grant') {
          grant(state, ticks);
          t.assume(state.tat <= state.now + tolerance);
        } else {
          t.assume(all(one.uncharged + ticks <= most, ticks <= tolerance));
          if (one.isNewer) t.assume(one.view + ticks <= state.now + tolerance);
          overdraft(state, ticks);
        }
        t.claim('the invariant is true after the step', invariantOf(state, tolerance, most));
      },
    },
    {
      name: 'bound-in-tokens',
      words:
        'What a window takes entered the TAT at most the life of a lease before it. So follows the bound in tokens from the bound on the TAT.',
      formula: 'tokens × T ≤ τ + W + N × o × T + life',
      sources: [],
      isArithmetic: true,
      run(t) {
        const [tolerance, allOverdrafts, life] = [
          t.int('τ in ticks', TICKS),
          t.int('N × o × T', TICKS),
          t.int('life of a lease', TICKS),
        ];
        const [start, end] = [t.int('start of the window', TIME), t.int('end of the window', TIME)];
        const total = t.int('TAT and uncharged at the end', { min: 0, max: 2 ** 54 });
        const taken = t.int('ticks taken in the window', { min: 0, max: 2 ** 54 });
        t.assume(all(start <= end, total <= end + tolerance + allOverdrafts));
        // All of it raised the TAT above the time before the window.
        t.assume(start - life + taken <= total);
        t.claim('within the bound', taken <= tolerance + (end - start) + allOverdrafts + life);
      },
    },
  ],
};
