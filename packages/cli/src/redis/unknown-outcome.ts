import { SluiceError } from '@sluice/core';
import { CommandError } from '../console/failure.ts';

/**
 * Waits for a change of a bucket. Where Redis may have made it although there is no answer, the error says so.
 *
 * @param remedy - What to do then.
 * @throws {CommandError} If it is not known whether the change was made. Otherwise what `change` throws.
 */
export async function made<Result>(change: () => Promise<Result>, remedy: string): Promise<Result> {
  try {
    return await change();
  } catch (error) {
    if (!(error instanceof SluiceError) || error.kind !== 'store') throw error;
    throw new CommandError(`${error.message} It is not known whether the change was made. ${remedy}`);
  }
}
