import { connect as connectHttp2, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { realDelay } from '../../../real-delay.ts';
import type { Protocol } from '../framework.ts';
import { CODES, PROTOCOL_ERRORS, REPORTED_ERRORS } from '../protocol-errors.ts';
import { END_HEADERS, END_STREAM, fieldBlock, frame, setting, TYPE } from '../http2-frames.ts';
import { connected, speakHttp2 } from '../raw-http2.ts';

/** A client that waits at some moment of its request, and then ends it in its own way. */
export interface Leaver {
  /** Resolves when the head of the response has arrived. */
  readonly head: Promise<unknown>;
  /** Resolves when the last byte of the response has arrived. */
  readonly lastByte: Promise<unknown>;
  readonly leave: () => void;
  /** Waits until the server has read all that was sent on a connection that stays open. */
  readonly heard: () => Promise<void>;
  readonly isOpen: () => boolean;
}

/** How much of a response a client takes: all, or only its head. */
export type Room = 'all' | 'head';

/** Connects one client for each way to end a request, and sends a request of each to the path. */
export async function leaversOf(protocol: Protocol, port: number, path: string, room: Room): Promise<Leaver[]> {
  if (protocol === 'HTTP/1.1') return socketLeavers(port, path, room);
  return (await Promise.all([streamLeavers(port, path, room), errorLeavers(port, path, room)])).flat();
}

/** Closed, reset, and half closed before. */
const CLOSING_WAYS: readonly ((socket: Socket) => void)[] = [
  (socket) => socket.destroy(),
  (socket) => socket.resetAndDestroy(),
  (socket) => void socket.end(() => socket.destroy()),
];

/** Also by what is no request of HTTP/1.1, and by one that is too large. */
const SOCKET_WAYS: readonly ((socket: Socket) => void)[] = [
  ...CLOSING_WAYS,
  (socket) => socket.write('no request\r\n\r\n'),
  (socket) => socket.write(`GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1, 2\r\n\r\n`),
  (socket) => socket.write(`GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(33_000)}`),
];

type StreamWay = (stream: ClientHttp2Stream, session: ClientHttp2Session, socket: Socket) => void;

const STREAM_WAYS: readonly StreamWay[] = [
  ...CODES.map(
    (code): StreamWay =>
      (stream) =>
        stream.close(code),
  ),
  (stream, session) => {
    stream.close(0);
    void realDelay(100).then(() => session.destroy());
  },
  (_stream, session) => {
    session.goaway(0);
    void realDelay(100).then(() => session.destroy());
  },
  (_stream, session) => session.goaway(2),
  (_stream, session) => session.destroy(),
  ...CLOSING_WAYS.map(
    (end): StreamWay =>
      (_stream, _session, socket) =>
        end(socket),
  ),
];

async function streamLeavers(port: number, path: string, room: Room): Promise<Leaver[]> {
  const settings = { initialWindowSize: room === 'all' ? 65_535 : 0 };
  const leavers = STREAM_WAYS.map(async (end): Promise<Leaver> => {
    const socket = await connected(port);
    const session = connectHttp2(`http://127.0.0.1:${port}`, { createConnection: () => socket, settings });
    session.on('error', () => undefined);
    onTestFinished(() => session.destroy());
    await new Promise((resolve) => session.once('remoteSettings', resolve));
    // The request stays open, so that its stream is open when the last byte of the response has arrived.
    const stream = session.request({ ':method': 'POST', ':path': path }).on('error', () => undefined);
    const head = new Promise((resolve) => stream.once('response', resolve));
    const lastByte = new Promise((resolve) => stream.once('end', resolve));
    if (room === 'all') stream.resume();
    const heard = (): Promise<void> =>
      session.destroyed ? Promise.resolve() : new Promise((resolve) => session.ping(() => resolve()));
    return { head, lastByte, heard, leave: () => end(stream, session, socket), isOpen: () => !socket.destroyed };
  });
  return Promise.all(leavers);
}

/** What a client does after an error of its own, or one that it reports: it stays, or it resets its connection. */
const AFTER_ERRORS: readonly ((socket: Socket) => void)[] = [
  () => undefined,
  (socket) => void realDelay(20).then(() => socket.resetAndDestroy()),
];

async function errorLeavers(port: number, path: string, room: Room): Promise<Leaver[]> {
  const errors = Object.values({ ...PROTOCOL_ERRORS, ...REPORTED_ERRORS });
  const leavers = errors.flatMap((bytes) =>
    AFTER_ERRORS.map(async (after): Promise<Leaver> => {
      const socket = await connected(port);
      const client = speakHttp2(socket, setting(INITIAL_WINDOW_SIZE, room === 'all' ? 65_535 : 0));
      socket.write(frame(TYPE.headers, END_HEADERS, 1, fieldBlock(path)));
      const leave = (): void => {
        socket.write(bytes);
        after(socket);
      };
      const isOver = client.arrived(({ type }) => type === TYPE.goaway || type === TYPE.reset);
      const isClosed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
      return {
        head: client.arrived(({ type, streamId }) => type === TYPE.headers && streamId === 1),
        lastByte: client.arrived(({ type, flags }) => type === TYPE.data && (flags & END_STREAM) > 0),
        leave,
        heard: async () => void (await Promise.race([isOver, isClosed])),
        isOpen: () => !socket.destroyed,
      };
    }),
  );
  return Promise.all(leavers);
}

const INITIAL_WINDOW_SIZE = 4;

async function socketLeavers(port: number, path: string, room: Room): Promise<Leaver[]> {
  const leavers = SOCKET_WAYS.map(async (end): Promise<Leaver> => {
    const socket = await connected(port);
    let text = '';
    const head = new Promise<void>((resolve) => {
      socket.setEncoding('latin1').on('data', (part: string) => {
        text += part;
        if (room === 'head') socket.pause();
        if (text.includes('\r\n\r\n')) resolve();
      });
    });
    const lastByte = new Promise<void>((resolve) => {
      socket.on('data', () => text.endsWith('last') && resolve());
    });
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    const heard = (): Promise<void> => Promise.resolve();
    return { head, lastByte, heard, leave: () => end(socket), isOpen: () => !socket.destroyed };
  });
  return Promise.all(leavers);
}
