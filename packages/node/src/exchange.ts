import { NodeExchange, type RequestDecision } from '@sluice/core/http';
import type { IncomingMessage, ServerResponse } from 'node:http';

interface Limited extends IncomingMessage {
  rateLimit?: RequestDecision;
}

/** The listeners that {@link followed} made: each reports the end of the listener inside it. */
const following = new WeakSet<object>();

/** By request, what to call when its listener has ended. Several limits around one listener wait for the same end. */
const waiting = new WeakMap<IncomingMessage, (() => void)[]>();

/** Adapts a request and a response of Node to the flow of core. */
export class HttpExchange extends NodeExchange<IncomingMessage> {
  constructor(request: IncomingMessage, response: ServerResponse) {
    super(request, request, response);
  }

  get decision(): RequestDecision | undefined {
    return (this.request as Limited).rateLimit;
  }

  set decision(decision: RequestDecision) {
    (this.request as Limited).rateLimit = decision;
  }

  override onHandled(done: () => void): void {
    const known = waiting.get(this.request);
    if (known === undefined) waiting.set(this.request, [done]);
    else known.push(done);
  }

  /**
   * Calls a listener, and reports when it has ended: when its promise settles. One that returns none has ended when the
   * response was ended.
   */
  proceed(listener: (request: never, response: never) => unknown): unknown {
    const run = (): unknown => listener(this.request as never, this.outgoing as never);
    const callbacks = following.has(listener) ? undefined : this.#taken();
    if (callbacks === undefined) return run();
    const end = (): void => callbacks.forEach((done) => done());
    let result: unknown;
    try {
      result = run();
    } catch (error) {
      end();
      throw error;
    }
    // Not `then` on the result: some query builders run their query at each call.
    if (isThenable(result)) return Promise.resolve(result).finally(end);
    super.onHandled(end);
    return result;
  }

  /** Reports the end of a listener that is not called, when the response that it would have sent was ended. */
  refuse(): void {
    const callbacks = this.#taken();
    if (callbacks !== undefined) super.onHandled(() => callbacks.forEach((done) => done()));
  }

  #taken(): (() => void)[] | undefined {
    const callbacks = waiting.get(this.request);
    if (callbacks !== undefined) waiting.delete(this.request);
    return callbacks;
  }
}

/** Marks a listener that calls {@link HttpExchange.proceed} or {@link HttpExchange.refuse} for each request. */
export function followed<Listener extends object>(listener: Listener): Listener {
  following.add(listener);
  return listener;
}

function isThenable(result: unknown): boolean {
  return typeof (result as { readonly then?: unknown } | null | undefined)?.then === 'function';
}
