import type { Limit, OverrideRate } from '../limits/limit.ts';
import type { LimitSet } from './limit-set.ts';
import type { LimitOverrides } from './overrides/limit-overrides.ts';
import { overridesOf } from './overrides/override-list.ts';
import { asStored, ceilingsOf, ceilingRateOf } from '../kinds/borrow/pools.ts';

/** The numbers of a limit for some ids, before and after a change. */
export interface NumbersChange {
  /** The limit before the change, with the levels that its buckets had in stores. */
  readonly limit: Limit<never>;
  /** An id with an override of its own, before or after the change. Undefined: all other ids of the limit. */
  readonly id: string | undefined;
  readonly before: OverrideRate;
  readonly after: OverrideRate;
}

/** The numbers of a limit on one side of a change. */
interface Side {
  readonly limit: Limit<never>;
  readonly overrides: LimitOverrides | undefined;
}

/**
 * Compares the numbers of each limit that is in both sets: those of the limit, of its networks and of first parts of ids,
 * then those of single ids. An id that has the same override as before gives `undefined`, so that the caller can pause. A
 * set with an overrides function has no numbers to compare.
 */
export function* changedNumbers(
  before: LimitSet<never>,
  after: LimitSet<never>,
): Generator<NumbersChange | undefined, void> {
  if (before.listed === undefined || after.listed === undefined) return;
  for (const [name, limit] of before.limits) {
    const changed = after.limits.get(name);
    // Only the debt of a rate is a time. The debt of a quota ends with the period, and slots are released.
    if (changed === undefined || limit.kind.level !== 'falls' || changed.kind.level !== 'falls') continue;
    const was: Side = { limit: asStored(limit, before.limits), overrides: overridesOf(before.listed, name) };
    const is: Side = { limit: changed, overrides: overridesOf(after.listed, name) };
    for (const change of changesOf(was, is)) {
      yield change;
      if (change !== undefined) yield* changedCeiling(change, changed);
    }
  }
}

function* changesOf(was: Side, is: Side): Generator<NumbersChange | undefined> {
  yield { limit: was.limit, id: undefined, before: was.limit.rate, after: is.limit.rate };
  if (was.overrides === is.overrides) return;
  yield* changedGroups(was, is);
  yield* changedIds(was, is);
}

/** The ceilings of a limit that borrows have buckets of their own. */
function* changedCeiling({ limit: was, id, before, after }: NumbersChange, is: Limit<never>): Generator<NumbersChange> {
  const ceilings = ceilingsOf(was);
  if (ceilings === undefined || ceilingsOf(is) === undefined) return;
  yield { limit: ceilings, id, before: ceilingRateOf(was, before), after: ceilingRateOf(is, after) };
}

function* changedGroups(was: Side, is: Side): Generator<NumbersChange> {
  const [old, current] = [was.overrides, is.overrides];
  const change = { limit: was.limit, id: undefined };
  for (const [before, after = is.limit.rate] of old?.groupsBeside(current) ?? []) yield { ...change, before, after };
  for (const [after, before = was.limit.rate] of current?.groupsBeside(old) ?? []) yield { ...change, before, after };
}

function* changedIds(was: Side, is: Side): Generator<NumbersChange | undefined> {
  const { limit } = was;
  for (const [id, before] of was.overrides?.ids ?? []) {
    const after = is.overrides?.ids.get(id);
    yield after !== undefined && areEqual(before, after) ? undefined : { limit, id, before, after: rateOf(is, id) };
  }
  for (const id of is.overrides?.ids.keys() ?? []) {
    const isNew = was.overrides?.ids.has(id) !== true;
    yield isNew ? { limit, id, before: rateOf(was, id), after: rateOf(is, id) } : undefined;
  }
}

function rateOf({ limit, overrides }: Side, id: string): OverrideRate {
  return overrides?.rateOf(id) ?? limit.rate;
}

function areEqual(one: OverrideRate, other: OverrideRate): boolean {
  if (typeof one === 'string' || typeof other === 'string') return one === other;
  return one.emissionIntervalTicks === other.emissionIntervalTicks && one.burst === other.burst;
}
