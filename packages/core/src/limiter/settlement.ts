/** What `Limiter.settle` did at one limit of a decision. */
export interface Settlement {
  readonly limit: string;
  /** Tokens of the decision at the limit that are taken now. */
  readonly spent: number;
  /**
   * - `settled`: the true cost is taken, or as much of it as the bucket and its `maxDebt` had.
   * - `not-taken`: nothing was changed, because the decision has nothing to correct there: it was denied, or made by a
   *   failure policy, or the id is unlimited.
   * - `period-ended`: nothing was changed, because the period in which the quota was spent is over.
   * - `lost`: the store could not answer. A charge can be tried again; tokens whose refund was lost stay taken, because the
   *   store may have given them back.
   */
  readonly outcome: 'settled' | 'not-taken' | 'period-ended' | 'lost';
}

/** True costs by the names of limits. */
export type TrueCosts<Name extends string = string> = Readonly<Partial<Record<Name, number>>>;
