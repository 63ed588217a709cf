import type { Socket } from 'node:net';
import { IpAddress } from '../ids/ip-address.ts';

/** Who is connected: an address, `unix` for a peer on a unix socket, `undefined` when nobody can say any more. */
export type Peer = IpAddress | 'unix' | undefined;

/** As much of a connection as finding its peer looks at. */
type Connection = Pick<Socket, 'remoteAddress' | 'localPort' | 'destroyed'>;

/** As much of a request as finding its peer looks at. */
export interface PeerRequest {
  readonly socket: Connection;
  readonly httpVersionMajor?: number;
  /** What Node's HTTP/2 has in the place of a connection. */
  readonly stream?: object;
}

// The requests of a connection have one peer, also when it is over.
const peers = new WeakMap<object, IpAddress | 'unix'>();

/** The peer of a request's connection. */
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
 * Looks at the peer of a request before something is awaited: when the client leaves meanwhile, nobody can say any more
 * who it was.
 */
export function rememberPeer(incoming: Partial<PeerRequest>): void {
  peerOf(incoming);
}

/** Whether the client of a request has left before anybody looked at its address. */
export function hasLeftUnseen(incoming: Partial<PeerRequest>): boolean {
  if (!hasSocket(incoming)) return false;
  const { socket } = incoming;
  return !peers.has(connectionOf(incoming)) && !isText(socket.remoteAddress) && isOver(socket);
}

// Some serverless adapters and tests give a request no socket.
function hasSocket(incoming: Partial<PeerRequest>): incoming is PeerRequest {
  return incoming.socket !== undefined;
}

// Node gives an HTTP/2 request another `socket` when its stream is over.
function connectionOf({ socket, httpVersionMajor, stream }: PeerRequest): object {
  return httpVersionMajor === 2 && stream !== undefined ? stream : socket;
}

// A TCP connection that the client has reset has no remote address either. Until it is destroyed it still has its
// local port, which unix sockets never have: without this, a reset would make a client pass for a trusted proxy.
function isOver({ destroyed, localPort }: Connection): boolean {
  return destroyed || localPort !== undefined;
}

function isText(address: string | undefined): address is string {
  return address !== undefined && address !== '';
}
