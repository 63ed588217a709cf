import type { Awaitable } from '@sluice/core';
import type { ResponseEnd } from '@sluice/core/http';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { FetchContext, finishedResponse, rateLimit, type Middleware } from './fetch-limit.ts';
import { ok, statusOf, type Context, type Framework, type Handler, type Plan } from './framework.ts';

const NO_SOCKETS = 'the server has the sockets, an adapter sees none';
const KNOWN = 'the server gives the address with the request, before it calls the application';
const AS_VALUE = 'a refusal is a value that the server sends later';
const NOT_BEFORE = 'a Response is made as a whole: none has begun before a handler returns it';

/** Servers that take a `Request` and return a `Response`, behind a bridge from `node:http`. */
export const fetchFramework: Framework = {
  name: 'fetch',
  protocol: 'HTTP/1.1',
  skips: {
    'status of limits': 'an adapter without `limitsStatus`',
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
    'a response that was complete before the store has answered is settled as one that was finished': NOT_BEFORE,
    'when other code ends the response, also if the handler goes on': NOT_BEFORE,
    'an exception while a denial is sent reaches the error handler: memory store': AS_VALUE,
    'an exception while a denial is sent reaches the error handler: promise store': AS_VALUE,
  },
  make: (options) => rateLimit(options as never),
  async serve(plan) {
    const app = application(plan);
    return createServer((incoming, outgoing) => void answer(app, incoming, outgoing));
  },
  onDenied: (handle) => async (context: FetchContext, decision: never) =>
    new Response(await handle(contextOf(context), decision), { status: context.status }),
  settle: (trueCost) => ((context: FetchContext, end: ResponseEnd) => trueCost(context.status, end)) as never,
};

type Application = (context: FetchContext) => Promise<Response>;

function application({ before, limits = [], routes = {}, plain, onError }: Plan): Application {
  const first: Middleware = (context, next) => {
    const go = (): Awaitable<Response> => {
      plain?.();
      return next();
    };
    const wait = before?.(contextOf(context));
    return wait instanceof Promise ? wait.then(go) : go();
  };
  const all = [first, ...limits.map((options) => rateLimit(options as never))];
  const byPath = new Map(
    Object.entries(routes).map(([path, { limits: own = [], handle = ok }]) => [
      path,
      [...own.map((options) => rateLimit(options as never)), handlerOf(handle)],
    ]),
  );
  return async (context) => {
    const route = byPath.get(new URL(context.request.url).pathname) ?? [notFound];
    try {
      return finishedResponse(context, await run(context, [...all, ...route]));
    } catch (error) {
      onError?.(error);
      return finishedResponse(context, new Response('failed', { status: statusOf(error) }));
    }
  };
}

function run(context: FetchContext, [middleware, ...rest]: readonly Middleware[]): Response | Promise<Response> {
  return middleware!(context, () => run(context, rest));
}

const notFound: Middleware = () => new Response('not found', { status: 404 });

function handlerOf(handle: Handler): Middleware {
  return (context) => {
    const body = handle(contextOf(context));
    return body instanceof Promise ? body.then((text) => bodyOf(context, text)) : bodyOf(context, body);
  };
}

/** The response of a handler; what it wrote to `outgoing` when it gives `undefined`. */
function bodyOf(context: FetchContext, text: string | undefined): Response {
  const body = text ?? webStreamOf(outgoingOf(context));
  const isWithoutBody = context.request.method === 'HEAD' || context.status === 204 || context.status === 304;
  return new Response(isWithoutBody ? null : body, { status: context.status });
}

/** Not `Readable.toWeb`: in Node 22 and 24 it lets a promise reject that nobody awaits when the stream is destroyed. */
function webStreamOf(stream: PassThrough): ReadableStream<Uint8Array> {
  let isOpen = true;
  return new ReadableStream({
    start(controller) {
      stream.on('data', (part: Uint8Array) => isOpen && controller.enqueue(part));
      stream.once('close', () => isOpen && controller.close());
    },
    cancel() {
      isOpen = false;
      stream.destroy();
    },
  });
}

const streams = new WeakMap<FetchContext, PassThrough>();

/** What a handler may write to, in place of Node's response. It is closed when the response is over. */
function outgoingOf(context: FetchContext): PassThrough {
  let stream = streams.get(context);
  if (stream === undefined) {
    const made = new PassThrough();
    made.on('error', () => undefined);
    context.onEnd(() => made.destroy());
    streams.set(context, (stream = made));
  }
  return stream;
}

function contextOf(context: FetchContext): Context {
  return {
    incoming: { headers: context.headers } as never,
    get outgoing() {
      return outgoingOf(context) as never;
    },
    decision: context.rateLimit,
    status: (code) => void (context.status = code),
    set: (name, value) => context.fields.set(name, value),
  };
}

async function answer(app: Application, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const left = new AbortController();
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) left.abort();
  });
  const context = contextFor(incoming, left.signal);
  if (context === undefined) return void outgoing.writeHead(400).end();
  const { status, headers, body } = await app(context);
  outgoing.statusCode = status;
  for (const [name, value] of headers) outgoing.setHeader(name, value);
  if (body !== null) await send(body, outgoing, left.signal);
  outgoing.end();
}

/** Undefined for a URL that is none. */
function contextFor(incoming: IncomingMessage, signal: AbortSignal): FetchContext | undefined {
  const headers = new Headers();
  for (let i = 0; i < incoming.rawHeaders.length; i += 2) {
    headers.append(incoming.rawHeaders[i]!, incoming.rawHeaders[i + 1]!);
  }
  try {
    const request = new Request(new URL(incoming.url!, 'http://localhost'), { method: incoming.method!, headers });
    return new FetchContext(request, incoming.socket.remoteAddress, signal);
  } catch {
    return undefined;
  }
}

async function send(body: ReadableStream<Uint8Array>, outgoing: ServerResponse, signal: AbortSignal): Promise<void> {
  const reader = body.getReader();
  const cancel = (): void => void reader.cancel();
  if (signal.aborted) cancel();
  signal.addEventListener('abort', cancel);
  for (let part = await reader.read(); !part.done; part = await reader.read()) outgoing.write(part.value);
}
