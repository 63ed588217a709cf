import type { ExchangeEnd } from '@sluice/core/http';
import { copiedResponse } from './copied-response.ts';
import { keepAlive } from './keep-alive.ts';
import { UpgradedConnection } from './upgraded-connection.ts';

/**
 * The end of one response: when its body was read by the server, was cancelled, or its client has left. Where the request was
 * upgraded, it is the end of the connection.
 */
export class ResponseEnd {
  readonly #request: Request;
  readonly #given: () => readonly unknown[];
  readonly #waiting: ((end: ExchangeEnd) => unknown)[] = [];
  #end: ExchangeEnd | undefined;
  #connection: UpgradedConnection | undefined;
  #isUpgraded = false;

  /** @param given - Returns what the server has passed with the request. Called only when it is needed. */
  constructor(request: Request, given: () => readonly unknown[]) {
    this.#request = request;
    this.#given = given;
  }

  /** Whether the client has left, as far as the server has told. */
  get hasLeft(): boolean {
    return this.#request.signal.aborted || (this.#connection?.socket?.destroyed ?? false);
  }

  /** Whether the request can become a connection whose end is not seen. */
  get closesUnseen(): boolean {
    return this.#upgradable.closesUnseen;
  }

  /** Calls a function once, at the end; at once when it is over. */
  onEnd(done: (end: ExchangeEnd) => unknown): void {
    const { socket } = this.#upgradable;
    // A signal is made when it is first read, so it is read only for what waits.
    if (this.#end === undefined && this.hasLeft) this.end('aborted');
    if (this.#end !== undefined) return this.keepFor(done(this.#end === 'aborted' ? 'never-begun' : this.#end));
    if (this.#waiting.push(done) > 1) return;
    const close = (): void => this.end(this.#isUpgraded ? 'finished' : 'aborted');
    // Deno aborts the signal while it upgrades a request, before there is a response.
    if (!this.closesUnseen) this.#request.signal.addEventListener('abort', close, { once: true });
    socket?.once('close', close);
  }

  /** Ends the response, unless it has ended. */
  end(end: ExchangeEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    for (const done of this.#waiting.splice(0)) this.keepFor(done(end));
  }

  /** Lets the request last until a promise has settled, for which nobody waits otherwise. */
  keepFor(work: unknown): void {
    if (work instanceof Promise)
      keepAlive(
        this.#given(),
        work.catch(() => undefined),
      );
  }

  /**
   * Returns a response that ends this when the server has read it. It is the same response if nothing waits for it, or if it
   * is not the end of its request.
   *
   * @param response - `undefined` for an upgrade in Bun.
   */
  observe<Given extends Response | undefined>(response: Given): Given | Response {
    if (this.#waiting.length === 0) return response;
    if (response === undefined || this.#upgradable.isUpgraded(response)) {
      this.#isUpgraded = true;
      return response;
    }
    const { body } = response;
    // A body that is not sent, as in the answer to HEAD, is not read either.
    if (body === null || this.#request.method === 'HEAD' || response.status < 200) {
      this.end('finished');
      return response;
    }
    return copiedResponse(response, this.#observed(body));
  }

  get #upgradable(): UpgradedConnection {
    return (this.#connection ??= new UpgradedConnection(this.#request, this.#given()));
  }

  #observed(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const reader = body.getReader();
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          try {
            const { done, value } = await reader.read();
            if (!done) return controller.enqueue(value);
          } catch (error) {
            this.end('aborted');
            throw error;
          }
          controller.close();
          this.end('finished');
        },
        cancel: (reason) => {
          this.end('aborted');
          return reader.cancel(reason);
        },
      },
      // Nothing is read ahead: what was read is at the server.
      { highWaterMark: 0 },
    );
  }
}
