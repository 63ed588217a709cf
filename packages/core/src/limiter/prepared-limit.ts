import type { Awaitable } from '../async/awaitable.ts';
import { checkFunction, checkOptions } from '../checks/options.ts';
import { transactionOf } from '../decision/batch.ts';
import type { Decision } from '../decision/decision.ts';
import type { BucketState } from '../decision/result.ts';
import type { Transaction } from '../decision/transaction.ts';
import { EVERYONE, isEveryone } from '../keys/everyone.ts';
import { usualUseOf, type LimitSet } from '../definitions/limit-set.ts';
import type { Limit } from '../limits/limit.ts';
import type { Use } from '../limits/use.ts';
import type { BucketName } from '../store/store.ts';
import type { Decider } from './decider.ts';
import { canonicalId, checkedUse } from './entries.ts';
import { checkCall } from './entry-calls.ts';
import type { SpendEntry } from './entry.ts';
import type { EntryOptions, HandleRunOptions, LimitHandle } from './limit-handle.ts';
import type { Limiter } from './limiter.ts';
import type { RequestLimiter } from './request-limiter.ts';
import type { Restriction } from './restriction.ts';
import type { Ran, Work } from './run-options.ts';
import type { SpendOptions, SpendSyncOptions } from './spend-options.ts';
import type { Usage } from './usage.ts';

type Calls = 'charge' | 'restrict' | 'refund' | 'usage' | 'spend' | 'spendSync' | 'run';

/** A transaction, `null` for an unlimited id. */
type MadeTransaction = Awaitable<Transaction | null>;

/** What a handle uses of its limiter. */
interface HandleParts {
  readonly limiter: Pick<Limiter<never>, Calls> & Pick<RequestLimiter<never>, 'assertLimit'>;
  /** The limits in effect. Not checked for `close` here: each decision is. */
  readonly limits: { readonly set: LimitSet<never> };
  readonly decider: Pick<Decider, 'decideMade' | 'decideMadeAtOnce'>;
}

const OPTIONS = ['cost', 'mode', 'share'];
const SPEND_OPTIONS = [...OPTIONS, 'hold', 'wait', 'within', 'signal'];
const RUN_OPTIONS = ['cost', 'share', 'signal', 'within', 'settle'];

/** A handle that looks up its limit when it is made, and again after `replace`. */
export class PreparedLimit implements LimitHandle {
  readonly name: string;
  readonly #parts: HandleParts;
  #set: LimitSet<never>;
  /** The use of the limit without options. */
  #usual: Use;

  /** @throws {SluiceError} `ERR_UNKNOWN_LIMIT`. */
  constructor(name: string, parts: HandleParts) {
    this.name = name;
    this.#parts = parts;
    this.#set = parts.limits.set;
    this.#usual = usualUseOf(this.#set, name);
  }

  // As an async function does it, without a promise beside that of a store.
  spend(id?: string, options?: EntryOptions & SpendOptions): Promise<Decision> {
    try {
      return Promise.resolve(
        options !== undefined && isForLimiter(options)
          ? this.#parts.limiter.spend(...this.#callOf(id, options))
          : this.#parts.decider.decideMade('spend', this.#transactions('spend', id, options)),
      );
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async check(id?: string, options?: EntryOptions): Promise<Decision> {
    return this.#parts.decider.decideMade('check', this.#transactions('check', id, options));
  }

  spendSync(id?: string, options?: EntryOptions & SpendSyncOptions): Decision {
    if (options !== undefined && isForLimiter(options))
      return this.#parts.limiter.spendSync(...this.#callOf(id, options));
    return this.#parts.decider.decideMadeAtOnce('spend', this.#transactions('spend', id, options));
  }

  checkSync(id?: string, options?: EntryOptions): Decision {
    return this.#parts.decider.decideMadeAtOnce('check', this.#transactions('check', id, options));
  }

  async charge(id?: string, cost: number = 1): Promise<BucketState | undefined> {
    return (await this.#parts.limiter.charge([{ ...this.#bucket(id), cost }]))[0];
  }

  restrict(id: string, known: Restriction): Promise<BucketState | undefined>;
  restrict(known: Restriction): Promise<BucketState | undefined>;
  async restrict(first: string | Restriction, known?: Restriction): Promise<BucketState | undefined> {
    const [id, restriction] = typeof first === 'string' ? [first, known] : [undefined, first];
    return (await this.#parts.limiter.restrict([{ ...restriction, ...this.#bucket(id) }]))[0];
  }

  async refund(id?: string, cost: number = 1): Promise<BucketState | undefined> {
    return (await this.#parts.limiter.refund([{ ...this.#bucket(id), cost }]))[0];
  }

  async usage(id?: string): Promise<Usage> {
    return (await this.#parts.limiter.usage([this.#bucket(id)]))[0]!;
  }

  run<T>(id: string, work: Work<T>, options?: HandleRunOptions<T>): Promise<Ran<T>>;
  run<T>(work: Work<T>, options?: HandleRunOptions<T>): Promise<Ran<T>>;
  run<T>(first: string | Work<T>, ...rest: readonly unknown[]): Promise<Ran<T>> {
    const [id, work, options] = typeof first === 'function' ? [undefined, first, rest[0]] : [first, ...rest];
    return this.#run(id, work as Work<T>, options as HandleRunOptions<T> | undefined);
  }

  async #run<T>(id: string | undefined, work: Work<T>, options: HandleRunOptions<T> = {}): Promise<Ran<T>> {
    checkOptions('run', options, RUN_OPTIONS);
    const { cost = 1, share = 1, signal, within, settle } = options;
    checkFunction('run.settle', settle, 'It returns the true cost, for example settle: (answer) => answer?.tokens.');
    const entries = [{ ...this.#bucket(id), cost, share }];
    if (settle === undefined) return this.#parts.limiter.run(entries, work, { signal, within });
    checkCall(this.#current().limit, 'settle', 'check-and-spend');
    return this.#parts.limiter.run(entries, work, {
      signal,
      within,
      settle: async (value, end) => {
        const trueCost = await settle(value, end);
        return trueCost === undefined ? undefined : { [this.name]: trueCost };
      },
    });
  }

  #transactions(call: 'spend' | 'check', id: string | undefined, options?: EntryOptions): readonly MadeTransaction[] {
    const usual = this.#current();
    const { limit } = usual;
    const use = options === undefined ? usual : useWith(call, limit, options);
    if (!limit.treatment.isPlain) checkCall(limit, call, use.mode);
    return [transactionOf(this.#set, use, canonicalId(limit, id === undefined ? idOf(limit) : id), undefined)];
  }

  /** @throws {SluiceError} `ERR_UNKNOWN_LIMIT` when `replace` has removed the limit. */
  #current(): Use {
    const { set } = this.#parts.limits;
    if (set !== this.#set) {
      this.#parts.limiter.assertLimit(this.name);
      this.#usual = usualUseOf(set, this.name);
      this.#set = set;
    }
    return this.#usual;
  }

  #callOf(id: string | undefined, options: EntryOptions & SpendOptions): [SpendEntry[], SpendOptions] {
    const { cost, mode, share, ...spendOptions } = options;
    return [[{ ...this.#bucket(id), cost, mode, share }], spendOptions];
  }

  #bucket(id: string | undefined): BucketName {
    return { limit: this.name, id: id ?? idOf(this.#current().limit)! };
  }
}

/** Whether there are options beside those of an entry. */
function isForLimiter(options: SpendOptions | null): boolean {
  const { hold, wait, within, signal } = options ?? {};
  return hold !== undefined || wait !== undefined || within !== undefined || signal !== undefined;
}

function useWith(call: 'spend' | 'check', limit: Limit<never>, options: EntryOptions): Use {
  checkOptions(call, options, call === 'spend' ? SPEND_OPTIONS : OPTIONS);
  return checkedUse(limit, options);
}

/** The id of a call that names none. Where the limit has several, it is rejected like any other value that is not text. */
function idOf({ key }: Limit<never>): string | undefined {
  return isEveryone(key) ? EVERYONE : undefined;
}
