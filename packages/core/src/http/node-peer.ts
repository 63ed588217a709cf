import type { Peer } from '../client/trusted-proxies.ts';
import { IpAddress } from '../ids/ip-address.ts';

/** The properties of a connection that are used to find its peer. */
interface Connection {
  readonly remoteAddress?: string | undefined;
  readonly localPort?: number | undefined;
  readonly destroyed: boolean;
}

/** The properties of a request that are used to find its peer. Those of some serverless adapters have no socket. */
interface ReceivedRequest {
  readonly socket?: Connection | null | undefined;
  readonly httpVersionMajor?: number;
  /** The HTTP/2 stream of the request, on Node's compatibility layer. */
  readonly stream?: object;
}

// All requests of a connection have the same peer, also after the connection has closed.
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
export function serverOf({ socket }: ReceivedRequest): object | undefined {
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
