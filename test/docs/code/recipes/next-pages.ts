import { SluiceError } from '@sluice/core';
import {
  flowSettings,
  NodeExchange,
  runFlow,
  sendDenial,
  type MiddlewareOptions,
  type RequestDecision,
} from '@sluice/core/http';
import type { IncomingMessage, ServerResponse } from 'node:http';

type Handler<Req, Res> = (req: Req, res: Res) => unknown;

/** Limits an API route: `export default limited({ limiter, limits: ['Orders'] }, handler)`. */
export function limited<Req extends IncomingMessage, Res extends ServerResponse>(
  options: MiddlewareOptions<Req, readonly [Req, Res]>,
  handler: Handler<Req, Res>,
): Handler<Req, Res> {
  const settings = flowSettings<Req, readonly [Req, Res]>(options, []);
  return async (req, res) => {
    try {
      const refusal = await runFlow(settings, new RouteExchange(req, req, res), [req, res]);
      if (refusal === null) await handler(req, res);
      else if (refusal !== 'left') sendDenial(settings, res, refusal);
    } catch (error) {
      // The client's own data is at fault, such as an id that is too long. Next answers 500 to every other error.
      if (!(error instanceof SluiceError) || error.status !== 400) throw error;
      res.statusCode = 400;
      res.end();
    }
  };
}

class RouteExchange<Req> extends NodeExchange<Req> {
  decision: RequestDecision | undefined;
}
