import { SluiceError, type BucketName } from '@sluice/core';
import { limitsOf } from '@sluice/core/kit';
import type { LoadedLimits } from '@sluice/config';
import type { Call } from '../console/command.ts';
import { EXIT } from '../console/exit-code.ts';
import { Emptiest } from '../limits/emptiest.ts';
import { emptinessLine, figuresOf, type Figures } from '../limits/figures.ts';
import { loadFiles } from '../limits/files.ts';
import { bucketOfKey, patternOf } from '../redis/bucket-of-key.ts';
import { withLimits, type OpenLimits } from '../redis/open-limits.ts';
import { KEYS_OF_A_STEP, scannedKeys } from '../redis/scan.ts';

/** What a scan has found. */
interface Found {
  /** Whether all keys were seen. */
  complete: boolean;
  /** Those of these limits. */
  keys: number;
  buckets: number;
  /** Buckets whose id is too long to be in its key. */
  longIds: number;
  /** Buckets that contain something else. */
  broken: number;
}

/** Runs `sluice top`. */
export async function runTop(call: Call): Promise<number> {
  const { args, console } = call;
  const count = call.wholeNumber('count', { min: 1, max: 10_000, unset: 10 });
  const maxKeys = call.wholeNumber('maxKeys', { min: 1, max: 1_000_000_000, unset: 1_000_000 });
  const loaded = await loadFiles({ limits: args[0]!, overrides: args[1] }, call);
  const emptiest = new Emptiest(count);
  const found = await withLimits(loaded, call, (open) => scan(call, { open, loaded, emptiest, maxKeys }));
  for (const note of notesOn(found, console.interrupted.aborted)) console.note(note);
  console.result({ ...found, top: emptiest.list }, () => emptiest.list.map(emptinessLine));
  return EXIT.fine;
}

interface Scan {
  readonly open: OpenLimits;
  readonly loaded: LoadedLimits;
  readonly emptiest: Emptiest;
  readonly maxKeys: number;
}

async function scan(call: Call, { open, loaded, emptiest, maxKeys }: Scan): Promise<Found> {
  const { limiter, client, keyOptions } = open;
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

function* notesOn({ complete, keys, buckets, longIds, broken }: Found, wasInterrupted: boolean): Generator<string> {
  yield `Keys: ${keys}. Buckets of these limits: ${buckets}.`;
  if (!complete) yield `Not all keys were scanned.${wasInterrupted ? '' : ' To look at more, raise --max-keys.'}`;
  if (longIds > 0) yield `Left out because their id is too long to be in the key: ${longIds}.`;
  if (broken > 0) yield `Left out because they contain something else than a bucket: ${broken}.`;
}
