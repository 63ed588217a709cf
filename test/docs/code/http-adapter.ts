import { SluiceError } from '@sluice/core';
import {
  flowSettings,
  NodeExchange,
  runFlow,
  sendDenial,
  type MiddlewareOptions,
  type RequestDecision,
} from '@sluice/core/http';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

type SettleArgs = readonly [IncomingMessage, ServerResponse];

/** What the limits decided about each request. */
const decisions = new WeakMap<IncomingMessage, RequestDecision>();

class HttpExchange extends NodeExchange<IncomingMessage> {
  get decision(): RequestDecision | undefined {
    return decisions.get(this.request);
  }

  set decision(decision: RequestDecision) {
    decisions.set(this.request, decision);
  }
}

/** Limits the requests of a `node:http` server before a listener sees them. */
export function limited(
  options: MiddlewareOptions<IncomingMessage, SettleArgs>,
  listener: RequestListener,
): RequestListener {
  // Checks the options; the second argument names those that only this adapter has.
  const settings = flowSettings<IncomingMessage, SettleArgs>(options, []);

  return async function limitedListener(request, response) {
    try {
      const outcome = await runFlow(settings, new HttpExchange(request, request, response), [request, response]);
      // Its client is gone: nobody is there to be answered.
      if (outcome === 'left') return;
      if (outcome !== null) return sendDenial(settings, response, outcome);
    } catch (error) {
      // What the key, cost and skip functions throw. A framework has an error handler for it.
      response.statusCode = error instanceof SluiceError ? error.status : 500;
      response.end();
      return;
    }
    listener(request, response);
  };
}
