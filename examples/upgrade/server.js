import { createLimiter, ipAddress, ipv6RangeCIDR } from '@sluice/core';
import { limitUpgrade } from '@sluice/node';
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';

const limiter = createLimiter({
  limits: {
    HandshakesPerIPAddress: { key: ipAddress(), burst: 3, count: 1, period: '1s' },
    HandshakesPerIPv6Range: { key: ipv6RangeCIDR(), burst: 30, count: 10, period: '1s' },
  },
});

const sockets = new WebSocketServer({ noServer: true });
sockets.on('connection', (socket) => socket.send('hello'));

const server = createServer((_request, response) => response.end('connect with a WebSocket\n'));

// Frameworks run no middleware on an upgrade: it is limited on the server itself.
server.on(
  'upgrade',
  limitUpgrade(limiter, {
    limits: ['HandshakesPerIPAddress', 'HandshakesPerIPv6Range'],
    accept: (request, socket, head) =>
      sockets.handleUpgrade(request, socket, head, (client) => sockets.emit('connection', client, request)),
  }),
);

server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const url = `http://127.0.0.1:${port}`;
  console.log(`Listening on ${url}

Five handshakes where three are allowed at once:
  curl -i -m 0.1 -H "Connection: Upgrade" -H "Upgrade: websocket" -H "Sec-WebSocket-Version: 13" -H "Sec-WebSocket-Key: c2l4dGVlbiBieXRlcyBvaw==" "${url}/?[1-5]"
`);
});

server.on('error', (/** @type {NodeJS.ErrnoException} */ error) => {
  console.error(
    error.code === 'EADDRINUSE' ? `${error.message}. Choose another port: PORT=3001 node server.js` : error.message,
  );
  process.exitCode = 1;
});

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    for (const client of sockets.clients) client.terminate();
    server.close(() => limiter.close());
  });
}
