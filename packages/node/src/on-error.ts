import type { StatusSettings } from '@sluice/core/http';
import { checkFunction, reasonOf } from '@sluice/core/kit';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { statusOf } from './error-status.ts';
import type { HttpExchange } from './exchange.ts';

/**
 * Answers a request about which a function of yours threw: that of a key, a cost, `skip` or `onDenied`. It has to end the
 * response. The listener is not called.
 */
export type OnError = (error: unknown, request: IncomingMessage, response: ServerResponse) => unknown;

/**
 * Returns a function that answers requests about which a function of the user threw.
 *
 * @throws {SluiceError} `ERR_OPTION` if `onError` is not a function.
 */
export function errorSender(
  { emit }: Pick<StatusSettings<IncomingMessage>['limiter'], 'emit'>,
  onError: OnError | undefined,
): (error: unknown, exchange: HttpExchange) => unknown {
  checkFunction(
    'onError',
    onError,
    'It answers requests whose limits failed: onError: (error, request, response) => …',
  );
  if (onError !== undefined)
    return (error: unknown, { request, outgoing }: HttpExchange) => onError(error, request, outgoing);
  return (error: unknown, { outgoing }: HttpExchange): void => {
    const status = statusOf(error);
    if (status === 500) emit({ type: 'request-failed', cause: error, message: failure(error) });
    if (!outgoing.headersSent) outgoing.statusCode = status;
    outgoing.end();
  };
}

function failure(error: unknown): string {
  return `The limits of a request failed (${reasonOf(error)}). It was answered with 500. To answer it yourself, use onError: (error, request, response) => ….`;
}
