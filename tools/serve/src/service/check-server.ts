import { createServer, STATUS_CODES, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import { MALFORMED, PROBLEM_FIELDS, TOO_LARGE, TOO_LATE, type ProblemAnswer } from '../check/problem-answer.ts';
import type { Service } from './service.ts';

/**
 * Above what proxies take from clients: 1 MiB for Caddy and Traefik. A head that is too large for this server alone would be
 * an answer to the client that its backend would not have given.
 */
const MAX_HEAD_BYTES = 2_097_152;
/** A proxy sends the head of a request at once. */
const HEAD_TIMEOUT_MS = 10_000;
/** A body is not needed. One that takes longer ends its connection, which would otherwise stay open as long as it likes. */
const REQUEST_TIMEOUT_MS = 60_000;
/** How long a client may take nothing of an answer. */
export const SOCKET_TIMEOUT_MS = 60_000;
/** How often connections are looked at that take too long. Node does it every 30 seconds. */
const LOOK_EVERY_MS = 1000;
/** How long the rest of what can't be read is waited for. Without that, a proxy may see a reset instead of the answer. */
const REST_TIMEOUT_MS = 1000;

/** Makes the server that proxies ask by HTTP, not listening yet. */
export function checkServer(service: Service): Server {
  const server = createServer({
    // Proxies keep connections open; the server must not close them first, while a proxy sends the next request.
    keepAliveTimeout: 75_000,
    headersTimeout: HEAD_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: LOOK_EVERY_MS,
    maxHeaderSize: MAX_HEAD_BYTES,
  });
  server.on('request', (incoming, outgoing) => service.handleCheck(incoming, outgoing));
  // An expectation that Node does not know, which it would answer with 417.
  server.on('checkExpectation', (incoming, outgoing) => service.handleCheck(incoming, outgoing));
  server.on('connect', (_, socket) => refuse(socket, MALFORMED));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => refuse(socket, answerTo(error)));
  return server.setTimeout(SOCKET_TIMEOUT_MS);
}

function answerTo({ code }: NodeJS.ErrnoException): ProblemAnswer {
  if (code === 'HPE_HEADER_OVERFLOW') return TOO_LARGE;
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? TOO_LATE : MALFORMED;
}

const refused = new WeakSet<Duplex>();

/** Answers what can't be read as a request. No answer at all would be taken for a service that is out of reach, and let the client pass. */
function refuse(socket: Duplex, { status, body }: ProblemAnswer): void {
  if (refused.has(socket) || !socket.writable) return;
  refused.add(socket);
  const fields = { ...PROBLEM_FIELDS, 'Content-Length': Buffer.byteLength(body), Connection: 'close' };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  socket.on('error', ignore).resume();
  (socket as Socket).setTimeout(REST_TIMEOUT_MS, () => socket.destroy());
}

function ignore(): void {}
