import { connect } from 'node:net';
import {
  HEAD_BYTES,
  isAcknowledgement,
  isEndOfStream,
  moreWindow,
  opening,
  pong,
  SETTINGS_ACKNOWLEDGED,
  TYPE,
} from './frames.mjs';

/** After so many bytes of answers the server may send as many again. */
const WINDOW_UPDATE_BYTES = 2 ** 29;
/** A frame of gRPC, and in it `overall_code: OK`, the first field of the response. */
const GRPC_HEAD_BYTES = 5;
const OVERALL_CODE = 0x08;
const OK = 1;

/**
 * A connection of HTTP/2 that makes one kind of call: a raw socket and a look at the head of each frame. A client that
 * does more is slower than the servers that it should measure.
 */
export class Connection {
  #socket;
  #template;
  #answered;
  #nextStream = 1;
  /** @type {Buffer} */
  #rest = Buffer.alloc(0);
  #received = 0;
  /** @type {Set<number>} */
  #allowed = new Set();

  /**
   * @param {object} options
   * @param {number} options.port
   * @param {import('./frames.mjs').CallTemplate} options.template
   * @param {(streams: readonly number[]) => void} options.answered Told which calls of one packet were allowed.
   */
  constructor({ port, template, answered }) {
    this.#template = template;
    this.#answered = answered;
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.on('data', (chunk) => this.#take(chunk));
    this.#socket.on('end', () => {
      throw new Error('The server closed a connection.');
    });
    this.#socket.write(opening());
  }

  /**
   * Makes calls, in one packet.
   *
   * @param {readonly string[]} ids
   * @returns {number} the number of the first; the others follow, each by two higher
   */
  call(ids) {
    const first = this.#nextStream;
    const calls = ids.map((id, i) => this.#template.call(first + 2 * i, id));
    this.#nextStream += 2 * ids.length;
    this.#socket.write(calls.length === 1 ? /** @type {Buffer} */ (calls[0]) : Buffer.concat(calls));
    return first;
  }

  /** @param {Buffer} chunk */
  #take(chunk) {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    /** @type {number[]} */
    const ended = [];
    let at = 0;
    while (bytes.length - at >= HEAD_BYTES) {
      const end = at + HEAD_BYTES + bytes.readUIntBE(at, 3);
      if (end > bytes.length) break;
      const stream = this.#frame(bytes, at, end);
      if (stream !== undefined) ended.push(stream);
      at = end;
    }
    this.#rest = bytes.subarray(at);
    if (ended.length > 0) this.#answered(ended);
  }

  /**
   * @param {Buffer} bytes
   * @param {number} at
   * @param {number} end
   * @returns {number | undefined} the number of the call that is answered by this frame
   */
  #frame(bytes, at, end) {
    const type = bytes[at + 3];
    const flags = bytes[at + 4] ?? 0;
    const stream = bytes.readUInt32BE(at + 5);
    const payload = at + HEAD_BYTES;
    if (type === TYPE.data) this.#data(bytes, payload, end, stream);
    else if (type === TYPE.settings && !isAcknowledgement(flags)) this.#socket.write(SETTINGS_ACKNOWLEDGED);
    else if (type === TYPE.ping && !isAcknowledgement(flags)) this.#socket.write(pong(bytes.subarray(payload, end)));
    else if (type === TYPE.resetStream || type === TYPE.goAway)
      throw new Error(`The server sent a frame of type ${type}.`);
    if ((type !== TYPE.data && type !== TYPE.headers) || !isEndOfStream(flags)) return undefined;
    if (!this.#allowed.delete(stream)) throw new Error('An answer does not allow its request.');
    return stream;
  }

  /**
   * @param {Buffer} bytes
   * @param {number} payload
   * @param {number} end
   * @param {number} stream
   */
  #data(bytes, payload, end, stream) {
    this.#received += end - payload;
    if (this.#received > WINDOW_UPDATE_BYTES) {
      this.#socket.write(moreWindow(this.#received));
      this.#received = 0;
    }
    const message = payload + GRPC_HEAD_BYTES;
    if (end > message + 1 && bytes[message] === OVERALL_CODE && bytes[message + 1] === OK) this.#allowed.add(stream);
  }
}
