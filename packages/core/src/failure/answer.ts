import { shown, SluiceError } from '../errors.ts';
import type { StoreReading } from '../store.ts';

/** The reading of no bucket at all. */
export const EMPTY_READING: StoreReading = { nowTicks: 0, levelsTicks: [] };

interface Bucket {
  readonly toleranceTicks: number;
}

/**
 * Refuses an answer that no store may give: numbers that are not whole would make decisions that mean nothing.
 *
 * @throws {SluiceError} `ERR_STORE_ANSWER`.
 */
export function checkReading(batch: readonly Bucket[], answer: unknown): asserts answer is StoreReading {
  if (!isReading(batch, answer)) throw nonsense(batch, answer);
}

function isReading(batch: readonly Bucket[], answer: unknown): boolean {
  if (typeof answer !== 'object' || answer === null) return false;
  const { nowTicks, levelsTicks: levels, bucketNowTicks } = answer as Partial<StoreReading>;
  if (bucketNowTicks !== undefined && !areClocks(batch, bucketNowTicks)) return false;
  if (!Number.isSafeInteger(nowTicks) || !Array.isArray(levels) || levels.length !== batch.length) return false;
  for (let i = 0; i < batch.length; i++) {
    const level: unknown = levels[i];
    if (!isWhole(level) || level < 0 || level > batch[i]!.toleranceTicks) return false;
  }
  return true;
}

function areClocks(batch: readonly Bucket[], clocks: unknown): boolean {
  return Array.isArray(clocks) && clocks.length === batch.length && clocks.every(Number.isSafeInteger);
}

function isWhole(value: unknown): value is number {
  return Number.isInteger(value);
}

function nonsense(batch: readonly Bucket[], answer: unknown): SluiceError {
  const tolerances = batch.map(({ toleranceTicks }) => toleranceTicks);
  return new SluiceError(
    'ERR_STORE_ANSWER',
    `A store must answer with a whole number \`nowTicks\` and in \`levelsTicks\` one whole number for each bucket, ` +
      `from 0 to ${shown(tolerances)}, but it answered ${shown(answer)}. ` +
      `Run the store contract of @sluice/core/testing against this store.`,
  );
}
