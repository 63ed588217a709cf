import { shown, SluiceError } from '../checks/errors.ts';
import type { StoreReading, StoreTransaction } from '../store/store.ts';
import { passes } from '../store/transaction-rule.ts';

/** The reading of an empty batch. */
export const EMPTY_READING: StoreReading = { nowTicks: 0, levelsTicks: [] };

/**
 * Rejects an invalid answer of a store. With numbers that are not whole, decisions would be wrong.
 *
 * @throws {SluiceError} `ERR_STORE_ANSWER`.
 */
export function checkReading(batch: readonly unknown[], answer: unknown): asserts answer is StoreReading {
  if (!isReading(batch, answer)) throw nonsense(batch, answer);
}

/**
 * Rejects an invalid answer of `spendFirst`.
 *
 * @throws {SluiceError} `ERR_STORE_ANSWER`.
 */
export function checkReadings(
  alternatives: readonly (readonly StoreTransaction[])[],
  answer: unknown,
): asserts answer is readonly StoreReading[] {
  if (!Array.isArray(answer) || answer.length === 0 || answer.length > alternatives.length) {
    throw wrongReadings(alternatives, answer);
  }
  for (const [i, reading] of (answer as readonly unknown[]).entries()) {
    checkReading(alternatives[i]!, reading);
    const isLast = i === alternatives.length - 1 || passes(alternatives[i]!, reading.levelsTicks);
    if (isLast !== (i === answer.length - 1)) throw wrongReadings(alternatives, answer);
  }
}

function isReading(batch: readonly unknown[], answer: unknown): boolean {
  if (typeof answer !== 'object' || answer === null) return false;
  const { nowTicks, levelsTicks: levels, bucketNowTicks, bucketWallMs } = answer as Partial<StoreReading>;
  if (bucketNowTicks !== undefined && !areClocks(batch, bucketNowTicks)) return false;
  if (bucketWallMs !== undefined && !areWallTimes(batch, bucketWallMs)) return false;
  if (!hasWallTimes(batch, bucketWallMs)) return false;
  if (!Number.isSafeInteger(nowTicks) || !Array.isArray(levels) || levels.length !== batch.length) return false;
  for (let i = 0; i < batch.length; i++) {
    const level: unknown = levels[i];
    if (!Number.isSafeInteger(level) || (level as number) < 0) return false;
  }
  return true;
}

function areClocks(batch: readonly unknown[], clocks: unknown): boolean {
  return Array.isArray(clocks) && clocks.length === batch.length && clocks.every(Number.isSafeInteger);
}

function areWallTimes(batch: readonly unknown[], times: unknown): boolean {
  if (!Array.isArray(times) || times.length !== batch.length) return false;
  return times.every((time) => time === undefined || Number.isSafeInteger(time));
}

/** Whether a reading has the wall time for each bucket with a period. */
function hasWallTimes(batch: readonly unknown[], times: StoreReading['bucketWallMs']): boolean {
  for (let i = 0; i < batch.length; i++) {
    if ((batch[i] as Partial<StoreTransaction>).period !== undefined && times?.[i] === undefined) return false;
  }
  return true;
}

function nonsense(batch: readonly unknown[], answer: unknown): SluiceError {
  return new SluiceError(
    'ERR_STORE_ANSWER',
    `A store must return a whole number \`nowTicks\` and in \`levelsTicks\` one whole number for each bucket, ` +
      `${batch.length} in all, from 0 up, and as many in \`bucketNowTicks\` and \`bucketWallMs\` if it returns those or a bucket has a period, ` +
      `but returned ${shown(answer)}. ` +
      `Run the store contract of @sluice/core/testing against this store.`,
  );
}

function wrongReadings({ length }: readonly unknown[], answer: unknown): SluiceError {
  return new SluiceError(
    'ERR_STORE_ANSWER',
    `\`spendFirst\` of a store must return a reading for each of the ${length} batches up to the first that passes, but ` +
      `returned ${shown(answer)}. Run the store contract of @sluice/core/testing against this store.`,
  );
}
