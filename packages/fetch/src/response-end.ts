import type { ExchangeEnd } from '@sluice/core/http';

/** Lets a request last until some work has ended, where a runtime ends all that a request has begun with it. */
type KeepAlive = (work: Promise<unknown>) => void;

/** The end of one response: when its body was read by the server, was cancelled, or its client has left. */
export class ResponseEnd {
  readonly #request: Request;
  readonly #keepAlive: KeepAlive;
  readonly #waiting: ((end: ExchangeEnd) => unknown)[] = [];
  #end: ExchangeEnd | undefined;

  constructor(request: Request, keepAlive: KeepAlive) {
    this.#request = request;
    this.#keepAlive = keepAlive;
  }

  /** Calls a function once, at the end; at once when it is over. */
  onEnd(done: (end: ExchangeEnd) => unknown): void {
    // A signal is made when it is first read, so it is read only for what waits.
    if (this.#end === undefined && this.#request.signal.aborted) this.end('aborted');
    if (this.#end !== undefined) return this.keepFor(done(this.#end === 'aborted' ? 'never-begun' : this.#end));
    if (this.#waiting.push(done) > 1) return;
    this.#request.signal.addEventListener('abort', () => this.end('aborted'), { once: true });
  }

  /** Ends the response, unless it has ended. */
  end(end: ExchangeEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    for (const done of this.#waiting.splice(0)) this.keepFor(done(end));
  }

  /** Lets the request last until a promise has settled, for which nobody waits otherwise. */
  keepFor(work: unknown): void {
    if (work instanceof Promise) this.#keepAlive(work.catch(() => undefined));
  }

  /** Returns a response that ends this when the server has read it. It is the same response if nothing waits for it. */
  observe(response: Response): Response {
    if (this.#waiting.length === 0) return response;
    const { body } = response;
    // A body that is not sent, as in the answer to HEAD, is not read either.
    if (body === null || this.#request.method === 'HEAD' || response.status < 200) {
      this.end('finished');
      return response;
    }
    return new Response(this.#observed(body), response);
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
