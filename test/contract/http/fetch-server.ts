import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

/** What a server knows of the client of a request. */
export interface Client {
  readonly address: string;
  /** Calls a function when the response is over. */
  onceOver(done: () => void): void;
}

/**
 * A server that takes a `Request` and returns a `Response`, on `node:http`. It tells of a client that leaves only once: it
 * aborts the signal of the request before the response, and cancels the body during it, as some runtimes do.
 */
export function webServer(answer: (request: Request, client: Client) => Response | Promise<Response>): Server {
  return createServer((incoming, outgoing) => void bridge(answer, incoming, outgoing));
}

async function bridge(
  answer: (request: Request, client: Client) => Response | Promise<Response>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const left = new AbortController();
  let isAnswered = false;
  outgoing.once('close', () => {
    if (!isAnswered) left.abort();
  });
  const request = requestOf(incoming, left.signal);
  if (request === undefined) return void outgoing.writeHead(400).end();
  const address = incoming.socket.remoteAddress;
  // The client left before the server had read the request.
  if (address === undefined) return void outgoing.destroy();
  const { status, headers, body } = await answer(request, {
    address,
    onceOver: (done) => outgoing.once('close', done),
  });
  isAnswered = true;
  outgoing.statusCode = status;
  for (const [name, value] of headers) outgoing.setHeader(name, value);
  if (body !== null) await send(body, outgoing);
  outgoing.end();
}

/** Undefined for a URL that is not valid. */
function requestOf(incoming: IncomingMessage, signal: AbortSignal): Request | undefined {
  const headers = new Headers();
  for (let i = 0; i < incoming.rawHeaders.length; i += 2) {
    headers.append(incoming.rawHeaders[i]!, incoming.rawHeaders[i + 1]!);
  }
  try {
    const url = new URL(incoming.url!, 'http://localhost');
    const request = new Request(url, { method: incoming.method!, headers, signal });
    // The keys of the contract read fields by name.
    return Object.defineProperties(request, { headers: { value: Object.assign(headers, { ...incoming.headers }) } });
  } catch {
    return undefined;
  }
}

async function send(body: ReadableStream<Uint8Array>, outgoing: ServerResponse): Promise<void> {
  const reader = body.getReader();
  const cancel = (): void => void reader.cancel();
  if (outgoing.destroyed) cancel();
  outgoing.once('close', cancel);
  for (let part = await reader.read(); !part.done; part = await reader.read()) outgoing.write(part.value);
}
