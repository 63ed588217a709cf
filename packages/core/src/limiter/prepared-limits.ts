import { allOf, andThen, attempt, Rejected, rejected, toNativePromise, type Awaitable } from '../async/awaitable.ts';
import { checkCostFits, checkAsked, transactionOf } from '../decision/batch.ts';
import { leavingOut, type Decided } from '../decision/decided.ts';
import { Transaction, withoutDelay } from '../decision/transaction.ts';
import type { KeySource } from '../keys/key.ts';
import { limitNamed, type LimitSet } from '../definitions/limit-set.ts';
import type { Limit } from '../limits/limit.ts';
import { Use } from '../limits/use.ts';
import type { Mode } from '../store/store.ts';
import type { Decider } from './decider.ts';

/** A number for a request: fixed, or a function of the request. */
type PerRequest<Request> = number | ((request: Request) => Awaitable<number>);

/** One limit that a middleware uses. */
export interface UseInput<Request> {
  readonly limit: string;
  readonly cost: PerRequest<Request>;
  readonly mode: Mode;
  readonly share: PerRequest<Request>;
  /** A function that returns the true cost afterwards. Only whether there is one is used here. */
  readonly settle?: unknown;
}

/** One limit that a middleware uses, resolved: the limit that is in effect under its name. */
export interface ResolvedUse<Request> {
  readonly limit: Limit<Request>;
  readonly given: UseInput<Request>;
  /** With the given numbers; undefined where one is a function. */
  readonly fixed: Use | undefined;
}

/** The decision on a request of which some limits could not be decided. */
export class PartialDecision {
  /** The decision of the other limits; `null` when there were none to decide. */
  readonly decision: Decided | null;
  /** Why the limits could not be decided, in their order. Never empty. */
  readonly causes: readonly unknown[];

  constructor(decision: Decided | null, causes: readonly unknown[]) {
    this.decision = decision;
    this.causes = causes;
  }
}

/** The places for requests that wait in a queue: at most `maxQueued` of a middleware. */
export interface Places {
  /** Takes a place. Returns false when all are taken. */
  take(): boolean;
  /** Gives a place back. */
  free(): void;
}

/** What prepared limits use of their limiter. */
interface Parts<Request> {
  /** The limits in effect. Not checked for `close` here: each decision is. */
  readonly limits: { readonly set: LimitSet<Request> };
  readonly decider: Pick<Decider, 'decide' | 'decideBy'>;
  readonly call: 'spend' | 'check';
}

/** The limits of one middleware. They are looked up when it is made, and again after `replace`. */
export class PreparedLimits<Request> {
  readonly #uses: readonly UseInput<Request>[];
  readonly #parts: Parts<Request>;
  #resolved: ResolvedLimits<Request>;

  constructor(uses: readonly UseInput<Request>[], parts: Parts<Request>) {
    this.#uses = uses;
    this.#parts = parts;
    this.#resolved = this.#resolve(parts.limits.set);
  }

  /** Returns the limits in effect. Use one result for a whole request, so that it sees no mixture of limits. */
  resolved(): ResolvedLimits<Request> {
    const { set } = this.#parts.limits;
    if (this.#resolved.set !== set) this.#resolved = this.#resolve(set);
    return this.#resolved;
  }

  /** Returns them for a request whose caller gives up at a time on the clock of the limiter. */
  until(dueMicros: number): ResolvedLimits<Request> {
    const { set, uses } = this.resolved();
    const { decider, call } = this.#parts;
    const inTime: Pick<Decider, 'decide'> = { decide: (_, batch) => decider.decideBy(dueMicros, call, batch) };
    return new ResolvedLimits(set, uses, { decider: inTime, call });
  }

  #resolve(set: LimitSet<Request>): ResolvedLimits<Request> {
    const uses = this.#uses.map((use) => resolvedUse(limitNamed(set, use.limit), use));
    return new ResolvedLimits(set, uses, this.#parts);
  }
}

function resolvedUse<Request>(limit: Limit<Request>, given: UseInput<Request>): ResolvedUse<Request> {
  const { cost, mode, share } = given;
  const isFixed = typeof cost === 'number' && typeof share === 'number';
  return { limit, given, fixed: isFixed ? new Use(limit, cost, mode, share) : undefined };
}

/** The limits of one middleware, as they are in effect between two calls of `replace`. */
export class ResolvedLimits<Request> {
  readonly set: LimitSet<Request>;
  readonly uses: readonly ResolvedUse<Request>[];
  /** The first limit among them whose decisions hold something, of those that are not disabled. */
  readonly held: Limit<Request> | undefined;
  /** Whether a decision may have a delay. */
  readonly canWait: boolean;
  readonly #decider: Pick<Decider, 'decide'>;
  readonly #call: Parts<Request>['call'];

  constructor(
    set: LimitSet<Request>,
    uses: readonly ResolvedUse<Request>[],
    { decider, call }: { readonly decider: Pick<Decider, 'decide'>; readonly call: Parts<Request>['call'] },
  ) {
    this.set = set;
    this.uses = uses;
    this.held = uses.find(({ limit }) => limit.kind.level === 'held' && !limit.disabled)?.limit;
    this.canWait = set.overridesCanWait || uses.some(({ limit }) => limit.levels.lineTicks !== undefined);
    this.#decider = decider;
    this.#call = call;
  }

  /**
   * Decides a request. A limit whose id, cost or share can't be found, or is not valid, does not prevent the other limits
   * from being decided and spent, so that invalid input can't be used to bypass them.
   *
   * @param source - What the keys get an id from.
   * @param places - A place is taken for a request that may have to wait. While all are taken, a request passes only
   * without a delay. The place of a {@link Decided} with a delay stays taken: the caller frees it.
   * @param failure - A failure before those of the limits.
   */
  spend(source: KeySource<Request>, places?: Places, failure?: Rejected): Awaitable<Decided | PartialDecision> {
    const { uses } = this;
    // A loop over a preallocated array, which is faster than map.
    // oxlint-disable-next-line unicorn/no-new-array
    const parts = new Array<Awaitable<LimitPart>>(uses.length);
    let areTransactions = failure === undefined;
    for (let i = 0; i < uses.length; i++) {
      const part = (parts[i] = partOf(this.set, uses[i]!, source));
      if (!(part instanceof Transaction)) areTransactions = false;
    }
    if (!areTransactions) return this.#spendParts(failure === undefined ? parts : [failure, ...parts], places);
    const batch = parts as readonly Transaction[];
    return this.canWait ? this.#spendBatch(batch, places) : this.#decider.decide(this.#call, batch);
  }

  #spendParts(parts: readonly Awaitable<LimitPart>[], places?: Places): Awaitable<Decided | PartialDecision> {
    return andThen(allOf(parts), (known) => this.#spendAmong(known, places));
  }

  #spendAmong(parts: readonly LimitPart[], places?: Places): Awaitable<Decided | PartialDecision> {
    const batch = parts.filter(isTransaction);
    const causes = parts.flatMap((part) => (part instanceof Rejected ? [part.cause] : []));
    if (causes.length === 0) return andThen(this.#spendBatch(batch, places), leavingOut);
    if (batch.length === 0) return new PartialDecision(null, causes);
    return andThen(this.#spendBatch(batch, places), (decision) => {
      // The request is answered with an error at once, so it does not wait.
      if (decision.delayMs > 0) places?.free();
      return new PartialDecision(decision, causes);
    });
  }

  #spendBatch(batch: readonly Transaction[], places: Places | undefined): Awaitable<Decided> {
    const waits = batch.some(({ lineTicks }) => lineTicks !== undefined);
    return waits && places !== undefined ? this.#spendQueued(batch, places) : this.#decider.decide(this.#call, batch);
  }

  #spendQueued(batch: readonly Transaction[], places: Places): Awaitable<Decided> {
    if (!places.take()) return this.#decider.decide(this.#call, batch.map(withoutDelay));
    return andThen(
      attempt(() => this.#decider.decide(this.#call, batch)),
      (decided) => {
        if (decided instanceof Rejected || decided.delayMs === 0) places.free();
        if (decided instanceof Rejected) throw decided.cause;
        return decided;
      },
    );
  }
}

/** The transaction of one limit, `null` when the limit does not apply to the request, or a failure. */
type LimitPart = Transaction | null | Rejected;

function isTransaction(part: LimitPart): part is Transaction {
  return part instanceof Transaction;
}

function partOf<Request>(
  set: LimitSet<never>,
  use: ResolvedUse<Request>,
  source: KeySource<Request>,
): Awaitable<LimitPart> {
  const { limit, fixed } = use;
  // The key of a disabled limit is not called: a failing key may be the reason for disabling it.
  if (limit.disabled) return null;
  try {
    const id = limit.key.idOf!(source, limit.name);
    if (typeof id !== 'string' || fixed === undefined) return partLater(set, use, source, id);
    const transaction = transactionOf(set, fixed, id, source.request);
    if (transaction instanceof Promise) return partWithRate(transaction);
    // Most costs fit. The condition is repeated here, so that most parts make one call less.
    return transaction === null || transaction.isPlain ? transaction : fitting(transaction);
  } catch (cause) {
    return rejected(cause);
  }
}

function partLater<Request>(
  set: LimitSet<never>,
  { limit, given: { cost, mode, share } }: ResolvedUse<Request>,
  { request }: KeySource<Request>,
  awaitableId: Awaitable<string | null>,
): Awaitable<LimitPart> {
  return attempt(() =>
    andThen(toNativePromise(awaitableId), (id) => {
      if (id === null) return null;
      // One after the other: if the second function throws, no rejection of the first is left unhandled.
      return andThen(numberFor(cost, request), (tokens) =>
        andThen(numberFor(share, request), (part) => {
          const use = new Use(limit, tokens, mode, part);
          checkAsked(use);
          const transaction = transactionOf(set, use, id, request);
          return transaction instanceof Promise ? partWithRate(transaction) : fitting(transaction);
        }),
      );
    }),
  );
}

function numberFor<Request>(given: PerRequest<Request>, request: Request): Awaitable<number> {
  return typeof given === 'number' ? given : toNativePromise(given(request));
}

function partWithRate(transaction: Promise<Transaction | null>): Promise<LimitPart> {
  return transaction.then(fitting).catch(rejected);
}

function fitting(transaction: Transaction | null): Transaction | null {
  // A blocked id has a burst of 0.
  if (transaction !== null && transaction.cost > transaction.rate.burst) checkCostFits(transaction);
  return transaction;
}
