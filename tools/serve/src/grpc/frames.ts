import { GrpcError, STATUS } from './grpc-error.ts';

/** Flag and length before each message. */
export const FRAME_HEAD = 5;
/** The largest message: a request of Envoy has a few hundred bytes. */
const MAX_MESSAGE = 262_144;
const TOO_LARGE = `A message must have at most ${MAX_MESSAGE} bytes.`;

/** Thrown for a message that has more than can be read. */
export class TooLargeMessage extends GrpcError {
  constructor(message: string) {
    super(STATUS.resourceExhausted, message);
  }
}

/** Collects the body of a unary call, which must be exactly one message. */
export class UnaryBody {
  #chunks: Buffer[] = [];
  #size = 0;

  /** Takes a part of the body. What is too large for a message is counted, and not kept. */
  take(chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#isTooLarge) this.#chunks = [];
    else this.#chunks.push(chunk);
  }

  get #isTooLarge(): boolean {
    return this.#size > MAX_MESSAGE + FRAME_HEAD;
  }

  /**
   * Returns the body with the head of its frame, when all of it is there.
   *
   * @throws {TooLargeMessage} If it is larger than a message may be.
   * @throws {GrpcError} If it is not exactly one message without compression.
   */
  message(): Buffer {
    if (this.#isTooLarge) throw new TooLargeMessage(TOO_LARGE);
    const bytes = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
    if (bytes.length < FRAME_HEAD) throw new GrpcError(STATUS.internal, 'The call ends before its message.');
    if (bytes[0] !== 0) throw new GrpcError(STATUS.unimplemented, 'Compressed messages are not supported.');
    const length = bytes.readUInt32BE(1);
    if (length > MAX_MESSAGE) throw new TooLargeMessage(TOO_LARGE);
    if (length > bytes.length - FRAME_HEAD) throw new GrpcError(STATUS.internal, 'The message ends too early.');
    if (length < bytes.length - FRAME_HEAD) throw new GrpcError(STATUS.internal, 'The call has more than one message.');
    return bytes;
  }
}

/** Writes the head of a frame into the headroom of a message. */
export function framed(bytes: Buffer): Buffer {
  bytes[0] = 0;
  bytes.writeUInt32BE(bytes.length - FRAME_HEAD, 1);
  return bytes;
}
