import type { StoreBlock, StoreBlocks, Store } from '../../store/store.ts';
import { assert } from '../assert.ts';
import { promise, type StoreCase } from '../store-case.ts';

const NOW_MS = 1_800_000_000_000;
const DEADLINE_MS = 10_000;
const NAMES = ['id', 'a:b é 𝄞', '2001:db8::/48', "'\\ {}\u2028"];

const block = (limit: string, id: string, untilMs = NOW_MS + 1): StoreBlock => ({
  limit,
  id,
  untilMs,
  reason: 'Ärger "4711"\n',
  by: 'mia',
});

/** A case of stores that have blocks. */
function ofBlocks(name: string, check: (blocks: StoreBlocks, store: Store) => Promise<void>): StoreCase {
  return promise(name, async ({ store }) => {
    if (store.blocks !== undefined) await check(store.blocks, store);
  });
}

const put = async (blocks: StoreBlocks, ...added: readonly StoreBlock[]): Promise<void> =>
  blocks.put(added, NOW_MS, DEADLINE_MS);
const listed = async (blocks: StoreBlocks): Promise<readonly StoreBlock[]> =>
  [...(await blocks.list(DEADLINE_MS))].toSorted((a, b) => (a.limit + a.id < b.limit + b.id ? -1 : 1));

/** Ids that operators block. */
export const blockCases: readonly StoreCase[] = [
  ofBlocks('a store has no block at first', async (blocks) => {
    assert.deepEqual(await listed(blocks), []);
    assert.equal(blocks.isEmpty, true);
    assert.deepEqual(await blocks.delete([{ limit: 'Slow', id: 'id' }], DEADLINE_MS), []);
  }),

  ofBlocks('a block is listed and found by its limit and its id, as it was put', async (blocks) => {
    const all = NAMES.map((id) => block('Slow', id)).toSorted((a, b) => (a.id < b.id ? -1 : 1));
    await put(blocks, ...all);
    assert.deepEqual(await listed(blocks), all);
    for (const each of all) assert.deepEqual(blocks.find('Slow', each.id, NOW_MS), each);
    assert.equal(blocks.find('Slow', 'other', NOW_MS), undefined);
    assert.equal(blocks.find('Other', 'id', NOW_MS), undefined);
    assert.equal(blocks.isEmpty, false);
  }),

  ofBlocks('a block replaces that of the same id, and those that have ended are deleted', async (blocks) => {
    await put(blocks, block('Slow', 'a', NOW_MS), block('Slow', 'b'));
    const later = block('Slow', 'b', NOW_MS + 5);
    await put(blocks, later);
    assert.deepEqual(await listed(blocks), [later]);
  }),

  ofBlocks('a block is found until its end, and none is left after the last end', async (blocks) => {
    await put(blocks, block('Slow', 'a', NOW_MS + 5), block('Slow', 'b', NOW_MS + 7));
    const found = (nowMs: number): unknown => ['a', 'b'].map((id) => blocks.find('Slow', id, nowMs)?.id);
    assert.deepEqual(found(NOW_MS + 4), ['a', 'b']);
    assert.deepEqual(found(NOW_MS + 5), [undefined, 'b']);
    assert.equal(blocks.isEmpty, false);
    assert.deepEqual(found(NOW_MS + 7), [undefined, undefined]);
    assert.equal(blocks.isEmpty, true);
  }),

  ofBlocks('delete returns the blocks that there were, and leaves the others', async (blocks) => {
    const [a, b, other] = [block('Slow', 'a'), block('Slow', 'b'), block('Other', 'a')];
    await put(blocks, a, b, other);
    assert.deepEqual(await blocks.delete([a, { limit: 'Slow', id: 'c' }], DEADLINE_MS), [a]);
    assert.deepEqual(await listed(blocks), [other, b]);
    assert.equal(blocks.find('Slow', 'a', NOW_MS), undefined);
    assert.deepEqual(await blocks.delete([b, other], DEADLINE_MS), [b, other]);
    assert.deepEqual(await listed(blocks), []);
    assert.equal(blocks.isEmpty, true);
  }),

  ofBlocks('of calls at the same time, each takes effect', async (blocks) => {
    const all = NAMES.map((id) => block('Slow', id)).toSorted((a, b) => (a.id < b.id ? -1 : 1));
    await Promise.all(all.map((each) => put(blocks, each)));
    assert.deepEqual(await listed(blocks), all);
  }),

  ofBlocks('a block changes nothing in the buckets, and a reset no block', async (blocks, store) => {
    await put(blocks, block('Slow', 'id'));
    await store.run({ kind: 'reset', batch: [{ limit: 'Slow', id: 'id' }] }, DEADLINE_MS);
    assert.deepEqual(await listed(blocks), [block('Slow', 'id')]);
  }),
];
