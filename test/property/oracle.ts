/**
 * The rule as it is defined, on whole numbers of any size: slow, obvious, and without a line of the code under test.
 *
 * @module
 */

/** The numbers of a limit; the period in microseconds. */
export interface Numbers {
  readonly burst: number;
  readonly count: number;
  readonly periodMicros: number;
}

/** A limit in a unit of time in which its emission interval is a whole number. */
export interface Rule {
  readonly unitsPerMicro: bigint;
  /** T, in units. */
  readonly interval: bigint;
  /** τ, in units. */
  readonly tolerance: bigint;
  readonly burst: bigint;
}

/** The rule with T rounded down to ticks of 1/16 µs. */
export function roundedRule({ burst, count, periodMicros }: Numbers): Rule {
  return ruleOf(burst, 16n, (BigInt(periodMicros) * 16n) / BigInt(count));
}

/** The rule with T = period / count as it is written: of units of 1/count µs it has as many as the period has µs. */
export function exactRule({ burst, count, periodMicros }: Numbers): Rule {
  return ruleOf(burst, BigInt(count), BigInt(periodMicros));
}

function ruleOf(burst: number, unitsPerMicro: bigint, interval: bigint): Rule {
  return { unitsPerMicro, interval, tolerance: BigInt(burst) * interval, burst: BigInt(burst) };
}

type OracleMode = 'check-and-spend' | 'check-only' | 'spend-only' | 'charge';

/** One transaction. `bucket` names it. */
export interface Asked {
  readonly bucket: string;
  readonly rule: Rule;
  readonly cost: number;
  readonly mode: OracleMode;
  /** The level up to which it fits, and up to which a charge goes, in units. Default: an empty bucket. */
  readonly fit?: bigint;
  readonly cap?: bigint;
}

/** How a bucket is. */
export interface Figures {
  readonly remaining: number;
  readonly resetAfterMs: number;
}

/** What came of one transaction. */
interface Answered extends Figures {
  readonly allowed: boolean;
  readonly spent: number;
  readonly retryAfterMs: number;
}

/** What came of a batch. */
export interface OracleDecision {
  readonly allowed: boolean;
  readonly answers: readonly Answered[];
  /** The place of the strictest in the batch; −1 for an empty one. */
  readonly strictest: number;
  /** What a refund must know of each transaction: what it took, and the TAT right after it. */
  readonly taken: readonly { readonly bucket: string; readonly increment: bigint; readonly tatAfter: bigint }[];
}

/** All buckets: their TATs, in units of their rule. One that is not there is full. */
export class OracleBuckets {
  readonly #tats = new Map<string, bigint>();

  /** Decides a batch, and takes its tokens if `takes`. */
  decide(batch: readonly Asked[], nowMicros: bigint, takes: boolean): OracleDecision {
    const levels = batch.map(({ bucket, rule }) => this.#level(bucket, rule, nowMicros));
    const fitting = batch.map(
      ({ rule, cost, fit = rule.tolerance }, i) => cost === 0 || levels[i]! + BigInt(cost) * rule.interval <= fit,
    );
    const allowed = batch.every(({ mode }, i) => !denies(mode) || fitting[i]!);
    const taken: { bucket: string; increment: bigint; tatAfter: bigint }[] = [];
    const answers: Answered[] = [];
    const waits: bigint[] = [];
    for (const [i, asked] of batch.entries()) {
      const { bucket, rule, cost, mode, fit = rule.tolerance } = asked;
      const level = takes && allowed ? levelAfter(asked, levels[i]!, fitting[i]!) : levels[i]!;
      const increment = level - levels[i]!;
      const tatAfter = nowMicros * rule.unitsPerMicro + level;
      if (increment > 0n) {
        this.#tats.set(bucket, tatAfter);
        taken.push({ bucket, increment: (increment / rule.interval) * rule.interval, tatAfter });
      }
      const passes = fitting[i]! || !denies(mode);
      const wait = cost === 0 ? 0n : greater(0n, level + BigInt(cost) * rule.interval - fit);
      answers.push({
        ...figures(level, rule, fit),
        allowed: passes,
        spent: Number(increment / rule.interval),
        retryAfterMs: passes ? 0 : ceilMs(wait, rule),
      });
      waits.push(wait);
    }
    return {
      allowed,
      answers,
      taken,
      strictest: strictest(batch, answers, waits),
    };
  }

  /** Decides batches in order until one is allowed, and takes the tokens of that one if `takes`. One for each decided. */
  decideFirst(alternatives: readonly (readonly Asked[])[], nowMicros: bigint, takes: boolean): OracleDecision[] {
    const decided: OracleDecision[] = [];
    for (const batch of alternatives) {
      const decision = this.decide(batch, nowMicros, takes);
      decided.push(decision);
      if (decision.allowed) break;
    }
    return decided;
  }

  /** Takes tokens, at most to an empty bucket. What other numbers left beyond that stays. */
  charge({ bucket, rule, cost, cap = rule.tolerance }: Omit<Asked, 'mode'>, nowMicros: bigint): Figures {
    const before = this.#level(bucket, rule, nowMicros);
    const level = greater(before, lesser(cap, before + BigInt(cost) * rule.interval));
    this.#tats.set(bucket, nowMicros * rule.unitsPerMicro + level);
    return figures(level, rule);
  }

  /** Gives tokens back, at most to a full bucket. */
  refund({ bucket, rule, cost, cap = rule.tolerance }: Omit<Asked, 'mode'>, nowMicros: bigint): Figures {
    const increment = lesser(cap, BigInt(cost) * rule.interval);
    const level = greater(0n, this.#level(bucket, rule, nowMicros) - increment);
    this.#tats.set(bucket, nowMicros * rule.unitsPerMicro + level);
    return figures(level, rule);
  }

  /** Gives back what a decision took, less what has come back since. */
  refundDecision({ taken }: OracleDecision, nowMicros: bigint, unitsPerMicro: bigint): void {
    const now = nowMicros * unitsPerMicro;
    for (const { bucket, increment, tatAfter } of taken) {
      const level = greater(0n, (this.#tats.get(bucket) ?? now) - now);
      const given = lesser(increment, greater(0n, tatAfter - now));
      this.#tats.set(bucket, now + greater(0n, level - given));
    }
  }

  /** Cuts what a bucket owes to what an empty bucket of the rule does. */
  cap(bucket: string, rule: Rule, nowMicros: bigint): void {
    const level = lesser(rule.tolerance, this.#level(bucket, rule, nowMicros));
    this.#tats.set(bucket, nowMicros * rule.unitsPerMicro + level);
  }

  reset(bucket: string): void {
    this.#tats.delete(bucket);
  }

  /** Whether a bucket owes more than an empty one of a rule, but no more than an empty one of another. */
  owesBetween(bucket: string, rule: Rule, other: Pick<Rule, 'tolerance'>, nowMicros: bigint): boolean {
    const level = this.#level(bucket, rule, nowMicros);
    return level > rule.tolerance && level <= other.tolerance;
  }

  /** The debt of a bucket, whatever numbers left it. */
  #level(bucket: string, rule: Rule, nowMicros: bigint): bigint {
    const now = nowMicros * rule.unitsPerMicro;
    return greater(0n, (this.#tats.get(bucket) ?? now) - now);
  }
}

function denies(mode: OracleMode): boolean {
  return mode !== 'spend-only' && mode !== 'charge';
}

/** The level after one of a batch that is allowed. */
function levelAfter({ rule, cost, mode, cap = rule.tolerance }: Asked, level: bigint, fits: boolean): bigint {
  const lifted = level + BigInt(cost) * rule.interval;
  if (mode === 'charge') return greater(level, lesser(cap, lifted));
  return fits && mode !== 'check-only' ? lifted : level;
}

function figures(level: bigint, rule: Rule, fit: bigint = rule.tolerance): Figures {
  return { remaining: Number(greater(0n, fit - level) / rule.interval), resetAfterMs: ceilMs(level, rule) };
}

/** Denied before allowed, then the longer wait, then the fewer remaining, then the order given. */
function strictest(batch: readonly Asked[], answers: readonly Answered[], waits: readonly bigint[]): number {
  const order = answers
    .map(({ allowed, remaining }, place) => ({ allowed, remaining, wait: waits[place]!, place }))
    .filter(({ place }) => denies(batch[place]!.mode))
    .toSorted((a, b) => {
      if (a.allowed !== b.allowed) return a.allowed ? 1 : -1;
      if (a.wait !== b.wait) return a.wait > b.wait ? -1 : 1;
      return a.remaining === b.remaining ? a.place - b.place : a.remaining - b.remaining;
    });
  return order[0]?.place ?? (batch.length > 0 ? 0 : -1);
}

/** Milliseconds in steps of 0.001, rounded up. */
function ceilMs(units: bigint, { unitsPerMicro }: Rule): number {
  return Number((units + unitsPerMicro - 1n) / unitsPerMicro) / 1000;
}

const lesser = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const greater = (a: bigint, b: bigint): bigint => (a > b ? a : b);
