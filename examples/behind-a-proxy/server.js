import { rateLimit } from '@sluice/express';
import express from 'express';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const app = express();

// The application listens on a unix socket, so whoever is connected to it is the proxy: its word is taken. Behind a
// proxy on another machine list that machine's address, or 'private'; behind one on this machine 'loopback'.
app.use(rateLimit({ name: 'RequestsPerClient', burst: 5, count: 1, period: '1s', trustedProxies: ['unix'] }));

app.get('/', (req, res) => {
  res.send(`you are ${req.rateLimit?.id}\n`);
});

const socketPath =
  process.platform === 'win32' ? `\\\\.\\pipe\\sluice-${process.pid}` : join(tmpdir(), `sluice-${process.pid}.sock`);
const application = createServer(app).listen(socketPath, listenAsProxy);

/** What nginx, a load balancer or a CDN does in front: it appends the address that it sees to X-Forwarded-For. */
const proxy = createServer((incoming, outgoing) => {
  const { method, url: path, headers } = incoming;
  const hops = [headers['x-forwarded-for'], incoming.socket.remoteAddress].filter((hop) => hop !== undefined);
  const onward = request({ socketPath, method, path, headers: { ...headers, 'x-forwarded-for': hops.join(', ') } });
  onward.on('response', (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  onward.on('error', () => outgoing.destroy());
  incoming.pipe(onward);
});

function listenAsProxy() {
  proxy.listen(Number(process.env.PORT ?? 3000), '127.0.0.1');
}

proxy.on('listening', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (proxy.address());
  const url = `http://127.0.0.1:${port}`;
  console.log(`Listening on ${url}

Who the limiter takes you for:
  curl -i ${url}/
Somebody else? What you write into X-Forwarded-For stands left of what the proxy appends, and is not read:
  curl -i -H "X-Forwarded-For: 203.0.113.7" "${url}/?[1-7]"
`);
});

proxy.on('error', (/** @type {NodeJS.ErrnoException} */ error) => {
  console.error(
    error.code === 'EADDRINUSE' ? `${error.message}. Choose another port: PORT=3001 node server.js` : error.message,
  );
  process.exitCode = 1;
  application.close();
});

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => proxy.close(() => application.close()));
