// The room counts: what a limiter has decided, counted by limit, and the text for Prometheus.
import { checkOptions, wholeNumber } from '../checks/options.ts';
import { coreOf } from '../limiter/create-limiter.ts';
import type { Limiter } from '../limiter/limiter.ts';
import type { LimiterCore } from '../limiter/limiter-core.ts';
import { countsOf } from './counts.ts';
import { DeniedIds, type DeniedId } from './denied-ids.ts';
import { PARTS_USED, type DecidedCount, type LimitTally } from './limit-tally.ts';
import { ownLevelOf } from '../limits/own-level.ts';

/** How many decisions there were of one kind, by one limit. */
export interface DecisionCount extends DecidedCount {
  /** The strictest limit. Of a decision that the policy `open` made, the first limit. `null` when no limit applied. */
  readonly limit: string | null;
}

/** The counts of one limit. */
export interface LimitCounts {
  /** Its kind; undefined if there is no such limit any more. */
  readonly kind: string | undefined;
  /** Denials by this limit, alone or with others. */
  readonly denials: number;
  /** The same in shadow mode, where the requests were let through. */
  readonly shadowDenials: number;
  /**
   * Decisions after which at least a part of a bucket was used, by that part: `near['0.9']`. In whole tokens, of what the share
   * of the request contains.
   */
  readonly near: Readonly<Record<string, number>>;
  readonly tokens: {
    /** By decisions. */
    readonly taken: number;
    /**
     * After decisions, by charges and settlements: what a bucket had. A charge that empties a bucket counts in full in a store
     * that does not return the levels before it, such as Redis.
     */
    readonly charged: number;
    /** By restrictions: what a bucket had. One that raises the level counts in full in such a store. */
    readonly restricted: number;
    /**
     * After decisions, by refunds and settlements: what a bucket got back, without what had refilled meanwhile. A refund by name
     * that fills a bucket counts in full in such a store.
     */
    readonly refunded: number;
    /** Charges and refunds that did not reach the store. */
    readonly lost: number;
  };
}

/** What a limiter has decided. */
export interface LimiterCounts {
  /** When counting began. */
  readonly since: Date;
  readonly decisions: readonly DecisionCount[];
  /** By the name of the limit. */
  readonly limits: Readonly<Record<string, LimitCounts>>;
}

/** The state of one limit in this process. What its kind does not have is undefined. */
export interface LimitGauges {
  readonly kind: string;
  /** Requests that wait in its queue. */
  readonly queued: number | undefined;
  /** How long the last of them still has to wait, in milliseconds. */
  readonly longestWaitMs: number | undefined;
  /** Slots that this process holds. */
  readonly slotsHeld: number | undefined;
  /** The level of a load limit: from 0, which sheds nothing, to 1. */
  readonly loadLevel: number | undefined;
}

/** The state of a limiter in this process. */
export interface LimiterGauges {
  /** By the name of the limit. */
  readonly limits: Readonly<Record<string, LimitGauges>>;
  /** Whether the store does not answer, so that the failure policies decide. */
  readonly isStoreFailing: boolean;
}

/**
 * Returns what a limiter has decided since the first call of a function of this entry. `check` is not counted. The counts of a
 * limit go on when it is replaced, and stay when it is removed.
 *
 *     counts(limiter).limits.Orders.denials
 *
 * @throws {SluiceError} `ERR_OPTION` when the value is not a limiter.
 */
export function counts(limiter: Limiter<never>): LimiterCounts {
  const core = coreOf(limiter);
  const { since, byLimit } = countsOf(core);
  return {
    since,
    decisions: [...byLimit].flatMap(([limit, tally]) =>
      tally.decided().map((each) => ({ limit: limit === '' ? null : limit, ...each })),
    ),
    limits: Object.fromEntries(
      [...byLimit].flatMap(([limit, tally]) => (limit === '' ? [] : [[limit, countsOfLimit(core, limit, tally)]])),
    ),
  };
}

/**
 * Returns what waits and is held in this process now.
 *
 * @throws {SluiceError} `ERR_OPTION` when the value is not a limiter.
 */
export function gauges(limiter: Limiter<never>): LimiterGauges {
  const core = coreOf(limiter);
  const waiting = core.inProgress.queued.waiting();
  const held = core.inProgress.kinds.heldByLimit();
  const limits = [...core.limits].map(([name, limit]): [string, LimitGauges] => {
    const { kind, levels } = limit;
    const canWait = levels.lineTicks !== undefined;
    return [
      name,
      {
        kind: kind.name,
        queued: canWait ? (waiting.get(name)?.count ?? 0) : undefined,
        longestWaitMs: canWait ? (waiting.get(name)?.longestMs ?? 0) : undefined,
        slotsHeld: kind.level === 'held' ? (held.get(name) ?? 0) : undefined,
        loadLevel: ownLevelOf(limit),
      },
    ];
  });
  return { limits: Object.fromEntries(limits), isStoreFailing: core.status().state === 'failing' };
}

/**
 * Returns the ids that a limit has denied most since the first call for it, the most denied first. It remembers 1,000 ids
 * for each limit: a count is at most `(denials + shadowDenials) / 1000` of the limit too high, and no id with more of both is missing.
 *
 * Ids may be addresses or accounts: show them to operators only.
 *
 *     top(limiter, 'Requests', { n: 10 }) // [{ id: '192.0.2.7', denials: 1204, error: 0 }, …]
 *
 * @throws {SluiceError} `ERR_UNKNOWN_LIMIT`; `ERR_OPTION` when the value is not a limiter, or `n` not a whole number from 1 to
 * 1,000. Default: 10.
 */
export function top(
  limiter: Limiter<never>,
  limit: string,
  options: { readonly n?: number | undefined } = {},
): readonly DeniedId[] {
  const core = coreOf(limiter);
  checkOptions('top', options, ['n']);
  const n = wholeNumber('top.n', options.n ?? 10, { min: 1, max: 1000 });
  core.assertLimit(limit);
  const tally = countsOf(core).of(limit);
  return (tally.denied ??= new DeniedIds()).top(n);
}

function countsOfLimit(core: LimiterCore<never>, name: string, tally: LimitTally): LimitCounts {
  const { denials, shadowDenials, taken, charged, restricted, refunded, lost } = tally;
  return {
    kind: core.limits.get(name)?.kind.name,
    denials,
    shadowDenials,
    near: Object.fromEntries(PARTS_USED.map((part, i) => [`${part}`, tally.reached(i)])),
    tokens: { taken, charged, restricted, refunded, lost },
  };
}
