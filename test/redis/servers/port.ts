import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

// Below every system's ephemeral ports: a connection that some client opens never takes the port of a server that is
// down for a moment. The cluster bus of Redis 6 can only be at port + 10,000, so both must be free.
const FIRST_PORT = 10_000;
const PORTS = 10_000;
const BUS_OFFSET = 10_000;

/**
 * A TCP port of 127.0.0.1 that belongs to this process until it ends, however often servers on it stop and start.
 *
 * The UDP port of the same number is held as a lock: the kernel grants it to one process, and lets go of it when that
 * process dies in any way.
 */
export async function reservedPort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORTS);
    // oxlint-disable-next-line no-await-in-loop -- one at a time until one is free
    if ((await lock(port)) && (await isFree(port)) && (await isFree(port + BUS_OFFSET))) return port;
  }
}

function lock(port: number): Promise<boolean> {
  const socket = createSocket('udp4').unref();
  return new Promise((resolve) => {
    socket.once('error', () => resolve(false));
    socket.bind({ port, address: '127.0.0.1', exclusive: true }, () => resolve(true));
  });
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
