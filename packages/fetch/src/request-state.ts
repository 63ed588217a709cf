import type { RequestDecision } from '@sluice/core/http';
import type { Fields } from './fields.ts';
import { ResponseEnd } from './response-end.ts';
import { listenForErrors } from './upgraded-connection.ts';

/** What all limits of one request share. A `Request` has no place for it, and handlers may get it from several of them. */
export interface RequestState {
  /** Fields for the response, whoever makes it. */
  readonly fields: Fields;
  readonly end: ResponseEnd;
  decision: RequestDecision | undefined;
  /** Whether a limited handler is at work on the request. */
  isActive: boolean;
}

const states = new WeakMap<Request, RequestState>();

/**
 * Returns the state of a request that its limits share. A request that was answered and is handled again has a new one.
 *
 * @param args - The other arguments of the handler.
 */
export function stateOf(request: Request, args: readonly unknown[]): RequestState {
  const known = states.get(request);
  if (known?.isActive === true) return known;
  const state: RequestState = {
    fields: new Map(),
    end: new ResponseEnd(request, () => args),
    decision: undefined,
    isActive: false,
  };
  states.set(request, state);
  for (const each of args) listenForErrors(each);
  return state;
}

/**
 * Returns the decision about a request, the strictest of all limits so far; `undefined` if no limit applied.
 *
 * @param request - The `Request` that the limited handler got; a copy of it has no decision.
 */
export function decisionOf(request: Request): RequestDecision | undefined {
  return states.get(request)?.decision;
}
