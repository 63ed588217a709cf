// The room deciding: what a request spends, checks, charges and refunds.
import type { Awaitable, BucketState, Decision, Limiter, SluiceError } from '@sluice/core';
import { changes, combined, type BucketUse, type Use } from './use.ts';

/** The outcome of the uses of one request. */
export interface UsesDecided {
  /** The decision of what spends and checks; null if nothing does. */
  readonly decision: Decision | null;
  /** The decision of what is in shadow mode; null if nothing is. */
  readonly shadow: Decision | null;
  /** The buckets that were charged and refunded. Buckets of unlimited and blocked ids are left out. */
  readonly changed: readonly BucketState[];
  /** The buckets whose cost can never fit, so that waiting does not help. The request is denied. */
  readonly tooLarge: readonly BucketUse[];
}

/**
 * Carries out the uses of one request. What spends and checks is one decision, all or nothing. Charges, refunds and uses in
 * shadow mode are done whatever comes of it. What changes buckets comes after the decision, which does not depend on it.
 *
 * Returns a value for what only spends, if the store answers at once.
 */
export function decideUses(limiter: Limiter, uses: readonly Use[]): Awaitable<UsesDecided> {
  if (!uses.every(isPlain)) return decideMixed(limiter, uses);
  return limiter.store.traits?.answersAtOnce === true ? spentAtOnce(limiter, uses) : spent(limiter, uses);
}

function isPlain({ kind, shadow }: Use): boolean {
  return kind === 'spend' && !shadow;
}

async function decideMixed(limiter: Limiter, uses: readonly Use[]): Promise<UsesDecided> {
  const of = (kinds: readonly Use['kind'][], shadow: boolean): readonly Use[] =>
    uses.filter((use) => kinds.includes(use.kind) && use.shadow === shadow);
  const spending = Promise.all([
    spent(limiter, of(['spend', 'check'], false)),
    spent(limiter, of(['spend', 'check'], true)),
  ]);
  // Usage is taken even if the decision fails.
  await spending.catch(ignore);
  const { charges, refunds } = changes(uses);
  const [charged, refunded] = await Promise.all([
    charges.length === 0 ? NONE : limiter.charge(charges),
    refunds.length === 0 ? NONE : limiter.refund(refunds),
  ]);
  const [decided, inShadow] = await spending;
  return { ...decided, shadow: inShadow.decision, changed: [...charged, ...refunded] };
}

function ignore(): void {}

const NONE: readonly never[] = [];
const NOTHING: UsesDecided = { decision: null, shadow: null, changed: NONE, tooLarge: NONE };

function spentAtOnce(limiter: Limiter, uses: readonly Use[]): Awaitable<UsesDecided> {
  if (uses.length === 0) return NOTHING;
  const batch = combined(uses);
  try {
    return decidedBy(limiter.spendSync(batch));
  } catch (error) {
    if (!isTooLarge(error)) throw error;
    return withoutTooLarge(limiter, batch);
  }
}

async function spent(limiter: Limiter, uses: readonly Use[]): Promise<UsesDecided> {
  if (uses.length === 0) return NOTHING;
  const batch = combined(uses);
  try {
    return decidedBy(await limiter.spend(batch));
  } catch (error) {
    if (!isTooLarge(error)) throw error;
    return withoutTooLarge(limiter, batch);
  }
}

function decidedBy(decision: Decision): UsesDecided {
  return { decision, shadow: null, changed: NONE, tooLarge: NONE };
}

/** A cost above the burst of its bucket denies the request. What the others would do is shown, and nothing is taken. */
async function withoutTooLarge(limiter: Limiter, batch: readonly BucketUse[]): Promise<UsesDecided> {
  const fit = await Promise.all(
    batch.map((use) =>
      limiter.check([use]).then(
        () => true,
        (error: unknown) => !isTooLarge(error),
      ),
    ),
  );
  const others = batch.filter((_, i) => fit[i]);
  return {
    ...NOTHING,
    decision: others.length === 0 ? null : await limiter.check(others),
    tooLarge: batch.filter((_, i) => !fit[i]),
  };
}

function isTooLarge(error: unknown): boolean {
  return (error as SluiceError).code === 'ERR_COST_OVER_BURST';
}
