import type { Awaitable } from '@sluice/core';
import type { Exchange, ExchangeEnd, RequestDecision } from '@sluice/core/http';
import type { PeerAddress } from './address.ts';
import type { ResponseEnd } from './response-end.ts';

/** What an exchange is made of. */
export interface WebExchangeParts<Native> {
  /** What users' functions get. */
  readonly native: Native;
  readonly request: Request;
  readonly address: PeerAddress;
  readonly end: ResponseEnd;
}

/** An exchange whose request is a `Request`. Where its fields and its decision are is left to the framework. */
export abstract class WebExchange<Native> implements Exchange<Native> {
  readonly request: Native;
  readonly #request: Request;
  readonly #address: PeerAddress;
  readonly #end: ResponseEnd;
  #handled: (() => unknown) | undefined;

  constructor({ native, request, address, end }: WebExchangeParts<Native>) {
    this.request = native;
    this.#request = request;
    this.#address = address;
    this.#end = end;
  }

  abstract decision: RequestDecision | undefined;
  abstract getField(name: string): string | undefined;
  abstract setField(name: string, value: string): void;

  get method(): string {
    return this.#request.method;
  }

  get peer(): Exchange<Native>['peer'] {
    return this.#address.peer ?? (this.hasLeft ? 'left' : undefined);
  }

  get hasLeft(): boolean {
    return this.#end.hasLeft;
  }

  get closesUnseen(): boolean {
    return this.#end.closesUnseen;
  }

  header(name: string): string | undefined {
    return this.#request.headers.get(name) ?? undefined;
  }

  onEnd(done: (end: ExchangeEnd) => unknown): void {
    this.#end.onEnd(done);
  }

  onHandled(done: () => unknown): void {
    this.#handled = done;
  }

  /** Calls the handler, and reports when its promise settles. */
  proceed<T>(handle: () => Awaitable<T>): Awaitable<T> {
    const done = this.#handled;
    if (done === undefined) return handle();
    return new Promise<T>((resolve) => resolve(handle())).finally(() => this.#end.keepFor(done()));
  }
}
