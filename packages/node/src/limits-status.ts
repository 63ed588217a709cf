import { limitsStatusOf, sendDenial, statusSettings, type LimitsStatusOptions } from '@sluice/core/http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { HttpExchange } from './exchange.ts';
import type { NodeRequest, NodeResponse } from './limit-node.ts';
import { errorSender, type OnError } from './on-error.ts';

/** The options of {@link limitsStatus}. On a server of `node:http2` the functions get its requests and responses. */
export type StatusOptions<Name extends string = string> = LimitsStatusOptions<IncomingMessage, Name> & {
  /** Answers a request about which the function of a key threw. Default: as in `limitNode`. */
  readonly onError?: OnError | undefined;
};

/**
 * Creates a listener that shows a client what is left of its limits, and takes nothing.
 *
 *     const status = limitsStatus({ limiter, limits: ['PerClient', 'PerAccount'] });
 *     createServer((request, response) => (request.url === '/rate_limit' ? status : hello)(request, response));
 *
 * It answers with JSON, `{ "limits": { "PerClient": { "limit": 100, "remaining": 98, "reset": 1798761601 } } }`, and
 * with the usual header fields. `reset` is in seconds since 1970. Errors of keys go to `onError`. When the store can't
 * answer, the status is 503.
 *
 * @throws {SluiceError} If an option is wrong. The message names the option, the demand, the value and the remedy.
 */
export function limitsStatus<Name extends string = string>(
  options: StatusOptions<Name>,
): (request: NodeRequest, response: NodeResponse) => Promise<void> {
  const settings = statusSettings<IncomingMessage>(options, ['onError']);
  const fail = errorSender(settings.limiter, options.onError);
  return async function limitsStatusListener(request, response) {
    const exchange = new HttpExchange(request as IncomingMessage, response as ServerResponse);
    try {
      const answer = await limitsStatusOf(settings, exchange);
      if (answer !== 'left') sendDenial(settings, exchange.outgoing, answer);
    } catch (error) {
      await fail(error, exchange);
    }
  };
}
