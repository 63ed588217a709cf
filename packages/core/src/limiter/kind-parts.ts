import type { Part, PartContext } from '../decision/part.ts';
import type { Stage } from '../decision/stage.ts';
import type { Transaction } from '../decision/transaction.ts';
import { kindsIn, type AnyKind } from '../kinds/kind.ts';
import type { LimitMap } from '../limits/limit.ts';
import type { Store, StoreBucket } from '../store/store.ts';

/** Something that decisions need only at times. */
export interface Active {
  readonly isActive: boolean;
}

const NEVER: Active = { isActive: false };

/** What the kinds of a limiter's limits need of it: a part for each kind that has one, made at its first limit. */
export class KindParts {
  readonly #context: PartContext;
  readonly #byKind = new Map<AnyKind, Part>();
  /** In the order of their places. Only `changed` replaces it. */
  all: readonly Part[] = [];

  constructor(context: PartContext) {
    this.#context = context;
  }

  /**
   * Makes the parts of kinds that are new. Call it with the limits in effect.
   *
   * @returns Whether there are new parts.
   */
  changed(limits: LimitMap): boolean {
    const before = this.all;
    for (const kind of kindsIn(limits)) {
      if (kind.part === undefined || this.#byKind.has(kind)) continue;
      const part = kind.part(this.#context);
      this.#byKind.set(kind, part);
      this.all = [...this.all, part].toSorted((one, other) => one.place - other.place);
    }
    for (const part of this.all) part.changed?.(limits);
    return this.all !== before;
  }

  get stages(): readonly Stage[] {
    return this.all.map(({ stage }) => stage);
  }

  /** Whether a stage has to see batches that a store could decide as they are. */
  get watch(): Active {
    const [first = NEVER, ...others] = this.all.filter(({ watches }) => watches === true).map(({ stage }) => stage);
    if (others.length === 0) return first;
    const all = [first, ...others];
    return {
      get isActive() {
        return all.some(({ isActive }) => isActive);
      },
    };
  }

  /** Returns a batch of charges or refunds as stores decide it. */
  stored(batch: readonly Transaction[]): readonly Transaction[] {
    return this.all.reduce((before, part) => part.stored?.(before) ?? before, batch);
  }

  /** Returns the store for the time in which the limiter's store can't answer. */
  localStore(tokens: Store): Store {
    return this.all.reduce((store, part) => part.localStore?.(store) ?? store, tokens);
  }

  /** How much of each limit this process holds. */
  heldByLimit(): ReadonlyMap<string, number> {
    return new Map(this.all.flatMap((part) => [...(part.heldByLimit?.() ?? [])]));
  }

  /** Forgets what this process knows of buckets that are reset. */
  reset(buckets: readonly StoreBucket[]): void {
    for (const part of this.all) part.reset?.(buckets);
  }

  close(): void {
    for (const part of this.all) part.close?.();
  }
}
