import { NodeExchange, type RequestDecision } from '@sluice/core/http';
import type { Context } from 'koa';
import { keepFieldOnError } from './error-fields.ts';

/** Adapts a Koa context to the flow of core. */
export class KoaExchange extends NodeExchange<Context> {
  get decision(): RequestDecision | undefined {
    return this.request.state['rateLimit'];
  }

  set decision(decision: RequestDecision) {
    this.request.state['rateLimit'] = decision;
  }

  override setField(name: string, value: string): void {
    super.setField(name, value);
    keepFieldOnError(this.request, name);
  }
}
