import { once } from 'node:events';
import { createServer } from 'node:http2';

// One message: overall_code OK, and one status, OK.
const FRAME = Buffer.from([0, 0, 0, 0, 6, 0x08, 1, 0x12, 2, 0x08, 1]);
const HEAD = { ':status': 200, 'content-type': 'application/grpc' };
// `sendDate` is missing in the types of Node 20.
const OPTIONS = { waitForTrailers: true, sendDate: false };
const TRAILERS = { 'grpc-status': '0' };

/**
 * The least that a server of gRPC on `node:http2` does: each call gets the same frame and a status.
 *
 * @returns {Promise<number>} its port
 */
export async function fixedFrame() {
  const server = createServer();
  server.on('stream', (stream) => {
    stream.on('end', () => {
      stream.respond(HEAD, OPTIONS);
      stream.on('wantTrailers', () => stream.sendTrailers(TRAILERS));
      stream.end(FRAME);
    });
    stream.resume();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return /** @type {import('node:net').AddressInfo} */ (server.address()).port;
}
