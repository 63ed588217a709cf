import type { ResponseEnd } from '@sluice/core/http';
import { decisionOf, limitFetch, limitsStatus } from '@sluice/fetch';
import type { ServerResponse } from 'node:http';
import { webServer, type Client } from './fetch-server.ts';
import { andThen, ok, statusOf, type Context, type Framework, type Handler, type Plan } from './framework.ts';
import { streamed, WrittenStream } from './web-stream.ts';

const NO_SOCKETS = 'the server has the sockets, an adapter sees none';
const KNOWN = 'the server gives the address with the request, before it calls the application';
const AS_VALUE = 'a refusal is a value that the server sends later';
const NOT_BEFORE = 'a Response is made as a whole: it has neither begun nor fields before a handler returns it';

const CORS = "{ 'Access-Control-Allow-Origin': '*' }";

/** What can't exist where a `Request` is answered by a `Response`. */
export const WEB_SKIPS: Readonly<Record<string, string>> = {
  connections: NO_SOCKETS,
  'connections with slots': NO_SOCKETS,
  'mock exchanges': NO_SOCKETS,
  'responses that have begun': NOT_BEFORE,
  'a client that left before the first limit ends quietly, and its other limits count (late store: false)': KNOWN,
  'a client that left before the first limit ends quietly, and its other limits count (late store: true)': KNOWN,
  'a client that left before its only limit ends quietly (shadow: false)': KNOWN,
  'a client that left before its only limit ends quietly (shadow: true)': KNOWN,
  'a connection that is there, and whose address is not an IP address, is an error': NO_SOCKETS,
  'nothing is set after the fields were sent': NOT_BEFORE,
  'fields are appended to those that are already set': NOT_BEFORE,
  ...Object.fromEntries(
    [`r=2;t=1`, `r=9;t=30`, `r=9`, `r=50;t=30`].map((state) => [
      `a name is listed once, and the stricter state is kept: '"Requests";${state}'`,
      NOT_BEFORE,
    ]),
  ),
  "of two waits the longer is reported: '120' is already set": NOT_BEFORE,
  ...Object.fromEntries(
    [CORS, '{ …(2) }'].map((fields) => [
      `scripts may read the fields where the response is for them: ${fields}`,
      NOT_BEFORE,
    ]),
  ),
  'without RateLimit fields scripts may read Retry-After of what was denied': NOT_BEFORE,
  'a response that was complete before the store has answered is settled as one that was finished': NOT_BEFORE,
  'when other code ends the response, also if the handler goes on': NOT_BEFORE,
  'an exception while a denial is sent reaches the error handler: memory store': AS_VALUE,
  'an exception while a denial is sent reaches the error handler: promise store': AS_VALUE,
};

/** Servers that take a `Request` and return a `Response`, behind a bridge from `node:http`. */
export const fetchFramework: Framework = {
  name: 'fetch',
  protocol: 'HTTP/1.1',
  caller: 'limitFetch',
  skips: {
    ...WEB_SKIPS,
    'dropped fields': 'a Request does not say how many lines were sent',
    'a request in progress keeps its slots when garbage is collected':
      'Node does not abort the signal of a Request that was collected',
  },
  make: (options) => limitFetch(withAddress(options) as never),
  makeStatus: (options) => limitsStatus(withAddress(options) as never),
  async serve(plan) {
    return webServer(application(plan));
  },
  onDenied: (handle) => async (request: Request, decision: never) => {
    const context = contexts.get(request)!;
    return context.respond(await handle(context, decision));
  },
  settle: (trueCost) =>
    ((_request: Request, response: Response, end: ResponseEnd) => trueCost(response.status, end)) as never,
};

type Answer = (request: Request, client: Client) => Response | Promise<Response>;

/** What a server of this kind does itself: routes, and answers to errors. */
function application({ before, limits = [], status, routes = {}, plain, onError }: Plan): Answer {
  const fail = (error: unknown): Response => {
    onError?.(error);
    return new Response('failed', { status: statusOf(error) });
  };
  const shared = {
    address: (_request: Request, client: Client): string => client.address,
    // The contract has what is set before the limits on the answers of the error handler.
    onError: (error: unknown, request: Request) => contexts.get(request)!.add(fail(error)),
  };
  const limited = (answer: Answer, all: readonly object[]): Answer =>
    all.reduceRight<Answer>((inner, options) => {
      return limitFetch({ ...options, ...shared } as never)<Request, [Client]>(inner);
    }, answer);
  const byPath = new Map(
    Object.entries(routes).map(([path, { limits: own = [], handle = ok }]) => [path, limited(handling(handle), own)]),
  );
  if (status !== undefined) byPath.set('/rate_limit', limitsStatus({ ...status, ...shared } as never));
  const notFound: Answer = () => new Response('not found', { status: 404 });
  const route: Answer = (request, client) => (byPath.get(new URL(request.url).pathname) ?? notFound)(request, client);
  const all = limited(route, limits);
  return (request, client) => {
    contexts.set(request, new WebContext(request, client));
    return andThen<Response | Promise<Response>>(before?.(contexts.get(request)!), () => {
      try {
        plain?.();
      } catch (error) {
        return fail(error);
      }
      return all(request, client);
    }) as Response | Promise<Response>;
  };
}

function handling(handle: Handler): Answer {
  return (request) => {
    const context = contexts.get(request)!;
    const body = handle(context);
    return body instanceof Promise ? body.then((text) => context.respond(text)) : context.respond(body);
  };
}

const contexts = new WeakMap<Request, WebContext>();

/** A request on its way to a handler. */
class WebContext implements Context {
  readonly #request: Request;
  readonly #client: Client;
  readonly #headers = new Headers();
  #outgoing: WrittenStream | undefined;
  #status = 200;

  constructor(request: Request, client: Client) {
    this.#request = request;
    this.#client = client;
  }

  get incoming(): Context['incoming'] {
    return this.#request as never;
  }

  get decision(): Context['decision'] {
    return decisionOf(this.#request);
  }

  get outgoing(): ServerResponse {
    this.#outgoing ??= new WrittenStream((done) => this.#client.onceOver(done));
    return this.#outgoing as never;
  }

  readonly status = (code: number): void => void (this.#status = code);
  readonly set = (name: string, value: string): void => this.#headers.set(name, value);

  /** The response of a handler; what it wrote to `outgoing` when it gives `undefined`. */
  respond(text: string | undefined): Response {
    const body = text ?? streamed(this.outgoing);
    const isWithoutBody = this.#request.method === 'HEAD' || this.#status === 204 || this.#status === 304;
    return this.add(new Response(isWithoutBody ? null : body, { status: this.#status }));
  }

  add(response: Response): Response {
    for (const [name, value] of this.#headers) response.headers.set(name, value);
    return response;
  }
}

function withAddress(options: unknown): unknown {
  const isObject = typeof options === 'object' && options !== null && !Array.isArray(options);
  return isObject ? { address: () => null, ...options } : options;
}
