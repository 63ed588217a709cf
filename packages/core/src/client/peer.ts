import type { Socket } from 'node:net';
import { IpAddress } from '../ids/ip-address.ts';

/** The peer of a connection: an address, `unix` for a unix socket, or `undefined` when it is no longer known. */
export type Peer = IpAddress | 'unix' | undefined;

/** The properties of a connection that are used to find its peer. */
type Connection = Pick<Socket, 'remoteAddress' | 'localPort' | 'destroyed'>;

/** The properties of a request that are used to find its peer. */
export interface PeerRequest {
  readonly socket: Connection;
  readonly httpVersionMajor?: number;
  /** The HTTP/2 stream of the request, on Node's compatibility layer. */
  readonly stream?: object;
}

// All requests of a connection have the same peer, also after the connection has closed.
const peers = new WeakMap<object, IpAddress | 'unix'>();

/** Returns the peer of a request's connection. */
export function peerOf(incoming: Partial<PeerRequest>): Peer {
  if (!hasSocket(incoming)) return undefined;
  const connection = connectionOf(incoming);
  const known = peers.get(connection);
  if (known !== undefined) return known;
  const { socket } = incoming;
  const { remoteAddress } = socket;
  const peer = isText(remoteAddress) ? IpAddress.parse(remoteAddress) : isOver(socket) ? undefined : 'unix';
  if (peer !== undefined) peers.set(connection, peer);
  return peer;
}

/**
 * Stores the peer of a request before something is awaited: after the client has left, Node no longer knows its
 * address.
 */
export function rememberPeer(incoming: Partial<PeerRequest>): void {
  peerOf(incoming);
}

/** Whether the client of a request left before its address was read. */
export function hasLeftUnseen(incoming: Partial<PeerRequest>): boolean {
  if (!hasSocket(incoming)) return false;
  const { socket } = incoming;
  return !peers.has(connectionOf(incoming)) && !isText(socket.remoteAddress) && isOver(socket);
}

// In some serverless adapters and tests, requests have no socket.
function hasSocket(incoming: Partial<PeerRequest>): incoming is PeerRequest {
  return incoming.socket !== undefined;
}

// Node replaces the `socket` of an HTTP/2 request when its stream has closed, so the stream identifies the connection.
function connectionOf({ socket, httpVersionMajor, stream }: PeerRequest): object {
  return httpVersionMajor === 2 && stream !== undefined ? stream : socket;
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
