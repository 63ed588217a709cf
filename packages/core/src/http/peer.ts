import type { Socket } from 'node:net';
import { IpAddress } from '../ids/ip-address.ts';

/** Who is connected: an address, `unix` for a peer on a unix socket, `undefined` when nobody can say any more. */
export type Peer = IpAddress | 'unix' | undefined;

// A connection has one peer for all of its requests.
const addresses = new WeakMap<object, IpAddress>();

/** The peer of a connection. */
export function peerOf(socket: Pick<Socket, 'remoteAddress' | 'localPort' | 'destroyed'>): Peer {
  const known = addresses.get(socket);
  if (known !== undefined) return known;
  const { remoteAddress } = socket;
  if (remoteAddress !== undefined && remoteAddress !== '') {
    const address = IpAddress.parse(remoteAddress);
    if (address !== undefined) addresses.set(socket, address);
    return address;
  }
  // A TCP connection that the client has reset has no remote address either. Until it is destroyed it still has its
  // local port, which unix sockets never have: without this, a reset would make a client pass for a trusted proxy.
  return socket.destroyed || socket.localPort !== undefined ? undefined : 'unix';
}
