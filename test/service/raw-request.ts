import { connect } from 'node:net';

/** How a client leaves. */
export type Leaving =
  /** It waits for the answer. */
  | 'waits'
  /** It ends its side when all is sent, and waits. */
  | 'ends'
  /** It resets the connection when all is sent. */
  | 'resets';

/** After this time without a byte, a connection is ended: some requests have no answer. */
const QUIET_MS = 1500;

/**
 * Sends bytes to a port of the loopback.
 *
 * @returns What came back, as latin1; '' for nothing.
 */
export function rawRequest(port: number, bytes: Uint8Array, leaving: Leaving = 'waits'): Promise<string> {
  return new Promise((resolve) => {
    let received = '';
    const socket = connect(port, '127.0.0.1');
    socket.on('data', (chunk) => (received += chunk.toString('latin1')));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(received));
    socket.setTimeout(QUIET_MS, () => socket.destroy());
    socket.write(bytes, () => {
      if (leaving === 'ends') socket.end();
      else if (leaving === 'resets') socket.resetAndDestroy();
    });
  });
}

/** The status of an answer; undefined for none. */
export function statusOf(answer: string): number | undefined {
  const digits = /^HTTP\/1\.[01] (\d{3})/.exec(answer)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
