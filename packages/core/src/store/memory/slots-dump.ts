import { complaint } from '../../checks/errors.ts';
import { isPlainObject } from '../../checks/options.ts';
import type { HandedBucket, SlotTable } from '../provided.ts';
import { passedSince } from './dump.ts';
import type { WallClock } from './store-time.ts';

/** What a part with slots begins with, the version of its format included. */
const MAGIC = 'SluiceSL1';

/** A part has at most so many ranges of slots of a bucket, and no other bucket when it has as many. */
const RANGES_PER_PART = 1000;

interface SlotsDump {
  readonly wallMs: number;
  readonly buckets: readonly HandedBucket[];
}

/** Returns the slots that are held as bytes, in parts. The store must not change meanwhile. */
export function* slotDumpsOf(slots: SlotTable, now: number, wallMs: number): Generator<Uint8Array> {
  let buckets: HandedBucket[] = [];
  let ranges = 0;
  for (const { limit, key, slots: all } of slots.handed(now)) {
    for (let from = 0; from < all.length; from += RANGES_PER_PART) {
      const part = all.slice(from, from + RANGES_PER_PART);
      buckets.push({ limit, key, slots: part });
      ranges += part.length;
      if (ranges < RANGES_PER_PART) continue;
      yield encoded({ wallMs, buckets });
      buckets = [];
      ranges = 0;
    }
  }
  if (buckets.length > 0) yield encoded({ wallMs, buckets });
}

function encoded(dump: SlotsDump): Uint8Array {
  return new TextEncoder().encode(MAGIC + JSON.stringify(dump));
}

/** Whether a part has slots, and not buckets. */
export function isSlotsDump(part: Uint8Array): boolean {
  return new TextDecoder().decode(part.subarray(0, MAGIC.length)) === MAGIC;
}

/** @throws {SluiceError} `ERR_DUMP` if the bytes are damaged. */
export function addSlotsDump(slots: SlotTable, part: Uint8Array, wall: WallClock, now: number): void {
  const { wallMs, buckets } = readSlotsDump(part);
  const passedTicks = passedSince(wallMs, wall.nowMs());
  for (const bucket of buckets) slots.takeOver(bucket, passedTicks, now);
}

function readSlotsDump(part: Uint8Array): SlotsDump {
  try {
    const dump: unknown = JSON.parse(new TextDecoder().decode(part.subarray(MAGIC.length)));
    if (isSlotsDumpOfNumbers(dump)) return dump;
  } catch {
    // It is not JSON.
  }
  throw complaint('ERR_DUMP', {
    option: 'part',
    demand: 'the slots that another store has handed over',
    value: part,
    remedy: 'Do not use the rest either: all slots are then free.',
  });
}

function isSlotsDumpOfNumbers(dump: unknown): dump is SlotsDump {
  return isPlainObject(dump) && Number.isFinite(dump['wallMs']) && isListOf(dump['buckets'], isBucket);
}

function isBucket(value: unknown): value is HandedBucket {
  if (!isPlainObject(value)) return false;
  const { limit, key, slots } = value;
  return typeof limit === 'string' && typeof key === 'string' && isListOf(slots, isRange);
}

function isRange(value: unknown): boolean {
  if (!isPlainObject(value) || typeof value['holder'] !== 'string') return false;
  return ['from', 'to', 'leftTicks', 'expiryTicks'].every((name) => Number.isFinite(value[name]));
}

function isListOf(value: unknown, is: (each: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every((each) => is(each));
}
