import { IpAddress, type Awaitable, type Decision } from '@sluice/core';
import {
  errorOf,
  flowSettings,
  runFlow,
  type Denial,
  type Exchange,
  type ExchangeEnd,
  type FlowOutcome,
  type MiddlewareOptions,
  type RequestDecision,
} from '@sluice/core/http';

/** A request on its way through an application that takes a `Request` and returns a `Response`. */
export class FetchContext {
  readonly request: Request;
  /** The fields of the request by name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined when the client left before the server had read it. */
  readonly address: string | undefined;
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal;
  /** Fields for the response, whoever makes it. */
  readonly fields = new Headers();
  status = 200;
  rateLimit: RequestDecision | undefined;
  #end: ExchangeEnd | undefined;
  #waiting: ((end: ExchangeEnd) => void)[] = [];

  constructor(request: Request, address: string | undefined, signal: AbortSignal) {
    this.request = request;
    this.headers = Object.fromEntries(request.headers);
    this.address = address;
    this.signal = signal;
    signal.addEventListener('abort', () => this.end('aborted'));
  }

  onEnd(done: (end: ExchangeEnd) => void): void {
    if (this.#end === undefined) this.#waiting.push(done);
    else done(this.#end === 'aborted' ? 'never-begun' : this.#end);
  }

  end(end: ExchangeEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    for (const done of this.#waiting) done(end);
  }
}

type Next = () => Awaitable<Response>;
export type Middleware = (context: FetchContext, next: Next) => Awaitable<Response>;
type SettleArgs = readonly [FetchContext];
type OnDenied = (context: FetchContext, decision: Decision) => Awaitable<Response>;
type Options = MiddlewareOptions<FetchContext, SettleArgs> & { readonly onDenied?: OnDenied };

/** A middleware that limits requests, as the adapters of the frameworks make it. */
export function rateLimit(options: Options): Middleware {
  const settings = flowSettings<FetchContext, SettleArgs>(options, ['onDenied']);
  const proceed = (exchange: FetchExchange, next: Next, outcome: FlowOutcome): Awaitable<Response> => {
    const context = exchange.request;
    if (outcome === null) return exchange.proceed(next);
    if (outcome === 'left') return new Response(null, { status: 499 });
    if (options.onDenied === undefined) return responseOf(context, outcome);
    const { onDenied } = options;
    return new Promise<Response>((resolve) => resolve(onDenied(context, outcome.decision))).catch(throwError);
  };
  return function rateLimitMiddleware(context, next) {
    const exchange = new FetchExchange(context);
    const outcome = runFlow(settings, exchange, [context]);
    return outcome instanceof Promise
      ? outcome.then((settled) => proceed(exchange, next, settled))
      : proceed(exchange, next, outcome);
  };
}

/** Adds the fields to a response, and observes its end. */
export function finishedResponse(context: FetchContext, response: Response): Response {
  const headers = new Headers(response.headers);
  for (const [name, value] of context.fields) if (!headers.has(name)) headers.set(name, value);
  context.status = response.status;
  const body = observed(context, response.body);
  return new Response(body, { status: response.status, headers });
}

class FetchExchange implements Exchange<FetchContext> {
  readonly request: FetchContext;
  #done: (() => void) | undefined;

  constructor(request: FetchContext) {
    this.request = request;
  }

  get method(): string {
    return this.request.request.method;
  }

  get peer(): IpAddress | 'left' | undefined {
    const { address } = this.request;
    return address === undefined ? 'left' : IpAddress.parse(address);
  }

  get decision(): RequestDecision | undefined {
    return this.request.rateLimit;
  }

  set decision(decision: RequestDecision | undefined) {
    this.request.rateLimit = decision;
  }

  header(name: string): string | undefined {
    return this.request.headers[name];
  }

  onEnd(done: (end: ExchangeEnd) => void): void {
    this.request.onEnd(done);
  }

  get hasLeft(): boolean {
    return this.request.signal.aborted;
  }

  onHandled(done: () => void): void {
    this.#done = done;
  }

  /** Calls the next middleware, and reports when its promise settles. */
  proceed(next: Next): Awaitable<Response> {
    const done = this.#done;
    return done === undefined ? next() : new Promise<Response>((resolve) => resolve(next())).finally(done);
  }

  getField(name: string): string | undefined {
    return this.request.fields.get(name) ?? undefined;
  }

  setField(name: string, value: string): void {
    this.request.fields.set(name, value);
  }
}

function responseOf({ request }: FetchContext, { status, fields, body }: Denial): Response {
  const headers = { ...fields, 'Content-Length': String(Buffer.byteLength(body)) };
  return new Response(request.method === 'HEAD' ? null : body, { status, headers });
}

function observed(context: FetchContext, body: ReadableStream<Uint8Array> | null): ReadableStream<Uint8Array> | null {
  if (body === null) {
    context.end('finished');
    return null;
  }
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        controller.close();
        context.end('finished');
      },
      cancel(reason) {
        context.end('aborted');
        return reader.cancel(reason);
      },
    },
    // Nothing is read ahead: the server has what was read.
    { highWaterMark: 0 },
  );
}

function throwError(cause: unknown): never {
  throw errorOf(cause);
}
