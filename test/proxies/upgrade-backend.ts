// A server whose upgrades are limited, on the port that it is given. It prints a line for each of their connections that ends
// with an error.
import { createLimiter, everyone } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { limitUpgrade } from '@sluice/node';
import { createServer, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { realDelay } from '../real-delay.ts';

const limiter = createLimiter<IncomingMessage>({
  limits: { Sockets: concurrency({ key: everyone(), concurrency: 1000 }) },
});
const server = createServer((_request, response) => response.end('plain'));
server.on('upgrade', (_request, socket) => {
  socket.on('close', (hadError: boolean) => hadError && console.log('ended by an error'));
});
server.on('upgrade', limitUpgrade(limiter, { accept: (_request, socket) => void accept(socket) }));
server.listen(Number(process.argv[2]), '127.0.0.1');

/** Looks its user up, and then never stops to send: what comes after its client has left is answered by a reset. */
async function accept(socket: Duplex): Promise<void> {
  await realDelay(20);
  socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n');
  while (!socket.destroyed) {
    socket.write('tick');
    await realDelay(1);
  }
}
