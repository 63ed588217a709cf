import type { Socket } from 'node:net';
import { IpAddress } from '../ids/ip-address.ts';

/** Who is connected: an address, `unix` for a peer on a unix socket, `undefined` when nobody can say any more. */
export type Peer = IpAddress | 'unix' | undefined;

/** The peer of a connection, such as it is at this moment. */
export function peerOf(socket: Pick<Socket, 'remoteAddress' | 'localPort' | 'destroyed'>): Peer {
  const { remoteAddress } = socket;
  if (remoteAddress !== undefined && remoteAddress !== '') return IpAddress.parse(remoteAddress);
  // A TCP connection that the client has reset has no remote address either. Until it is destroyed it still has its
  // local port, which unix sockets never have: without this, a reset would make a client pass for a trusted proxy.
  return socket.destroyed || socket.localPort !== undefined ? undefined : 'unix';
}
