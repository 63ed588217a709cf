import { shown, SluiceError } from '../checks/errors.ts';
import { triedOf } from '../store/alternatives.ts';
import type { StoreReading, StoreTransaction, StoreOperation } from '../store/store.ts';

/** A part of a bucket's entry that its reading depends on. */
type ReadEntry = Partial<Pick<StoreTransaction, 'period'>>;

/**
 * Rejects an invalid answer of a store. With numbers that are not whole, decisions would be wrong.
 *
 * @throws {SluiceError} `ERR_STORE_ANSWER`.
 */
export function checkReading(operation: StoreOperation, answer: unknown): asserts answer is StoreReading {
  if (!isReadingOf(operation, answer)) throw nonsense(operation, answer);
}

function isReadingOf(operation: StoreOperation, answer: unknown): boolean {
  if (typeof answer !== 'object' || answer === null) return false;
  const { passed, nowTicks, levelsTicks } = answer as Partial<StoreReading>;
  if (!Number.isSafeInteger(nowTicks) || !Array.isArray(levelsTicks)) return false;
  if (!('alternatives' in operation))
    return !hasLevels(operation) || areLevels(operation.batch as readonly ReadEntry[], answer as StoreReading);
  const { alternatives } = operation;
  if (!Number.isInteger(passed) || passed! < -1 || passed! >= alternatives.length) return false;
  const entries = alternatives.length === 1 ? alternatives[0]! : triedOf(alternatives, passed!).flat();
  return areLevels(entries, answer as StoreReading);
}

function hasLevels({ kind }: StoreOperation): boolean {
  return kind !== 'renew' && kind !== 'release' && kind !== 'reset';
}

function areLevels(entries: readonly ReadEntry[], reading: StoreReading): boolean {
  const { levelsTicks, bucketNowTicks, bucketWallMs } = reading;
  if (levelsTicks.length !== entries.length) return false;
  if (bucketNowTicks !== undefined && !areClocks(entries, bucketNowTicks)) return false;
  if (bucketWallMs !== undefined && !areWallTimes(entries, bucketWallMs)) return false;
  for (let i = 0; i < entries.length; i++) {
    const level: unknown = levelsTicks[i];
    if (!Number.isSafeInteger(level) || (level as number) < 0) return false;
    if (entries[i]!.period !== undefined && bucketWallMs?.[i] === undefined) return false;
  }
  return true;
}

function areClocks({ length }: readonly ReadEntry[], clocks: unknown): boolean {
  return Array.isArray(clocks) && clocks.length === length && clocks.every(Number.isSafeInteger);
}

function areWallTimes({ length }: readonly ReadEntry[], times: unknown): boolean {
  if (!Array.isArray(times) || times.length !== length) return false;
  return times.every((time) => time === undefined || Number.isSafeInteger(time));
}

function nonsense(operation: StoreOperation, answer: unknown): SluiceError {
  const batches = 'alternatives' in operation ? operation.alternatives : [operation.batch];
  const count = batches.reduce((sum, { length }) => sum + length, 0);
  const most =
    batches.length === 1 ? `${count} in all` : `${count} in all batches, but only up to the first that passes`;
  const verdict = 'alternatives' in operation ? 'in `passed` the index of the batch that passed or -1, ' : '';
  return new SluiceError(
    'ERR_STORE_ANSWER',
    `A store must return ${verdict}a whole number \`nowTicks\` and in \`levelsTicks\` one whole number for each bucket, ` +
      `${most}, from 0 up, and as many in \`bucketNowTicks\` and \`bucketWallMs\` if it returns those or a bucket has a period, ` +
      `but returned ${shown(answer)}. ` +
      `Run the store contract of @sluice/core/testing against this store.`,
  );
}
