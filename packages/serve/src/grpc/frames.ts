import { GrpcError, STATUS } from './grpc-error.ts';

/** Flag and length before each message. */
export const FRAME_HEAD = 5;
/** The largest message: a request of Envoy has a few hundred bytes. */
const MAX_MESSAGE = 262_144;

/** Collects the body of a unary call, which must be exactly one message. */
export class UnaryBody {
  readonly #chunks: Buffer[] = [];
  #size = 0;

  /** @throws {GrpcError} If the body is larger than a message may be. */
  take(chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size > MAX_MESSAGE + FRAME_HEAD) {
      throw new GrpcError(STATUS.resourceExhausted, `A message must have at most ${MAX_MESSAGE} bytes.`);
    }
    this.#chunks.push(chunk);
  }

  /**
   * Returns the body with the head of its frame, when all of it is there.
   *
   * @throws {GrpcError} If it is not exactly one message without compression.
   */
  message(): Buffer {
    const bytes = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
    if (bytes.length < FRAME_HEAD) throw new GrpcError(STATUS.internal, 'The call ends before its message.');
    if (bytes[0] !== 0) throw new GrpcError(STATUS.unimplemented, 'Compressed messages are not supported.');
    const length = bytes.readUInt32BE(1);
    if (length > MAX_MESSAGE) {
      throw new GrpcError(STATUS.resourceExhausted, `A message must have at most ${MAX_MESSAGE} bytes.`);
    }
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
