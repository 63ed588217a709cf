import { errorOf, limitsStatusOf, statusSettings, type LimitsStatusOptions } from '@sluice/core/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { FastifyExchange, sendDenial } from './exchange.ts';

/**
 * A handler of a route. It names neither the types of a route nor the protocol of the server, so that it fits any of them.
 */
export type StatusHandler = (request: Pick<FastifyRequest, 'id'>, reply: Pick<FastifyReply, 'sent'>) => Promise<void>;

/**
 * Creates a handler of a route that shows a client what is left of its limits, and takes nothing.
 *
 *     app.get('/rate_limit', limitsStatus({ limiter, limits: ['PerClient', 'PerAccount'] }));
 *
 * It answers with JSON, `{ "limits": { "PerClient": { "limit": 100, "remaining": 98, "reset": 1798761601 } } }`, and
 * with the usual header fields. `reset` is in seconds since 1970. Errors of keys go to Fastify's error handler. When the
 * store can't answer, the status is 503.
 *
 * @throws {SluiceError} If an option is wrong. The message names the option, the demand, the value and the remedy.
 */
export function limitsStatus<Name extends string = string>(
  options: LimitsStatusOptions<FastifyRequest, Name>,
): StatusHandler {
  const settings = statusSettings<FastifyRequest>(options);
  async function limitsStatusHandler(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const answer = await limitsStatusOf(settings, new FastifyExchange(request, reply)).catch((error: unknown) => {
      throw errorOf(error);
    });
    if (answer !== 'left') sendDenial(settings, reply, answer);
    // To Fastify it means that the handler sends the answer by itself, whatever the type of the route's answers.
    return reply as never;
  }
  return limitsStatusHandler as StatusHandler;
}
