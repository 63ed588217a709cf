import { reasonOf, SluiceError } from '../checks/errors.ts';
import { batchOf } from '../decision/batch.ts';
import { limitNamed, type LimitSet } from '../definitions/limit-set.ts';
import type { LimiterEvent } from '../events/event.ts';
import { checkId } from '../ids/id-format.ts';
import type { RateLookup } from '../limits/limit.ts';
import type { StoreBlock, StoreBlocks, BucketName, Store } from '../store/store.ts';
import type { Time } from '../time/time.ts';
import { blockOf, type BlockEntry } from './block-entry.ts';
import { canonicalId, checkedEntriesOf } from './entries.ts';
import type { Reports } from './reports.ts';

/** Returns a set by which blocked ids are denied, as by an override. Without any block, a limiter uses none: it costs nothing. */
export function withBlocked<Request>(set: LimitSet<Request>, blocks: StoreBlocks, time: Time): LimitSet<Request> {
  const { rateFor } = set;
  const blocked: RateLookup = (limit, id, request) => {
    if (!limit.disabled && blocks.find(limit.name, id, time.wallNow()) !== undefined) return 'blocked';
    return rateFor === undefined ? limit.rate : rateFor(limit, id, request);
  };
  return { ...set, rateFor: blocked };
}

interface BlockingParts {
  readonly store: Store;
  readonly time: Time;
  readonly deadlineMs: number;
  readonly limits: { readonly set: LimitSet<never> };
  readonly reports: Pick<Reports<never>, 'corrected'>;
}

/** Blocks ids, and ends blocks. */
export class Blocking {
  readonly #parts: BlockingParts;

  constructor(parts: BlockingParts) {
    this.#parts = parts;
  }

  /** See `Limiter.block`. */
  async block(entries: readonly BlockEntry[]): Promise<readonly StoreBlock[]> {
    const { limits, time, deadlineMs } = this.#parts;
    const nowMs = time.wallNow();
    const blocks = await batchOf(
      checkedEntriesOf('block', entries).map((entry) => blockOf(nameOf(limits.set, entry), entry, nowMs)),
    );
    await this.#stored.put(blocks, nowMs, deadlineMs);
    this.#report('blocked', blocks);
    return blocks;
  }

  /** See `Limiter.unblock`. */
  async unblock(entries: readonly BucketName[]): Promise<readonly StoreBlock[]> {
    const { limits, deadlineMs } = this.#parts;
    const names = await batchOf(checkedEntriesOf('unblock', entries).map((entry) => nameOf(limits.set, entry)));
    const ended = this.#lasting(await this.#stored.delete(names, deadlineMs));
    this.#report('unblocked', ended);
    return ended;
  }

  /** See `Limiter.blocked`. */
  async blocked(limit: string | undefined): Promise<readonly StoreBlock[]> {
    if (limit !== undefined) limitNamed(this.#parts.limits.set, limit);
    const all = this.#lasting(await this.#stored.list(this.#parts.deadlineMs));
    return limit === undefined ? all : all.filter((block) => block.limit === limit);
  }

  /** Reads the blocks, so that the first decision knows them. It never rejects: the health of the store is seen by decisions. */
  async ready(): Promise<void> {
    const { store, deadlineMs } = this.#parts;
    if (store.blocks?.note === undefined) return;
    try {
      await store.blocks.list(deadlineMs);
    } catch {
      // The first decision finds it.
    }
  }

  get #stored(): StoreBlocks {
    const { blocks, name = 'own' } = this.#parts.store;
    if (blocks !== undefined) return blocks;
    throw new SluiceError(
      'ERR_OPTION',
      `To block ids, the store must have the property \`blocks\`, and this one (${name}) has none. Give it that of storeBlocks() ` +
        "in '@sluice/core/store', or list the ids among the overrides of the limit as 'blocked'.",
    );
  }

  #lasting(blocks: readonly StoreBlock[]): readonly StoreBlock[] {
    const nowMs = this.#parts.time.wallNow();
    return blocks.filter(({ untilMs }) => nowMs < untilMs);
  }

  #report(direction: 'blocked' | 'unblocked', blocks: readonly BucketName[]): void {
    this.#parts.reports.corrected(
      direction,
      blocks.map(({ limit }) => ({ limit, cost: 0 })),
    );
  }
}

/** The event for blocks that this process can't read. */
export function blocksUnread(cause: unknown): LimiterEvent {
  const message = `The blocks of the store can't be read (${reasonOf(cause)}). Ids that were blocked since are let through by this process.`;
  return { type: 'warning', message, once: true };
}

function nameOf(set: LimitSet<never>, { limit: name, id: text }: BucketName): BucketName {
  const limit = limitNamed(set, name);
  const id = canonicalId(limit, text);
  checkId(name, id);
  return { limit: name, id };
}
