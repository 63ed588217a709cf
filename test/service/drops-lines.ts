import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { rawRequest, statusOf } from './raw-request.ts';

/**
 * Asks this version of Node whether its servers drop the header lines that they do not keep, as Node 20 does. Later
 * versions answer 431 to such a request.
 */
export async function dropsLines(): Promise<boolean> {
  const server = createServer((_request, response) => void response.end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const head = `GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${'a:b\r\n'.repeat(1100)}\r\n`;
  const answer = await rawRequest(port, Buffer.from(head));
  server.close();
  return statusOf(answer) === 200;
}
