import type { IncomingMessage } from 'node:http';

interface FakeSocket {
  readonly remoteAddress?: string | undefined;
  readonly localPort?: number | undefined;
  readonly destroyed?: boolean;
}

/** As much of a request as finding its client looks at. */
export function fakeRequest(socket: FakeSocket, headers: Record<string, string | string[]> = {}): IncomingMessage {
  const request: unknown = { socket: { destroyed: false, localPort: undefined, ...socket }, headers };
  return request as IncomingMessage;
}

/** A request over TCP. */
export function requestFrom(remoteAddress: string, headers: Record<string, string | string[]> = {}): IncomingMessage {
  return fakeRequest({ remoteAddress, localPort: 80 }, headers);
}

/** A request over a unix socket. */
export function requestOverUnixSocket(headers: Record<string, string | string[]> = {}): IncomingMessage {
  return fakeRequest({}, headers);
}
