import { NodeExchange, type RequestDecision } from '@sluice/core/http';
import type { Context } from 'koa';
import { keepFieldsOnError } from './error-fields.ts';

/** Adapts a Koa context to the flow of core. */
export class KoaExchange extends NodeExchange<Context> {
  readonly #names: string[] = [];

  get decision(): RequestDecision | undefined {
    return this.request.state['rateLimit'];
  }

  set decision(decision: RequestDecision) {
    this.request.state['rateLimit'] = decision;
  }

  override setField(name: string, value: string): void {
    super.setField(name, value);
    if (this.#names.push(name) === 1) keepFieldsOnError(this.request, this.#names);
  }
}
