import { NodeExchange, type RequestDecision } from '@sluice/core/http';
import type { Context, Next } from 'koa';
import { keepFieldOnError } from './error-fields.ts';

/** Adapts a Koa context to the flow of core. */
export class KoaExchange extends NodeExchange<Context> {
  get decision(): RequestDecision | undefined {
    return this.request.state['rateLimit'];
  }

  set decision(decision: RequestDecision) {
    this.request.state['rateLimit'] = decision;
  }

  #done: (() => void) | undefined;

  override onHandled(done: () => void): void {
    this.#done = done;
  }

  /** Calls the next middleware, and reports when its promise settles. */
  proceed(next: Next): Promise<unknown> {
    const done = this.#done;
    return done === undefined ? next() : new Promise((resolve) => resolve(next())).finally(done);
  }

  override setField(name: string, value: string): void {
    super.setField(name, value);
    keepFieldOnError(this.request, name);
  }
}
