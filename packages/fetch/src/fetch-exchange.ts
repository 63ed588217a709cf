import type { RequestDecision } from '@sluice/core/http';
import type { RequestState } from './request-state.ts';
import { WebExchange, type WebExchangeParts } from './web-exchange.ts';

/** Adapts a `Request` to the flow of core. Its fields and its decision are kept in the state that its limits share. */
export class FetchExchange extends WebExchange<Request> {
  readonly #state: RequestState;

  constructor(parts: WebExchangeParts<Request>, state: RequestState) {
    super(parts);
    this.#state = state;
  }

  get decision(): RequestDecision | undefined {
    return this.#state.decision;
  }

  set decision(decision: RequestDecision | undefined) {
    this.#state.decision = decision;
  }

  getField(name: string): string | undefined {
    return this.#state.fields.get(name.toLowerCase())?.value;
  }

  setField(name: string, value: string): void {
    this.#state.fields.set(name.toLowerCase(), { name, value });
  }
}
