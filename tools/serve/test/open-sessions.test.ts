import { once } from 'node:events';
import { connect as connectHttp2, type ServerHttp2Session } from 'node:http2';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import {
  END_HEADERS,
  END_STREAM,
  fieldBlock,
  frame,
  preface,
  setting,
  TYPE,
} from '../../../test/contract/http/http2-frames.ts';
import { connected, speakHttp2 } from '../../../test/contract/http/raw-http2.ts';
import { ConnectClient } from '../../../test/service/connect.ts';
import { descriptor, envoyOf } from '../../../test/service/envoy.ts';
import { bytesField, call, frame as framed, text } from '../../../test/service/raw-call.ts';
import { served } from '../../../test/service/served.ts';

const LIMITS = 'PerClient: { count: 1000, period: 1s, idFormat: clientNetwork }';
const TABLES = 'envoy: { ingress: { rules: [{ descriptor: [remote_address], limit: PerClient }] } }';
const METHOD = 'envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit';
const HEAD = fieldBlock(`/${METHOD}`, [['content-type', 'application/grpc']]);
const ENTRY = [...bytesField(1, text('remote_address')), ...bytesField(2, text('203.0.113.7'))];
const MESSAGE = Buffer.from(framed([...bytesField(1, text('ingress')), ...bytesField(2, bytesField(1, ENTRY))]));
const ASKED = { domain: 'ingress', descriptors: [descriptor({ remote_address: '203.0.113.7' })] };
const MINUTE = 60_000;
const INITIAL_WINDOW_SIZE = 4;

async function serve() {
  const all = await served(LIMITS, TABLES);
  const { grpc } = all.servers;
  const sessions = new Set<ServerHttp2Session>();
  grpc!.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
  });
  /** Lets a minute pass, and waits until all clients have answered what they were sent. */
  const passMinute = async (): Promise<void> => {
    all.time.advance(MINUTE);
    await Promise.all([...sessions].map((session) => new Promise((resolve) => void session.ping(resolve))));
  };
  return { ...all, port: all.servers.ports.grpc!, sessions, passMinute };
}

/** Sends a call. */
function begin(socket: Socket, streamId: number): void {
  socket.write(frame(TYPE.headers, END_HEADERS, streamId, HEAD));
  socket.write(frame(TYPE.data, END_STREAM, streamId, MESSAGE));
}

async function client(port: number) {
  const session = connectHttp2(`http://127.0.0.1:${port}`).on('error', () => undefined);
  onTestFinished(() => session.destroy());
  await call(session, MESSAGE);
  return session;
}

test('a channel of gRPC without a call stays for an hour, and is opened again after it', async () => {
  const { port, sessions, passMinute } = await serve();
  const grpcJs = envoyOf(port);
  const connectNode = new ConnectClient(port);
  const ask = async (): Promise<unknown[]> => {
    const answers = await Promise.all([
      grpcJs.ask(ASKED),
      connectNode.call(METHOD, { domain: 'ingress', descriptors: [{ entries: [{ key: 'x', value: 'y' }] }] }),
    ]);
    return [answers[0].overall_code, answers[1].message['overallCode']];
  };
  expect(await ask()).toEqual(['OK', 'OK']);
  const first = [...sessions];
  for (let i = 0; i < 60; i++) await passMinute();
  expect([...sessions]).toEqual(first);
  expect(await ask()).toEqual(['OK', 'OK']);
  for (let i = 0; i < 60; i++) await passMinute();
  expect([...sessions]).toEqual(first);
  await passMinute();
  await expect.poll(() => sessions.size).toBe(0);
  expect(await ask()).toEqual(['OK', 'OK']);
});

test.each<[what: string, leave: (socket: Socket) => void]>([
  ['sends nothing', () => undefined],
  ['sends half a preface', (socket) => socket.write(preface().subarray(0, 12))],
  ['does not answer', (socket) => socket.write(preface())],
  [
    'does not end the head of a call',
    (socket) => socket.write(Buffer.concat([preface(), frame(TYPE.headers, 0, 1, HEAD)])),
  ],
  [
    'takes no answer to its call',
    (socket) => {
      socket.write(preface(setting(INITIAL_WINDOW_SIZE, 0)));
      begin(socket, 1);
    },
  ],
])('a connection whose client %s is closed within three minutes', async (_, leave) => {
  const { time, port, servers } = await serve();
  const connections = promisify(servers.grpc!.getConnections.bind(servers.grpc!));
  const socket = await connected(port);
  leave(socket);
  const closed = once(socket.resume(), 'close');
  // Answered after the server has read what came before.
  const other = await client(port);
  for (let i = 0; i < 3; i++) {
    time.advance(MINUTE);
    await call(other, MESSAGE);
  }
  await closed;
  await expect.poll(connections).toBe(1);
});

test('a call whose answer is not taken ends after a minute, and others on its connection go through', async () => {
  const { port, time } = await serve();
  const { socket, arrived } = speakHttp2(await connected(port), setting(INITIAL_WINDOW_SIZE, 0));
  const of = (id: number, wanted: number) => arrived(({ type, streamId }) => type === wanted && streamId === id);
  begin(socket, 1);
  await of(1, TYPE.headers);
  time.advance(MINUTE);
  await of(1, TYPE.reset);
  socket.write(frame(TYPE.settings, 0, 0, setting(INITIAL_WINDOW_SIZE, 65_535)));
  begin(socket, 3);
  await expect(of(3, TYPE.data)).resolves.toBeUndefined();
});

test('a client of HTTP that takes nothing of its answers is closed after a minute', async () => {
  const { servers } = await serve();
  for (const server of [servers.http!, servers.metrics!]) {
    expect(server.timeout).toBe(MINUTE);
    server.timeout = 100;
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
    onTestFinished(() => void socket.destroy());
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const requests = 'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1000);
    const write = (error?: Error | null): unknown => error ?? socket.write(requests, write);
    write();
    await closed;
  }
});
