import type { LoadedLimits } from '@sluice/config';
import { SluiceError } from '@sluice/core';
import { limitsOf } from '@sluice/core/kit';
import type { BucketName } from '@sluice/core/store';
import type { Call } from '../console/command.ts';
import { UsageError } from '../console/failure.ts';
import { bucketOfKey, patternOf } from '../redis/bucket-of-key.ts';
import { withLimits, type OpenLimits } from '../redis/open-limits.ts';
import { KEYS_OF_A_STEP, scannedKeys } from '../redis/scan.ts';
import { figuresOf, type Figures } from './figures.ts';
import { loadFiles } from './files.ts';

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
  buckets: number;
  /** Buckets whose id is too long to be in its key. */
  longIds: number;
  /** Buckets that contain something else. */
  broken: number;
}

/**
 * Finds the emptiest buckets in Redis, of the files and the limit that a call names. Ends early after Ctrl-C.
 *
 * @param count - How many buckets are kept.
 * @param maxKeys - About how many keys are looked at.
 */
export async function emptiestBuckets(
  call: Call,
  { count, maxKeys }: { readonly count: number; readonly maxKeys: number },
): Promise<{ readonly found: Found; readonly top: readonly Figures[] }> {
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
  const { limiter, client, keyOptions } = open;
  if (client === undefined) {
    throw new UsageError(
      '`sluice top` lists the buckets of Redis alone. For one bucket of another store, use sluice peek.',
    );
  }
  const { time, interrupted } = call.console;
  const only = call.text('limit');
  // Throws for the name of no limit.
  if (only !== undefined) limiter.describe(only);
  const limits = limitsOf(limiter);
  const found = { complete: true, keys: 0, buckets: 0, longIds: 0, broken: 0 };
  const progress = call.console.progress({ bytes: undefined });
  let lookedAt = 0;
  for await (const keys of scannedKeys(client, { pattern: patternOf(only, keyOptions), time })) {
    found.complete = lookedAt < maxKeys && !interrupted.aborted;
    if (!found.complete) break;
    lookedAt += KEYS_OF_A_STEP;
    found.keys += keys.length;
    progress.show((seconds) => `${found.keys} keys  ${Math.round(found.keys / seconds)} keys/s`);
    const contents = await Promise.all(keys.map((key) => bucketOfKey(key, limits, keyOptions)));
    const named = contents.filter((content) => typeof content !== 'string');
    found.longIds += contents.filter((content) => content === 'long id').length;
    // Asked in one turn of the event loop, so that the store sends few calls.
    const figures = await Promise.all(
      named
        .filter(({ limit }) => only === undefined || limit === only)
        .map((bucket) => figuresIfAny(bucket, open, loaded)),
    );
    for (const each of figures) {
      if (each === 'broken') found.broken++;
      else if (each.state === 'counted') {
        found.buckets++;
        emptiest.add(each);
      }
    }
  }
  progress.end();
  return found;
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
