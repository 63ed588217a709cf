import type { Awaitable } from '@sluice/core';
import { withFields } from './fields.ts';
import type { RequestState } from './request-state.ts';

/** How one limited handler answers a request. */
export interface Answering {
  /** Decides the request, and returns the response of the handler or the denial. */
  readonly run: () => Awaitable<Response>;
  /** Returns the response to an error, or throws the error on. */
  readonly onError: (error: unknown) => Awaitable<Response>;
  /** Called with the response before it ends. */
  readonly onResponse: (response: Response) => void;
}

/**
 * Answers a request with the fields of its limits. The outermost of several limited handlers observes the end of the
 * response. Returns at once if `run` does.
 */
export function answer(state: RequestState, { run, onError, onResponse }: Answering): Awaitable<Response> {
  const isOutermost = !state.isActive;
  state.isActive = true;
  const finish = (response: Response): Response => {
    // Handlers of Bun return nothing for a request that they have upgraded.
    const answered = (response as Response | undefined) === undefined ? response : withFields(response, state.fields);
    if (answered !== undefined) onResponse(answered);
    if (!isOutermost) return answered;
    state.isActive = false;
    return state.end.observe(answered);
  };
  const leave = (error: unknown): never => {
    if (isOutermost) {
      state.isActive = false;
      // The server makes a response that is not seen here.
      state.end.end('aborted');
    }
    throw error;
  };
  const fail = (error: unknown): Awaitable<Response> => settled(() => onError(error), finish, leave);
  return settled(run, finish, fail);
}

/** Calls a function and, at once or when its promise settles, one of two others. */
function settled(
  run: () => Awaitable<Response>,
  finish: (response: Response) => Response,
  fail: (error: unknown) => Awaitable<Response>,
): Awaitable<Response> {
  try {
    const response = run();
    return isThenable(response) ? Promise.resolve(response).then(finish).catch(fail) : finish(response);
  } catch (error) {
    return fail(error);
  }
}

function isThenable(response: Awaitable<Response>): response is Promise<Response> {
  return typeof (response as { readonly then?: unknown } | undefined)?.then === 'function';
}
