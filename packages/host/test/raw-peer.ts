import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { FrameWriter } from '../src/wire/frame-writer.ts';
import { HELLO_BYTES } from '../src/wire/hello.ts';

/** A frame of numbers without a text. */
export function frameOf(...numbers: readonly number[]): Buffer {
  const writer = new FrameWriter();
  for (const number of numbers) writer.number(number);
  return writer.take();
}

/** Calls a function when a client has sent more than its hello, once. */
export function afterHello(client: Socket, run: () => void): void {
  let bytes = 0;
  client.on('data', (chunk: Buffer) => {
    const before = bytes;
    bytes += chunk.length;
    if (before <= HELLO_BYTES && bytes > HELLO_BYTES) run();
  });
}

/**
 * Listens in the place of a serving process, and leaves it to the test what a client receives.
 *
 * @returns A function that ends the server and its connections.
 */
export async function rawServer(socket: string, onClient: (client: Socket) => void): Promise<() => void> {
  const clients: Socket[] = [];
  const server = createServer((client) => {
    clients.push(client);
    client.on('error', () => {});
    onClient(client);
  });
  server.listen(`${socket}.1`);
  await once(server, 'listening');
  return () => {
    server.close();
    for (const client of clients) client.destroy();
  };
}
