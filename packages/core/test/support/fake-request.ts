import type { AddressedRequest } from '../../src/client/client-address.ts';
import { peerOf } from '../../src/http/node-exchange.ts';

interface FakeSocket {
  readonly remoteAddress?: string | undefined;
  readonly localPort?: number | undefined;
  readonly destroyed?: boolean;
}

/** As much of a request as finding its client looks at. */
export function fakeRequest(socket: FakeSocket, headers: Record<string, string> = {}): AddressedRequest {
  const connection = { destroyed: false, remoteAddress: undefined, localPort: undefined, ...socket };
  return { peer: peerOf({ socket: connection }), header: (name) => headers[name] };
}

/** A request over TCP. */
export function requestFrom(remoteAddress: string, headers: Record<string, string> = {}): AddressedRequest {
  return fakeRequest({ remoteAddress, localPort: 80 }, headers);
}

/** A request over a unix socket. */
export function requestOverUnixSocket(headers: Record<string, string> = {}): AddressedRequest {
  return fakeRequest({}, headers);
}
