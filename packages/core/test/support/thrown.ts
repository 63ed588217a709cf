import { SluiceError } from '@sluice/core';

/** The error that a call throws. Anything but a SluiceError fails the test. */
export function thrown(call: () => unknown): SluiceError {
  try {
    call();
  } catch (error) {
    if (error instanceof SluiceError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

/** The error that a call rejects with. Anything but a SluiceError fails the test. */
export async function rejected(call: () => unknown): Promise<SluiceError> {
  try {
    await call();
  } catch (error) {
    if (error instanceof SluiceError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}
