import { checkNeeded, type LimitNeed, type LimitSet } from '../definitions/limit-set.ts';
import { kindOfLimit } from '../kinds/kind.ts';
import { checkUse } from './entry-calls.ts';
import type { UseInput } from './prepared-limits.ts';

/** A limit that a middleware uses, and how. */
interface NeededUse extends Pick<UseInput<never>, 'limit' | 'mode'> {
  /** Whether the cost is settled afterwards. */
  readonly settles: boolean;
}

/** What the middlewares of a limiter require of its limits. A set that does not satisfy it is rejected. */
export class NeededLimits {
  /** The highest fixed cost for each limit and share. */
  readonly #needs = new Map<string, LimitNeed>();
  /** The limits that a middleware decides together. */
  readonly #together = new Map<string, readonly NeededUse[]>();

  /**
   * Rejects a set that some middleware can't use.
   *
   * @throws {SluiceError} As {@link checkNeeded}, and `ERR_OPTION` or `ERR_DUPLICATE_BUCKET` for limits that borrow and
   * can't be decided in the mode, or together with the other limits, of a middleware.
   */
  check(set: LimitSet<never>): void {
    for (const need of this.#needs.values()) checkNeeded(set, need);
    for (const uses of this.#together.values()) checkTogether(set, uses);
  }

  /**
   * Adds the limits of one middleware.
   *
   * @param set - The limits in effect.
   * @throws {SluiceError} As {@link check}. Then none of them is added.
   */
  add(set: LimitSet<never>, uses: readonly UseInput<never>[]): void {
    const needs = uses.map(needOf);
    for (const need of needs) checkNeeded(set, need);
    const together = uses.map(({ limit, mode, settle }) => ({ limit, mode, settles: settle !== undefined }));
    checkTogether(set, together);
    for (const need of needs) this.#remember(need);
    // The name of a limit contains no colon and no comma. Middlewares that use the same limits are remembered once.
    this.#together.set(together.map(({ limit, mode, settles }) => `${limit}:${mode}:${settles}`).join(), together);
  }

  #remember(need: LimitNeed): void {
    const key = `${need.limit}:${need.share}`;
    this.#needs.set(key, { ...need, cost: Math.max(need.cost, this.#needs.get(key)?.cost ?? 0) });
  }
}

function needOf({ limit, cost, share }: UseInput<never>): LimitNeed {
  return { limit, cost: typeof cost === 'number' ? cost : 0, share: typeof share === 'number' ? share : 1 };
}

function checkTogether({ limits }: LimitSet<never>, uses: readonly NeededUse[]): void {
  const enabled = uses.filter(({ limit }) => limits.get(limit)?.disabled === false);
  for (const { limit, ...use } of enabled) checkUse(limits.get(limit)!, use);
  const together = enabled.map(({ limit, mode }) => ({ limit: limits.get(limit)!, mode }));
  for (const links of new Set(together.map(({ limit }) => kindOfLimit(limit).links))) links?.checkTogether(together);
}
