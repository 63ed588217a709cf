import { WaitingController, type DispatchController } from './dispatch-controller.ts';
import type { Exchange } from './exchange.ts';
import type { FieldSource } from './fields/field-source.ts';

/** The handlers of undici 7 and 8. */
export interface DispatchHandler {
  onRequestStart?(controller: DispatchController, context: object): void;
  onRequestUpgrade?(controller: DispatchController, status: number, headers: unknown, socket: UpgradedSocket): unknown;
  onResponseStarted?(): void;
  onResponseStart?(controller: DispatchController, status: number, headers: unknown, message?: string): void;
  onResponseData?(controller: DispatchController, chunk: unknown): void;
  onResponseEnd?(controller: DispatchController, trailers: unknown): void;
  onResponseError?(controller: DispatchController, error: Error): void;
  onBodySent?(chunk: unknown): void;
  onRequestSent?(): void;
}

interface UpgradedSocket {
  once(event: 'close', listener: () => void): unknown;
}

/** The handler between undici and that of a request, which may abort while it waits. Frees the slots of what has ended. */
export class LimitedHandler implements DispatchHandler {
  readonly #handler: DispatchHandler;
  readonly #controller: WaitingController;
  readonly #context = {};
  #exchange: Exchange | undefined;
  #hasFailed = false;

  /** @param leaving - Aborted to leave the queue. */
  constructor(handler: DispatchHandler, leaving: AbortController) {
    this.#handler = handler;
    this.#controller = new WaitingController(leaving);
  }

  /** Gives the handler what it aborts with. */
  wait(): void {
    this.#handler.onRequestStart?.(this.#controller, this.#context);
  }

  /** Begins the exchange. */
  begin(exchange: Exchange, send: () => void): void {
    this.#exchange = exchange;
    try {
      send();
    } catch (error) {
      this.fail(error as Error);
    }
  }

  /** Ends a request that was not sent. */
  fail(error: Error): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#over();
    this.#handler.onResponseError?.(this.#controller, error);
  }

  onRequestStart(controller: DispatchController, context: object | undefined): void {
    Object.assign(this.#context, context);
    this.#controller.sent(controller);
  }

  onRequestUpgrade(_: DispatchController, status: number, headers: unknown, socket: UpgradedSocket): unknown {
    socket.once('close', () => this.#over());
    return this.#handler.onRequestUpgrade?.(this.#controller, status, headers, socket);
  }

  onResponseStarted(): void {
    this.#handler.onResponseStarted?.();
  }

  onResponseStart(_: DispatchController, status: number, headers: unknown, message?: string): void {
    if (status >= 200) this.#exchange?.answered({ status, headers: fieldsIn(headers) });
    this.#handler.onResponseStart?.(this.#controller, status, headers, message);
  }

  onResponseData(_: DispatchController, chunk: unknown): void {
    this.#handler.onResponseData?.(this.#controller, chunk);
  }

  // What it throws comes back as an error: so does undici's retry handler.
  onResponseEnd(_: DispatchController, trailers: unknown): void {
    this.#over();
    this.#handler.onResponseEnd?.(this.#controller, trailers);
  }

  onResponseError(_: DispatchController, error: Error): void {
    this.fail(error);
  }

  onBodySent(chunk: unknown): void {
    this.#handler.onBodySent?.(chunk);
  }

  onRequestSent(): void {
    this.#handler.onRequestSent?.();
  }

  #over(): void {
    this.#exchange?.ended();
  }
}

/** Fields as undici 7 and 8 give them: an object of names in lower case. */
function fieldsIn(headers: unknown): FieldSource {
  const fields = (headers ?? {}) as Readonly<Record<string, string | string[] | undefined>>;
  return { get: (name) => (Object.hasOwn(fields, name) ? fields[name] : undefined) };
}
