/** One bucket that a request takes part of, or gives back to. */
export interface RequestUse {
  readonly limit: string;
  /** Canonical. */
  readonly id: string;
  /** Tokens, at least 1. */
  readonly cost: number;
  /**
   * `spend`: take the tokens if all fit. `check`: look whether they would fit. `charge`: take them in any case. `refund`:
   * give them back.
   */
  readonly kind: 'spend' | 'check' | 'charge' | 'refund';
  /** Whether it only counts what it would deny. */
  readonly shadow: boolean;
}

/** Uses of one bucket, which a batch may have only once. */
export interface BucketUse {
  readonly limit: string;
  readonly id: string;
  readonly cost: number;
  readonly mode: 'check-and-spend' | 'check-only';
}

/** Combines uses of equal buckets: what they take together must fit, and the largest of what they only look for. */
export function combined(uses: readonly RequestUse[]): readonly BucketUse[] {
  if (uses.length === 1) return [bucketUse(uses[0]!)];
  const buckets = new Map<string, BucketUse>();
  for (const use of uses) {
    const name = `${use.limit} ${use.id}`;
    const first = buckets.get(name);
    buckets.set(name, first === undefined ? bucketUse(use) : both(first, bucketUse(use)));
  }
  return [...buckets.values()];
}

/** Of several uses of one bucket keeps the one that takes most: the rules of a table are about one request. */
export function withLargestCosts(uses: readonly RequestUse[]): readonly RequestUse[] {
  if (uses.length < 2) return uses;
  const largest = new Map<string, RequestUse>();
  for (const use of uses) {
    const name = `${use.shadow} ${use.limit} ${use.id}`;
    const known = largest.get(name);
    if (known === undefined || known.cost < use.cost) largest.set(name, use);
  }
  return largest.size === uses.length ? uses : [...largest.values()];
}

function bucketUse({ limit, id, cost, kind }: RequestUse): BucketUse {
  return { limit, id, cost, mode: kind === 'check' ? 'check-only' : 'check-and-spend' };
}

function both(first: BucketUse, second: BucketUse): BucketUse {
  if (first.mode === 'check-and-spend' && second.mode === 'check-and-spend') {
    return { ...first, cost: first.cost + second.cost };
  }
  const spend = first.mode === 'check-and-spend' ? first : second;
  return { ...spend, cost: Math.max(first.cost, second.cost) };
}

/** Tokens that are taken from a bucket, or given back to it, whatever it has. */
interface Change {
  readonly limit: string;
  readonly id: string;
  readonly cost: number;
}

/**
 * Returns what uses change without a decision. Charges and refunds of one bucket are one change, so that their order does
 * not matter: a full bucket would drop a refund that comes before a charge, and an empty one a charge before a refund.
 */
export function changes(uses: readonly RequestUse[]): {
  readonly charges: readonly Change[];
  readonly refunds: readonly Change[];
} {
  const all = new Map<string, Change>();
  for (const { limit, id, cost, kind, shadow } of uses) {
    // What is in shadow mode changes nothing.
    if (shadow || (kind !== 'charge' && kind !== 'refund')) continue;
    const name = `${limit} ${id}`;
    const before = all.get(name)?.cost ?? 0;
    all.set(name, { limit, id, cost: kind === 'charge' ? before + cost : before - cost });
  }
  const taken = [...all.values()].filter(({ cost }) => cost > 0);
  const givenBack = [...all.values()].filter(({ cost }) => cost < 0);
  return { charges: taken, refunds: givenBack.map((change) => ({ ...change, cost: -change.cost })) };
}
