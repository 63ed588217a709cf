import { SluiceError, type Awaitable } from '@sluice/core';
import { checkFunction, isInstance } from '@sluice/core/kit';

/** Answers a request about which a function of yours threw, or whose handler did. */
export type OnError = (error: unknown, request: Request) => Awaitable<Response>;

/**
 * Returns the `onError` of the user, or the default.
 *
 * @throws {SluiceError} `ERR_OPTION`.
 */
export function checkedOnError(onError: OnError | undefined): OnError {
  checkFunction('onError', onError, 'It answers requests that failed: onError: (error, request) => new Response(…).');
  return onError ?? answerClientErrors;
}

function answerClientErrors(error: unknown): Response {
  if (isInstance(error, SluiceError) && error.kind === 'input') return new Response(null, { status: error.status });
  throw error;
}
