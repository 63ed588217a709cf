import { accountId, IpAddress, type BlockEntry, type RateDefinition } from '@sluice/core';
import { durationTicks } from '@sluice/core/kit';
import { TICKS_PER_MS, type StoreBlock } from '@sluice/core/store';
import type { Call } from '../console/command.ts';
import { UsageError } from '../console/failure.ts';
import { withLimits } from '../redis/open-limits.ts';
import { servedAt } from '../redis/open-store.ts';
import { Audit, awaitChange, whoDoes } from './audit.ts';
import { canonicalName, type CanonicalName } from './bucket-source.ts';
import { endsLikeFile, servedWords, wholeBucketWords } from './bucket-words.ts';
import { loadFiles } from './files.ts';
import { servedBlocks, type BlockSource } from './served-buckets.ts';
import { shownBlock, type ShownBlock } from './shown-block.ts';

export { blockText, namedText } from './shown-block.ts';
export { shownId } from './shown-id.ts';

/** After a change of which it is not known whether it was made. */
const REMEDY = 'It can be repeated safely.';

/** Returns what `block` is to make, without the limit and the id. */
function blockOf(call: Call): Omit<BlockEntry, 'limit' | 'id'> {
  const reason = call.text('reason') ?? '';
  if (reason.trim() === '')
    throw new UsageError(
      "`--reason` must say why, for those who see the block later. For example --reason 'ticket 4711'.",
    );
  return { forMs: forMsOf(call), reason, by: whoDoes(call) };
}

function forMsOf(call: Call): number {
  const text = call.text('for') ?? '';
  try {
    // How long a block can be, the limiter knows.
    return Math.ceil(durationTicks('--for', text, { minMs: 0.001, maxMs: Infinity, demand: '' }) / TICKS_PER_MS);
  } catch {
    throw new UsageError(`\`--for\` must be a time such as 30m, 2h or 7d, but was '${text}'.`);
  }
}

/** Blocks the id that the words of a call name. */
export function blockId(call: Call): Promise<ShownBlock> {
  const entry = blockOf(call);
  const audit = new Audit(call, 'block', { isExplained: true });
  return withNamed(call, async (source, { name }) => {
    const make = async (): Promise<StoreBlock> =>
      (await awaitChange(call, source.block([{ ...name, ...entry }]), REMEDY))[0]!;
    return shownBlock(await audit.ofBlock(name, make));
  });
}

/** Ends the block of the id that the words of a call name. */
export function unblockId(call: Call): Promise<CanonicalName & { readonly ended: ShownBlock | undefined }> {
  const audit = new Audit(call, 'unblock');
  return withNamed(call, async (source, { name, blockedBy }) => {
    const make = async (): Promise<StoreBlock | undefined> =>
      (await awaitChange(call, source.unblock([name]), REMEDY))[0];
    const block = await audit.ofBlock(name, make);
    return { name, blockedBy, ended: block && shownBlock(block) };
  });
}

/** Reads the blocks of the store, of one limit or of all, the first to end first. */
export async function listedBlocks(call: Call, limit: string | undefined): Promise<readonly ShownBlock[]> {
  const service = servedAt(call);
  if (limit !== undefined && endsLikeFile(limit))
    throw new UsageError(
      `There must be the name of a limit here, and no file, but was '${limit}'. For example Orders.`,
    );
  const limits = limit === undefined ? {} : onlyNamed(limit);
  const blocks = await (service === undefined
    ? withLimits({ limits }, call, ({ limiter }) => limiter.blocked(limit))
    : servedBlocks(call, service).blocked(limit));
  return blocks.toSorted((a, b) => a.untilMs - b.untilMs).map(shownBlock);
}

/** Opens the store, with the limits of the files or with the one that is named, or the service, which has its own. */
async function withNamed<Result>(
  call: Call,
  use: (source: BlockSource, named: CanonicalName) => Promise<Result>,
): Promise<Result> {
  const service = servedAt(call);
  if (service !== undefined) {
    const source = servedBlocks(call, service);
    return use(source, await source.named(servedWords(call)));
  }
  const words = call.args.length + (call.text('limit') === undefined ? 0 : 1);
  // A word that was left out, and not files.
  if (words > 2 || call.args.length === 0 || endsLikeFile(call.args[0]!)) {
    const { limits, overrides, limit, id } = wholeBucketWords(call);
    const loaded = await loadFiles({ limits, overrides }, call);
    return withLimits(loaded, call, ({ limiter }) => use(limiter, canonicalName(limiter, loaded, { limit, id })));
  }
  const [limit = '', id = ''] = [call.text('limit'), ...call.args].filter((word) => word !== undefined);
  call.console.note('Neither the name nor the id was checked. To check them, begin with the file of limits.');
  return withLimits({ limits: onlyNamed(limit) }, call, ({ limiter }) =>
    use(limiter, { name: { limit, id: addressOr(id) }, blockedBy: null }),
  );
}

/** The limit of a name alone. Its numbers are not used. */
function onlyNamed(limit: string): { readonly [name: string]: RateDefinition } {
  return { [limit]: { key: accountId(), count: 1, period: '1s' } };
}

/** An id of another format is taken as it is written. */
function addressOr(id: string): string {
  const [host = '', length] = id.split('/');
  const address = IpAddress.parse(host);
  if (address === undefined) return id;
  return length !== undefined && /^\d{1,3}$/.test(length) ? address.network(Number(length)) : address.text;
}
