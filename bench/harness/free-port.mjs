import { createServer } from 'node:net';
import { once } from 'node:events';

/** @returns {Promise<number>} a port on which nothing listens */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  server.close();
  await once(server, 'close');
  return port;
}
