import type { Express } from 'express';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { running } from './servers/running.ts';

/** Serves an application until the test ends, and gives how to ask it. */
export async function listening(
  app: Express,
  path = '/',
  init: Omit<RequestInit, 'headers'> = {},
): Promise<(headers?: Record<string, string>) => Promise<Response>> {
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  running.add({
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
  const { port } = server.address() as AddressInfo;
  return (headers = {}) => fetch(`http://127.0.0.1:${port}${path}`, { ...init, headers });
}
