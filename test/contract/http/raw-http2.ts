import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** Types of frames (RFC 9113 section 6). */
export const TYPE = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goaway: 7,
  window: 8,
  continuation: 9,
} as const;

export const END_STREAM = 1;
export const END_HEADERS = 4;

/** A frame, whether it is valid or not. */
export function frame(type: number, flags: number, streamId: number, payload: Buffer | string = ''): Buffer {
  const bytes = Buffer.from(payload);
  const head = Buffer.alloc(9);
  head.writeUIntBE(bytes.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(streamId, 5);
  return Buffer.concat([head, bytes]);
}

/** The fields of a request, each as a literal without indexing (RFC 7541 section 6.2.2), of at most 126 bytes. */
export function fieldBlock(path: string, fields: readonly (readonly [string, string])[] = []): Buffer {
  const all = [[':method', 'POST'], [':path', path], [':scheme', 'http'], [':authority', 'x'], ...fields] as const;
  return Buffer.concat(all.flatMap(([name, value]) => [Buffer.from([0]), literal(name), literal(value)]));
}

function literal(text: string): Buffer {
  return Buffer.from(`${String.fromCharCode(Buffer.byteLength(text))}${text}`);
}

/** A whole number of four bytes. */
export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** One setting: its identifier and its value. */
export function setting(id: number, value: number): Buffer {
  return Buffer.concat([Buffer.from([0, id]), uint32(value)]);
}

/** A client of HTTP/2 that sends any bytes, answers to no frame, and does not care about the errors of the server. */
export interface RawClient {
  readonly socket: Socket;
  /** Resolves when a frame has arrived that fits. */
  readonly arrived: (fits: (frame: ReceivedFrame) => boolean) => Promise<unknown>;
  /** The bytes of each PING that has arrived, which an answer repeats. */
  readonly pings: readonly Buffer[];
}

interface ReceivedFrame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
}

/** Sends the preface and the settings. What arrives is read, unless the socket is paused. */
export function speakHttp2(socket: Socket, settings: Buffer = Buffer.alloc(0)): RawClient {
  const seen: ReceivedFrame[] = [];
  const pings: Buffer[] = [];
  const waiting = new Set<(frame: ReceivedFrame) => void>();
  let bytes = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    for (let end = endOfFrame(bytes); end <= bytes.length; end = endOfFrame(bytes)) {
      const received = { type: bytes[3]!, flags: bytes[4]!, streamId: bytes.readUInt32BE(5) };
      if (received.type === TYPE.ping) pings.push(bytes.subarray(9, end));
      bytes = bytes.subarray(end);
      seen.push(received);
      for (const tell of waiting) tell(received);
    }
  });
  socket.write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(TYPE.settings, 0, 0, settings)]));
  const arrived: RawClient['arrived'] = (fits) =>
    seen.some(fits)
      ? Promise.resolve()
      : new Promise<void>((resolve) => waiting.add((received) => fits(received) && resolve()));
  return { socket, arrived, pings };
}

function endOfFrame(bytes: Buffer): number {
  return bytes.length < 9 ? Infinity : 9 + bytes.readUIntBE(0, 3);
}

/** A connection that ends with the test. */
export function connected(port: number): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket)).on('error', () => undefined);
    onTestFinished(() => void socket.destroy());
  });
}
