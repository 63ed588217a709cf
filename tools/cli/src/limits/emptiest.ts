import type { LoadedLimits } from '@sluice/config';
import { SluiceError } from '@sluice/core';
import { limitsOf } from '@sluice/core/kit';
import type { BucketName } from '@sluice/core/store';
import type { Call } from '../console/command.ts';
import { UsageError } from '../console/failure.ts';
import { withLimits, type OpenLimits } from '../redis/open-limits.ts';
import { KEYS_OF_A_STEP } from '../redis/listing.ts';
import { bucketsOfIds, bucketsOfListing, type NamedBuckets } from './candidates.ts';
import { figuresOf, type Figures } from './figures.ts';
import { loadFiles } from './files.ts';
import { checkFiles, idsOf } from './sources.ts';

export { emptinessLine } from './figures.ts';

/** The emptiest buckets, a bounded number of them. */
export class Emptiest {
  readonly #most: number;
  readonly #names = new Set<string>();
  #list: Figures[] = [];

  /** @param most - How many buckets are kept. */
  constructor(most: number) {
    this.#most = most;
  }

  /** From the emptiest on. */
  get list(): readonly Figures[] {
    return this.#list;
  }

  /** Adds a bucket. One that is there already is not added again. */
  add(figures: Figures): void {
    const last = this.#list.at(-1);
    if (this.#list.length === this.#most && byEmptiness(figures, last!) >= 0) return;
    const name = nameOf(figures);
    if (this.#names.has(name)) return;
    this.#names.add(name);
    this.#list = [...this.#list, figures].toSorted(byEmptiness);
    if (this.#list.length > this.#most) this.#names.delete(nameOf(this.#list.pop()!));
  }
}

function nameOf({ limit, id }: Figures): string {
  return `${limit}:${id}`;
}

/** By the part that is left, then by the time until the bucket is full, which shows a debt. */
function byEmptiness(a: Figures, b: Figures): number {
  const byPart = a.remaining / a.burst - b.remaining / b.burst;
  return byPart || b.resetAfterMs - a.resetAfterMs || (nameOf(a) < nameOf(b) ? -1 : 1);
}

/** What a scan has found. */
export interface Found {
  /** Whether all keys were seen. */
  complete: boolean;
  /** Keys of these limits. */
  keys: number;
  /** Buckets that are not full. */
  buckets: number;
  /** Buckets whose id is too long to be in its key. */
  longIds: number;
  /** Buckets that contain something else. */
  broken: number;
  /** Buckets of ids that are blocked. */
  blocked: number;
}

/**
 * Finds the emptiest buckets of a store, of the files, the limit and the ids that a call names. Ends early after Ctrl-C.
 *
 * @param count - How many buckets are kept.
 * @param maxKeys - About how many keys are looked at.
 */
export async function emptiestBuckets(
  call: Call,
  { count, maxKeys }: { readonly count: number; readonly maxKeys: number },
): Promise<{ readonly found: Found; readonly top: readonly Figures[] }> {
  await checkFiles([...call.args, call.text('ids')]);
  const loaded = await loadFiles({ limits: call.args[0]!, overrides: call.args[1] }, call);
  const emptiest = new Emptiest(count);
  const found = await withLimits(loaded, call, (open) => scan(call, { open, loaded, emptiest, maxKeys }));
  return { found, top: emptiest.list };
}

interface Scan {
  readonly open: OpenLimits;
  readonly loaded: LoadedLimits;
  readonly emptiest: Emptiest;
  readonly maxKeys: number;
}

async function scan(call: Call, { open, loaded, emptiest, maxKeys }: Scan): Promise<Found> {
  const { interrupted } = call.console;
  const found = { complete: true, keys: 0, buckets: 0, longIds: 0, broken: 0, blocked: 0 };
  const progress = call.console.progress({ bytes: undefined });
  let lookedAt = 0;
  for await (const { keys, buckets, longIds } of await stepsOf(call, open)) {
    found.complete = lookedAt < maxKeys && !interrupted.aborted;
    if (!found.complete) break;
    lookedAt += KEYS_OF_A_STEP;
    found.keys += keys;
    found.longIds += longIds;
    progress.show((seconds) => `${found.keys} keys  ${Math.round(found.keys / seconds)} keys/s`);
    // Asked in one turn of the event loop, so that the store sends few calls.
    const figures = await Promise.all(buckets.map((bucket) => figuresIfAny(bucket, open, loaded)));
    for (const each of figures) {
      if (each === 'broken') found.broken++;
      else if (each.state === 'blocked') found.blocked++;
      // A full bucket is the same as none: PostgreSQL deletes its row later.
      else if (each.state === 'counted' && each.remaining < each.burst) {
        found.buckets++;
        emptiest.add(each);
      }
    }
  }
  progress.end();
  return found;
}

/** Returns the buckets to look at: those of the ids that a call names, or else those that the store lists. */
async function stepsOf(call: Call, { limiter, listing }: OpenLimits): Promise<AsyncIterable<NamedBuckets>> {
  const only = call.text('limit');
  // Throws for the name of no limit.
  if (only !== undefined) limiter.describe(only);
  const limits = limitsOf(limiter);
  const { terminal, time } = call.console;
  const file = call.text('ids');
  if (file !== undefined) return bucketsOfIds({ ids: await idsOf(file, terminal), limits, only, time });
  if (listing !== undefined) return bucketsOfListing(listing, { limits, only, time });
  throw new UsageError(
    'A host store has only hashes of ids, so it cannot list its buckets. Name the ids in a file, one on each line: --ids ids.txt. For one bucket, use sluice peek.',
  );
}

async function figuresIfAny(
  { limit, id }: BucketName,
  { limiter }: OpenLimits,
  loaded: LoadedLimits,
): Promise<Figures | 'broken'> {
  try {
    return await figuresOf({ loaded, limiter, limit, id, cost: 1 });
  } catch (error) {
    if (error instanceof SluiceError && error.code === 'ERR_STORE_BUCKET') return 'broken';
    throw error;
  }
}
