import type { Awaitable } from '../async/awaitable.ts';
import { SluiceError } from '../checks/errors.ts';
import { mapKeyOf } from './bucket-key.ts';
import type { StoreBlock, StoreBlocks, BucketName } from './store.ts';

/** How many blocks a store has at most: each process keeps all of them in memory. */
const MAX_BLOCKS = 10_000;

/** The blocks that this process knows: all of them for a store that nobody else uses. */
export class KnownBlocks implements StoreBlocks {
  #all: readonly StoreBlock[] = [];
  readonly #byLimit = new Map<string, Map<string, StoreBlock>>();
  readonly #listeners = new Set<(error?: unknown) => void>();
  /** When the last of them ends, also after they were forgotten. */
  protected endMs: number = -Infinity;

  get isEmpty(): boolean {
    return this.#all.length === 0;
  }

  find(limit: string, id: string, nowMs: number): StoreBlock | undefined {
    if (nowMs >= this.endMs && !this.isEmpty) this.#forget();
    const block = this.#byLimit.get(limit)?.get(id);
    return block !== undefined && nowMs < block.untilMs ? block : undefined;
  }

  put(blocks: readonly StoreBlock[], nowMs: number, _deadlineMs?: number): Awaitable<void> {
    this.replace(withBlocks(this.all, blocks, nowMs));
  }

  delete(buckets: readonly BucketName[], _deadlineMs?: number): Awaitable<readonly StoreBlock[]> {
    const { left, deleted } = withoutBlocks(this.all, buckets);
    if (deleted.length > 0) this.replace(left);
    return deleted;
  }

  list(_deadlineMs?: number): Awaitable<readonly StoreBlock[]> {
    return this.all;
  }

  watch(listener: (error?: unknown) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** All blocks that this process knows. */
  protected get all(): readonly StoreBlock[] {
    return this.#all;
  }

  /** Other blocks take effect in place of those that were known. */
  protected replace(blocks: readonly StoreBlock[]): void {
    this.#all = blocks;
    this.#byLimit.clear();
    this.endMs = -Infinity;
    for (const block of blocks) {
      this.endMs = Math.max(this.endMs, block.untilMs);
      let ofLimit = this.#byLimit.get(block.limit);
      if (ofLimit === undefined) this.#byLimit.set(block.limit, (ofLimit = new Map()));
      ofLimit.set(block.id, block);
    }
    this.notify();
  }

  /** All have ended. Limiters do not ask for blocks while there are none. */
  #forget(): void {
    const { endMs } = this;
    this.replace([]);
    this.endMs = endMs;
  }

  protected notify(error?: unknown): void {
    for (const listener of this.#listeners) listener(error);
  }
}

/**
 * Adds blocks to others that have not ended.
 *
 * @throws {SluiceError} `ERR_OPTION` when there are too many.
 */
export function withBlocks(
  all: readonly StoreBlock[],
  added: readonly StoreBlock[],
  nowMs: number,
): readonly StoreBlock[] {
  const { left } = withoutBlocks(all, added);
  const blocks = [...left.filter(({ untilMs }) => untilMs > nowMs), ...added];
  if (blocks.length <= MAX_BLOCKS) return blocks;
  throw new SluiceError(
    'ERR_OPTION',
    `\`limiter.block\` can't add a block, because the store has ${MAX_BLOCKS}, the most that each process keeps in memory. End ` +
      "some by limiter.unblock, list ids that stay blocked among the overrides of the limits as 'blocked', and block many " +
      'clients where they come from, by the network.',
  );
}

/** Divides blocks into those of some ids and those that are left. */
export function withoutBlocks(
  all: readonly StoreBlock[],
  buckets: readonly BucketName[],
): { readonly left: readonly StoreBlock[]; readonly deleted: readonly StoreBlock[] } {
  const keys = new Set(buckets.map(mapKeyOf));
  const isOne = (block: StoreBlock): boolean => keys.has(mapKeyOf(block));
  return { left: all.filter((block) => !isOne(block)), deleted: all.filter(isOne) };
}
