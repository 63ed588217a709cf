// The room deciding: what a request spends, checks, charges and refunds.
import type { Awaitable, BucketState, Decision, Limiter } from '@sluice/core';
import { changes, combined, type RequestUse } from './use.ts';

/** The outcome of the uses of one request. */
export interface UsesDecided {
  /** The decision of what spends and checks; null if nothing does. */
  readonly decision: Decision | null;
  /** The decision of what is in shadow mode; null if nothing is. */
  readonly shadow: Decision | null;
  /** The buckets that were charged and refunded. Buckets of unlimited and blocked ids are left out. */
  readonly changed: readonly BucketState[];
}

/**
 * Carries out the uses of one request. What spends and checks is one decision, all or nothing. Charges, refunds and uses in
 * shadow mode are done whatever comes of it. What changes buckets comes after the decision, which does not depend on it.
 *
 * Returns a value for what only spends, if the store answers at once.
 *
 * @param limiter - Made by `createDataLimiter`: a cost above the burst of its bucket is a denial.
 * @param within - For how many milliseconds the proxy still waits. Default: it waits.
 */
export function decideUses(limiter: Limiter, uses: readonly RequestUse[], within?: number): Awaitable<UsesDecided> {
  if (!uses.every(isPlain)) return decideMixed(limiter, uses, within);
  if (uses.length === 0) return NOTHING;
  const batch = combined(uses);
  const options = within === undefined ? undefined : { within };
  return limiter.store.traits?.answersAtOnce === true
    ? { ...NOTHING, decision: limiter.spendSync(batch, options) }
    : limiter.spend(batch, options).then((decision) => ({ ...NOTHING, decision }));
}

function isPlain({ kind, shadow }: RequestUse): boolean {
  return kind === 'spend' && !shadow;
}

const NONE: readonly never[] = [];
const NOTHING: UsesDecided = { decision: null, shadow: null, changed: NONE };

async function decideMixed(limiter: Limiter, uses: readonly RequestUse[], within?: number): Promise<UsesDecided> {
  const decide = async (inShadow: boolean): Promise<Decision | null> => {
    const asked = uses.filter(({ kind, shadow }) => (kind === 'spend' || kind === 'check') && shadow === inShadow);
    return asked.length === 0 ? null : limiter.spend(combined(asked), { shadow: inShadow, within });
  };
  const deciding = Promise.all([decide(false), decide(true)]);
  // Usage is taken even if the decision fails.
  await deciding.catch(ignore);
  const { charges, refunds } = changes(uses);
  const [charged, refunded] = await Promise.all([
    charges.length === 0 ? NONE : limiter.charge(charges),
    refunds.length === 0 ? NONE : limiter.refund(refunds),
  ]);
  const [decision, shadow] = await deciding;
  return { decision, shadow, changed: [...charged, ...refunded] };
}

function ignore(): void {}
