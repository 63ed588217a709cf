import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Peer } from '../client/trusted-proxies.ts';
import type { RequestLimiter } from '../limiter/request-limiter.ts';
import { endIfBegun, hasLeft, onceOver } from './node-response.ts';
import type { Exchange, ExchangeEnd } from './exchange.ts';
import { mayLackFields } from './lacking-fields.ts';
import type { Answer } from './denial.ts';
import type { RequestDecision } from './request-decision.ts';
import { IpAddress } from '../ids/ip-address.ts';
import { provided } from '../store/provided.ts';

// The types of Node's own request and response are named only in this file: all else works on exchanges.

/** An exchange whose request is one of Node, and whose response is not known: that of an upgrade. */
export abstract class NodeRequestExchange<Request, Outgoing = undefined> implements Exchange<Request> {
  readonly request: Request;
  readonly incoming: IncomingMessage;
  readonly outgoing: Outgoing;
  readonly method: string | undefined;
  abstract decision: RequestDecision | undefined;

  constructor(request: Request, incoming: IncomingMessage, outgoing: Outgoing) {
    this.request = request;
    this.incoming = incoming;
    this.outgoing = outgoing;
    this.method = incoming.method;
  }

  abstract getField(name: string): number | string | readonly string[] | undefined;
  abstract setField(name: string, value: string): void;

  get peer(): Peer {
    return peerOf(this.incoming);
  }

  get lacksFields(): boolean {
    return mayLackFields(this.incoming);
  }

  get server(): object | undefined {
    return serverOf(this.incoming);
  }

  header(name: string): string | undefined {
    const value = this.incoming.headers[name];
    return typeof value === 'string' ? value : undefined;
  }
}

/** An exchange with Node's own request and response, as in Express and Koa. */
export abstract class NodeExchange<Request>
  extends NodeRequestExchange<Request, ServerResponse>
  implements Exchange<Request>
{
  get hasLeft(): boolean {
    const { incoming, outgoing } = this;
    const { socket }: ReceivedRequest = incoming;
    // Most clients are there. The condition is repeated here, so that most requests make one call less.
    const isOpen = !outgoing.closed && !outgoing.destroyed && !(socket?.destroyed ?? true);
    return !(isOpen && incoming.httpVersionMajor === 1) && hasLeft(incoming.socket, outgoing);
  }

  onEnd(done: (end: ExchangeEnd) => void): void {
    onceOver(this.incoming.socket, this.outgoing, done);
  }

  /** A handler has ended when it has ended its response. Frameworks that return its promise replace this. */
  onHandled(done: () => void): void {
    provided('onceEnded')(this.outgoing, done);
  }

  getField(name: string): number | string | readonly string[] | undefined {
    return this.outgoing.getHeader(name);
  }

  setField(name: string, value: string): void {
    try {
      this.outgoing.setHeader(name, value);
    } catch (error) {
      if (!this.outgoing.headersSent) throw error;
    }
  }
}

/**
 * Sends a denial, or another answer, on Node's own response. If the response has begun, it is ended instead, see {@link endIfBegun}.
 *
 * @param settings - The settings of the middleware.
 */
export function sendDenial(
  settings: { readonly limiter: RequestLimiter<never> },
  outgoing: ServerResponse,
  { status, fields, body }: Answer,
): void {
  if (endIfBegun(settings, outgoing)) return;
  outgoing.statusCode = status;
  for (const name of Object.keys(fields)) outgoing.setHeader(name, fields[name]!);
  outgoing.setHeader('Content-Length', Buffer.byteLength(body));
  outgoing.end(body);
}

/** The properties of a connection that are used to find its peer. */
interface Connection {
  readonly remoteAddress?: string | undefined;
  readonly localPort?: number | undefined;
  readonly destroyed: boolean;
}

/** The properties of a request that are used to find its peer. Requests of some serverless adapters have no socket. */
interface ReceivedRequest {
  readonly socket?: Connection | null | undefined;
  readonly httpVersionMajor?: number;
  /** The HTTP/2 stream of the request, on Node's compatibility layer. */
  readonly stream?: object;
}

// All requests of a connection have the same peer, even after the connection has closed.
const peers = new WeakMap<object, IpAddress | 'unix'>();

/**
 * Returns the peer of a request's connection. Once it was read, it stays known: after the client has disconnected, Node
 * no longer knows its address.
 */
export function peerOf({ socket, httpVersionMajor, stream }: ReceivedRequest): Peer {
  if (socket === undefined || socket === null) return undefined;
  // Node replaces the `socket` of an HTTP/2 request when its stream has closed, so the stream identifies the connection.
  const connection = httpVersionMajor === 2 && stream !== undefined ? stream : socket;
  const known = peers.get(connection);
  if (known !== undefined) return known;
  const { remoteAddress } = socket;
  const peer = isText(remoteAddress) ? IpAddress.parse(remoteAddress) : isOver(socket) ? 'left' : 'unix';
  if (peer !== undefined && peer !== 'left') peers.set(connection, peer);
  return peer;
}

/** Returns the server that received a request; `undefined` where it is not known, as in serverless adapters. */
function serverOf({ socket }: ReceivedRequest): object | undefined {
  const server = (socket as { readonly server?: unknown } | null | undefined)?.server;
  return typeof server === 'object' && server !== null ? server : undefined;
}

// A TCP connection that the client has reset has no remote address either. Until it is destroyed it keeps its local
// port, which a unix socket never has. Without this check, a client could pass as a trusted peer on a unix socket by
// resetting its connection.
function isOver({ destroyed, localPort }: Connection): boolean {
  return destroyed || localPort !== undefined;
}

function isText(address: string | undefined): address is string {
  return address !== undefined && address !== '';
}
