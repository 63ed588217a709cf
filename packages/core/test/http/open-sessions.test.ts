import { once } from 'node:events';
import { createServer as createHttp2Server, performServerHandshake, type ServerHttp2Session } from 'node:http2';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { END_HEADERS, fieldBlock, frame, TYPE } from '../../../../test/contract/http/http2-frames.ts';
import { PROTOCOL_ERRORS } from '../../../../test/contract/http/protocol-errors.ts';
import { connected, speakHttp2 } from '../../../../test/contract/http/raw-http2.ts';
import { openSessions } from '../../src/http/open-sessions.ts';
import { expectWithin } from '../../../../test/expect-within.ts';

const ERROR = PROTOCOL_ERRORS['a PING of 3 bytes']!;

/** Adds each session by its request, and leaves the request without an answer. */
function watch(sessions: ServerHttp2Session[], session: ServerHttp2Session): void {
  sessions.push(session);
  session.on('error', () => undefined);
  session.on('stream', (stream) => {
    stream.on('error', () => undefined);
    openSessions.addOfServer(stream);
    stream.respond();
  });
}

/** Sends a request, waits for the head of its answer, and then makes an error. */
async function makeError(server: Server): Promise<void> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const socket = await connected((server.address() as AddressInfo).port);
  const client = speakHttp2(socket);
  socket.write(frame(TYPE.headers, END_HEADERS, 1, fieldBlock('/')));
  await client.arrived(({ type }) => type === TYPE.headers);
  socket.write(ERROR);
}

test('a session that was made without a server is ended after an error, too', async () => {
  const sessions: ServerHttp2Session[] = [];
  await makeError(createServer((socket) => watch(sessions, performServerHandshake(socket))));
  await expectWithin(2000, () => sessions.map(({ destroyed }) => destroyed), [true]);
});

test('a session that is over is forgotten, and leaves no listener on its server but one', async () => {
  const sessions: ServerHttp2Session[] = [];
  const server = createHttp2Server().on('session', (session) => watch(sessions, session));
  await makeError(server);
  await expectWithin(2000, () => sessions[0]!.destroyed, true);
  openSessions.addOfServer({ session: sessions[0] });
  openSessions.add(sessions[0]!);
  expect(server.listenerCount('session')).toBeLessThanOrEqual(2);
});
