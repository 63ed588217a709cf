import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { preface, TYPE } from './http2-frames.ts';

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
  socket.write(preface(settings));
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
