import { connect as connect2, type ClientHttp2Session } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { END_HEADERS, END_STREAM, fieldBlock, frame, preface, TYPE } from '../contract/http/http2-frames.ts';

/** A way to make some requests, and to end them. */
export interface Way {
  readonly name: string;
  readonly protocol: 'HTTP/1.1' | 'HTTP/2';
  /** How many requests one call makes. */
  readonly requests: number;
  /** Resolves when the client has gone. */
  readonly run: (port: number, request: Request) => Promise<void>;
}

interface Request {
  readonly path: string;
  readonly user: string;
}

const STREAMS = 5;

/** In this order, again and again. */
export const WAYS: readonly Way[] = [
  { name: 'answered', protocol: 'HTTP/1.1', requests: 4, run: answered },
  { name: 'reset when it is sent', protocol: 'HTTP/1.1', requests: 2, run: resetAtOnce },
  { name: 'left while it is answered', protocol: 'HTTP/1.1', requests: 1, run: leftInAnswer },
  { name: 'half a body', protocol: 'HTTP/1.1', requests: 1, run: halfBody },
  { name: 'half a head', protocol: 'HTTP/1.1', requests: 1, run: halfHead },
  { name: 'answered', protocol: 'HTTP/2', requests: STREAMS, run: streamsAnswered },
  { name: 'streams cancelled', protocol: 'HTTP/2', requests: STREAMS, run: streamsCancelled },
  { name: 'session left while it is answered', protocol: 'HTTP/2', requests: STREAMS, run: sessionLeft },
  protocolError('PING of 3 bytes', frame(TYPE.ping, 0, 0, Buffer.alloc(3))),
  protocolError('DATA after END_STREAM', frame(TYPE.data, 0, 1, Buffer.from('zz'))),
  protocolError('DATA on stream 0', frame(TYPE.data, 0, 0, Buffer.from('z'))),
  protocolError('CONTINUATION alone', frame(TYPE.continuation, END_HEADERS, 1, Buffer.from([0x82]))),
  protocolError('frame of 100 kB', frame(TYPE.data, 0, 1, Buffer.alloc(100_000))),
  protocolError('bad HPACK', frame(TYPE.headers, END_HEADERS | END_STREAM, 2 * STREAMS + 1, Buffer.alloc(6, 0xff))),
  protocolError('PING of 3 bytes without a request', frame(TYPE.ping, 0, 0, Buffer.alloc(3)), 0),
];

function opened(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket));
    socket.once('error', reject).on('error', () => undefined);
  });
}

function gone(socket: Socket): Promise<void> {
  return new Promise((resolve) => void socket.once('close', () => resolve()));
}

function head({ path, user }: Request, query: string, more = ''): string {
  return `GET ${path}?${query} HTTP/1.1\r\nHost: x\r\nX-User: ${user}\r\n${more}\r\n`;
}

async function answered(port: number, request: Request): Promise<void> {
  const socket = await opened(port);
  const ended = gone(socket);
  socket.resume();
  const last = head(request, '', 'Connection: close\r\n');
  socket.write(head(request, 'late') + head(request, '') + head(request, 'late') + last);
  await ended;
}

async function resetAtOnce(port: number, request: Request): Promise<void> {
  const socket = await opened(port);
  const ended = gone(socket);
  socket.write(head(request, 'late') + head(request, 'never'), () => socket.resetAndDestroy());
  await ended;
}

async function leftInAnswer(port: number, request: Request): Promise<void> {
  const socket = await opened(port);
  const ended = gone(socket);
  socket.once('data', () => socket.resetAndDestroy());
  socket.write(head(request, 'never'));
  await ended;
}

async function halfBody(port: number, { path, user }: Request): Promise<void> {
  const socket = await opened(port);
  const ended = gone(socket);
  socket.once('data', () => socket.destroy());
  socket.write(`POST ${path}?never HTTP/1.1\r\nHost: x\r\nX-User: ${user}\r\nContent-Length: 99\r\n\r\nhalf`);
  await ended;
}

async function halfHead(port: number, { path }: Request): Promise<void> {
  const socket = await opened(port);
  const ended = gone(socket);
  socket.write(`GET ${path} HTTP/1.1\r\nHost:`, () => socket.end());
  socket.resume();
  await ended;
}

function session(port: number): ClientHttp2Session {
  return connect2(`http://127.0.0.1:${port}`).on('error', () => undefined);
}

/** Starts all streams; resolves when each has closed, or has received something. */
function streams(client: ClientHttp2Session, { path, user }: Request, until: 'close' | 'data'): Promise<unknown> {
  const each = Array.from({ length: STREAMS }, () => {
    const query = until === 'close' ? 'late' : 'never';
    const stream = client.request({ ':path': `${path}?${query}`, 'x-user': user }).on('error', () => undefined);
    return new Promise<void>((resolve) => {
      stream.on('data', () => until === 'data' && resolve()).on('close', () => resolve());
    });
  });
  return Promise.all(each);
}

function sessionGone(client: ClientHttp2Session): Promise<void> {
  return new Promise((resolve) => void client.once('close', () => resolve()));
}

async function streamsAnswered(port: number, request: Request): Promise<void> {
  const client = session(port);
  const ended = sessionGone(client);
  await streams(client, request, 'close');
  client.close();
  await ended;
}

async function streamsCancelled(port: number, { path, user }: Request): Promise<void> {
  const client = session(port);
  const ended = sessionGone(client);
  await new Promise<void>((resolve) => void client.once('connect', () => resolve()));
  for (let i = 0; i < STREAMS; i++) {
    const stream = client.request({ ':path': `${path}?late`, 'x-user': user }).on('error', () => undefined);
    if (i % 2 === 0) stream.close(8);
    else setImmediate(() => stream.close(8));
  }
  client.close();
  await ended;
}

async function sessionLeft(port: number, request: Request): Promise<void> {
  const client = session(port);
  const ended = sessionGone(client);
  await streams(client, request, 'data');
  client.destroy();
  await ended;
}

function protocolError(name: string, wrong: Buffer, requests = STREAMS): Way {
  const run: Way['run'] = async (port, { path, user }) => {
    const socket = await opened(port);
    const ended = gone(socket);
    // So that the streams are there when the error comes.
    socket.once('data', () => socket.write(wrong, () => setImmediate(() => socket.resetAndDestroy())));
    const fields = fieldBlock(`${path}?never`, [['x-user', user]]);
    const heads = Array.from({ length: requests }, (_, i) =>
      frame(TYPE.headers, END_HEADERS | END_STREAM, 2 * i + 1, fields),
    );
    socket.write(Buffer.concat([preface(), ...heads]));
    await ended;
  };
  return { name, protocol: 'HTTP/2', requests, run };
}
