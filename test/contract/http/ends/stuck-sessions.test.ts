import { endIfStuck } from '../../../../packages/core/src/http/stuck-sessions.ts';
import { once } from 'node:events';
import {
  createSecureServer,
  createServer,
  type Http2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { promisify } from 'node:util';
import { connect as connectTls } from 'node:tls';
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { PROTOCOL_ERRORS } from '../protocol-errors.ts';
import { END_HEADERS, fieldBlock, frame, setting, TYPE, uint32 } from '../http2-frames.ts';
import { connected, speakHttp2 } from '../raw-http2.ts';

const ERROR = PROTOCOL_ERRORS['a PING of 3 bytes']!;
/** Has no effect. */
const PRIORITY = frame(TYPE.priority, 0, 1, Buffer.alloc(5));
const LARGE_WINDOW = Buffer.concat([
  frame(TYPE.settings, 0, 0, setting(4, 2 ** 31 - 1)),
  frame(TYPE.window, 0, 0, uint32(2 ** 30)),
]);

/** TLS without certificates, by a key that both have. */
const KEYS = { ciphers: 'PSK', maxVersion: 'TLSv1.2' } as const;
const KEY = Buffer.alloc(32, 'k');
const SERVER_KEYS = { ...KEYS, pskCallback: () => KEY };
const CLIENT_KEYS = {
  ...KEYS,
  checkServerIdentity: () => undefined,
  pskCallback: () => ({ identity: 'client', psk: KEY }),
};

describe.each(['TCP', 'TLS'] as const)('over %s', (transport) => {
  /** A server that answers with so many bytes, and does not end its answers. */
  async function serve(bytes = 0) {
    const server = transport === 'TLS' ? createSecureServer(SERVER_KEYS) : createServer();
    server.on('stream', (stream) => {
      stream.on('error', () => undefined).respond();
      if (bytes > 0) stream.write(Buffer.alloc(bytes));
    });
    const session = once(server, 'session').then(([made]) => made as ServerHttp2Session);
    const stream = once(server, 'stream').then(([made]) => made as ServerHttp2Stream);
    const served = once(server, transport === 'TLS' ? 'secureConnection' : 'connection').then(
      ([made]) => made as Socket,
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const below = await connected((server.address() as AddressInfo).port);
    const socket = transport === 'TCP' ? below : await secured(below);
    const client = speakHttp2(socket);
    socket.write(LARGE_WINDOW);
    socket.write(frame(TYPE.headers, END_HEADERS, 1, fieldBlock('/')));
    await client.arrived(({ type }) => type === TYPE.headers);
    return { server, session: await session, stream: await stream, served: await served, client, below, socket };
  }

  /** Looks so many times. */
  async function look(session: ServerHttp2Session, times: number): Promise<void> {
    for (let i = 0; i < times; i++) {
      endIfStuck(session);
      await turnOfLoop();
      await turnOfLoop();
    }
  }

  test('a session is ended within four looks after an error, with its stream and its socket', async () => {
    const { server, session, client, socket } = await serve();
    socket.write(ERROR);
    await client.arrived(({ type }) => type === TYPE.goaway);
    const closed = once(socket, 'close');
    await look(session, 4);
    expect(session.destroyed).toBe(true);
    await closed;
    await expect.poll(() => connectionsOf(server)).toBe(0);
  });

  test('a session that ends while it is asked is left alone', async () => {
    const { session } = await serve();
    await look(session, 1);
    endIfStuck(session);
    session.destroy();
    await look(session, 1);
    expect(session.destroyed).toBe(true);
  });

  test('a session whose connection has just been closed ends by itself', async () => {
    const { session, served } = await serve();
    await look(session, 1);
    const closed = once(session, 'close');
    served.destroy();
    endIfStuck(session);
    await closed;
    expect(session.destroyed).toBe(true);
  });

  test('a session stays that begins a long answer while it is asked', async () => {
    const { session, stream, below, socket } = await serve();
    below.pause();
    socket.pause();
    await look(session, 1);
    // By then the answer is being written, and the new frame waits behind it.
    const isWriting = turnOfLoop().then(() => session.setLocalWindowSize(2 ** 20));
    endIfStuck(session);
    stream.write(Buffer.alloc(30_000_000));
    await isWriting;
    await look(session, 20);
    expect(session.destroyed).toBe(false);
  });

  test('a session is ended whose client has made an error while it read nothing, and is gone', async () => {
    const { server, session, socket, below } = await serve(30_000_000);
    // Versions of Node that end the session themselves leave the socket below TLS open.
    const isLeftOpen = transport === 'TLS' && !process.version.startsWith('v20.');
    below.pause();
    socket.pause();
    await look(session, 20);
    expect(session.destroyed).toBe(false);
    socket.write(ERROR);
    await expect.poll(() => below.writableLength).toBe(0);
    below.resetAndDestroy();
    await expect.poll(() => (endIfStuck(session), session.destroyed)).toBe(true);
    await expect.poll(async () => isLeftOpen || (await connectionsOf(server)) === 0).toBe(true);
  });

  test('a session whose client is silent is asked once, and stays', async () => {
    const { session, client, socket } = await serve();
    let asked = 0;
    const isAsked = client.arrived(({ type }) => type === TYPE.ping && ++asked > 0);
    await look(session, 3);
    await isAsked;
    const { bytesRead } = session.socket;
    socket.write(frame(TYPE.ping, 1, 0, client.pings[0]));
    await expect.poll(() => session.socket.bytesRead).toBe(bytesRead + 17);
    await look(session, 20);
    expect(session.destroyed).toBe(false);
    expect(client.pings.length).toBe(1);
  });

  test('an error that comes at once with the answer is found', async () => {
    const { session, client, socket } = await serve();
    await look(session, 3);
    await client.arrived(({ type }) => type === TYPE.ping);
    socket.write(Buffer.concat([frame(TYPE.ping, 1, 0, client.pings[0]), ERROR]));
    await client.arrived(({ type }) => type === TYPE.goaway);
    await look(session, 4);
    expect(session.destroyed).toBe(true);
  });

  test('a session whose client answers nothing stays, and is ended after its error', async () => {
    const { session, client, socket } = await serve();
    for (let i = 0; i < 20; i++) {
      const { bytesRead } = session.socket;
      socket.write(PRIORITY);
      await expect.poll(() => session.socket.bytesRead).toBeGreaterThan(bytesRead);
      await look(session, 4);
      expect(session.destroyed).toBe(false);
    }
    // No more PING than Node sends without an answer; then GOAWAY, which ends no stream.
    expect(client.pings.length).toBe(10);
    await client.arrived(({ type }) => type === TYPE.goaway);
    socket.write(ERROR);
    await look(session, 2);
    await expect.poll(() => (endIfStuck(session), session.destroyed)).toBe(true);
  });

  test('a session that is being closed stays while its streams are open, and is ended after an error', async () => {
    const { session, client, socket } = await serve();
    session.close();
    await client.arrived(({ type }) => type === TYPE.goaway);
    await look(session, 20);
    expect(session.destroyed).toBe(false);
    socket.write(ERROR);
    await expect.poll(() => (endIfStuck(session), session.destroyed)).toBe(true);
  });

  test('a session stays for which a frame waits that Node does not send by itself', async () => {
    const { session } = await serve();
    session.setLocalWindowSize(2 ** 20);
    await look(session, 20);
    expect(session.destroyed).toBe(false);
  });
});

function secured(below: Socket): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connectTls({ socket: below, ALPNProtocols: ['h2'], ...CLIENT_KEYS }, () => resolve(socket));
    socket.on('error', () => undefined);
  });
}

function connectionsOf(server: Http2Server): Promise<number> {
  return promisify(server.getConnections.bind(server))();
}
