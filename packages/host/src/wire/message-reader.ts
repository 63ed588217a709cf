import { Frame } from './frame.ts';
import { HEADER_BYTES, MAX_FRAME_BYTES, WIDE } from './frame-writer.ts';
import { decodeHello, HELLO_BYTES, type Hello } from './hello.ts';

/** Receives the messages of a connection. */
export interface MessageReceiver {
  /** Called once, before the first frame. */
  onHello(hello: Hello): void;
  onFrame(frame: Frame): void;
}

/** Divides the bytes of a connection into the hello and the frames after it. */
export class MessageReader {
  readonly #receiver: MessageReceiver;
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #hello: Buffer | undefined = Buffer.alloc(HELLO_BYTES);
  /** The body of the current frame, at the beginning of memory that all frames use; undefined while its header is read. */
  #body: Buffer | undefined;
  #memory = Buffer.from(new ArrayBuffer(0));
  /** How many bytes of the hello, the header or the body have arrived. */
  #filled = 0;

  constructor(receiver: MessageReceiver) {
    this.#receiver = receiver;
  }

  /** @throws {Error} For bytes that are not those of a host store of this version. The connection can't be used then. */
  push(chunk: Buffer): void {
    let offset = 0;
    while (offset < chunk.length) {
      const target = this.#hello ?? this.#body ?? this.#header;
      const copied = chunk.copy(target, this.#filled, offset);
      offset += copied;
      this.#filled += copied;
      if (this.#filled === target.length) this.#complete();
    }
  }

  #complete(): void {
    this.#filled = 0;
    if (this.#hello !== undefined) {
      const hello = decodeHello(this.#hello);
      this.#hello = undefined;
      this.#receiver.onHello(hello);
    } else if (this.#body === undefined) {
      this.#beginBody(this.#header.readUInt32LE(0));
    } else {
      const frame = this.#frameOf(this.#body);
      this.#body = undefined;
      this.#receiver.onFrame(frame);
    }
  }

  #beginBody(bytes: number): void {
    if (bytes === 0 || bytes > MAX_FRAME_BYTES) {
      throw new Error(`sent a frame of ${bytes} bytes; allowed are 1 to ${MAX_FRAME_BYTES}`);
    }
    // An ArrayBuffer of its own, because the numbers must begin at a multiple of 8.
    if (bytes > this.#memory.length) this.#memory = Buffer.from(new ArrayBuffer(8 * Math.ceil(bytes / 4)));
    this.#body = this.#memory.subarray(0, bytes);
  }

  #frameOf(body: Buffer): Frame {
    const field = this.#header.readUInt32LE(4);
    const isWide = field >= WIDE;
    const count = isWide ? field - WIDE : field;
    if (8 * count > body.length) throw new Error('sent a frame with fewer numbers than its header announces');
    const text = body.toString(isWide ? 'utf16le' : 'latin1', 8 * count);
    return new Frame(new Float64Array(this.#memory.buffer, 0, count), count, text);
  }
}
