import { accountId, IpAddress, SluiceError, type BlockEntry, type Limiter, type RateDefinition } from '@sluice/core';
import { DURATION_PATTERN, durationTicks, limitsOf } from '@sluice/core/kit';
import { TICKS_PER_MS, type BucketName, type StoreBlock } from '@sluice/core/store';
import type { Call } from '../console/command.ts';
import { CommandError, UsageError } from '../console/failure.ts';
import { withLimits } from '../redis/open-limits.ts';
import { Audit, whoDoes } from './audit.ts';
import { endsLikeFile, wholeBucketWords } from './bucket-words.ts';
import { loadFiles } from './files.ts';
import { shownBlock, type ShownBlock } from './shown-block.ts';

export { blockText, namedText } from './shown-block.ts';

const MAX_MS = 7_776_000_000;

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
  const range = { minMs: 0.001, maxMs: MAX_MS, demand: '' };
  try {
    if (DURATION_PATTERN.test(text)) return Math.ceil(durationTicks('--for', text, range) / TICKS_PER_MS);
  } catch {
    // As for another text.
  }
  throw new UsageError(
    `\`--for\` must be longer than 0 and at most 90d, but was '${text}'. For example --for 2h. To block an id for longer, list it in the file of overrides with blocked: true.`,
  );
}

/** Blocks the id that the words of a call name. */
export function blockId(call: Call): Promise<ShownBlock> {
  const entry = blockOf(call);
  const audit = new Audit(call, 'block', { isExplained: true });
  return withNamed(call, async (limiter, name) => {
    const make = async (): Promise<StoreBlock> => (await changed(limiter.block([{ ...name, ...entry }])))[0]!;
    return shownBlock(await audit.ofBlock(name, make));
  });
}

/** Ends the block of the id that the words of a call name. */
export function unblockId(call: Call): Promise<{ readonly name: BucketName; readonly ended: ShownBlock | undefined }> {
  const audit = new Audit(call, 'unblock');
  return withNamed(call, async (limiter, name) => {
    const make = async (): Promise<StoreBlock | undefined> => (await changed(limiter.unblock([name])))[0];
    const block = await audit.ofBlock(name, make);
    return { name, ended: block && shownBlock(block) };
  });
}

/** Reads the blocks of the store, of one limit or of all, the first to end first. */
export async function listedBlocks(call: Call, limit: string | undefined): Promise<readonly ShownBlock[]> {
  const limits = limit === undefined ? {} : onlyNamed(limit);
  return withLimits({ limits }, call, async ({ limiter }) => {
    const blocks = await limiter.blocked(limit);
    return blocks.toSorted((a, b) => a.untilMs - b.untilMs).map(shownBlock);
  });
}

/** Opens the store, with the limits of the files or with the one that is named. */
async function withNamed<Result>(
  call: Call,
  use: (limiter: Limiter, name: BucketName) => Promise<Result>,
): Promise<Result> {
  const words = call.args.length + (call.text('limit') === undefined ? 0 : 1);
  // A word that was left out, and not files.
  if (words > 2 || call.args.length === 0 || endsLikeFile(call.args[0]!)) {
    const { limits, overrides, limit, id } = wholeBucketWords(call);
    const loaded = await loadFiles({ limits, overrides }, call);
    return withLimits(loaded, call, ({ limiter }) => use(limiter, { limit, id: canonical(limiter, limit, id) }));
  }
  const [limit = '', id = ''] = [call.text('limit'), ...call.args].filter((word) => word !== undefined);
  call.console.note('Neither the name nor the id was checked. To check them, begin with the file of limits.');
  return withLimits({ limits: onlyNamed(limit) }, call, ({ limiter }) => use(limiter, { limit, id: addressOr(id) }));
}

/** The limit of a name alone. Its numbers are not used. */
function onlyNamed(limit: string): { readonly [name: string]: RateDefinition } {
  return { [limit]: { key: accountId(), count: 1, period: '1s' } };
}

function canonical(limiter: Limiter, limit: string, id: string): string {
  return limitsOf(limiter).get(limit)?.key.format.canonical(id) ?? id;
}

/** An id of another format is taken as it is written. */
function addressOr(id: string): string {
  const [host = '', length] = id.split('/');
  const address = IpAddress.parse(host);
  if (address === undefined) return id;
  return length !== undefined && /^\d{1,3}$/.test(length) ? address.network(Number(length)) : address.text;
}

/** @throws {CommandError} If it is not known whether the change was made. */
async function changed<Result>(change: Promise<Result>): Promise<Result> {
  try {
    return await change;
  } catch (error) {
    if (!(error instanceof SluiceError) || error.kind !== 'store') throw error;
    throw new CommandError(`${error.message} It is not known whether the change was made. It can be repeated safely.`);
  }
}
