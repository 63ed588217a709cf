import type { StoreBlocks } from '@sluice/core/store';
import { sampleBytes } from './sample.ts';

/** A list of blocks as a version before has written it. */
export const BLOCKS_TEXT: string = sampleBytes('blocks.txt').toString();
/** Its blocks. */
export const BLOCKS = [
  { limit: 'Orders', id: '12345678', untilMs: 1_800_000_000_000, reason: 'Ärger: "4711"', by: 'mia' },
  { limit: 'Networks', id: '2001:db8:7::/48', untilMs: 1_800_000_000_001, reason: 'scrapes', by: 'ann@host' },
] as const;

const DEADLINE_MS = 20_000;

/** What {@link useAndMakeAgain} finds. */
export const USED = {
  listed: BLOCKS,
  ended: [[BLOCKS[0]], [BLOCKS[1]]],
  madeAgain: BLOCKS_TEXT.slice(16),
  revisionIsBeside: true,
};

/**
 * Reads the list of a version before from a store, ends its blocks one after the other, and makes them again.
 *
 * @param stored - Returns what the store has then: the revision, where it is beside the text, and the text.
 */
export async function useAndMakeAgain(
  blocks: StoreBlocks,
  stored: () => Promise<{ readonly revision?: unknown; readonly text: string }>,
): Promise<object> {
  const listed = await blocks.list(DEADLINE_MS);
  const ended = [await blocks.delete([BLOCKS[0]], DEADLINE_MS), await blocks.delete(BLOCKS, DEADLINE_MS)];
  await blocks.put(BLOCKS, 0, DEADLINE_MS);
  const { text, revision = text.slice(0, 16) } = await stored();
  return { listed, ended, madeAgain: text.slice(16), revisionIsBeside: revision === text.slice(0, 16) };
}
