/** The types of frames of HTTP/2 that the load generator knows. */
export const TYPE = { data: 0, headers: 1, resetStream: 3, settings: 4, ping: 6, goAway: 7, windowUpdate: 8 };
const FLAG = { endStream: 1, acknowledged: 1, endHeaders: 4 };
export const HEAD_BYTES = 9;

/** The largest window of flow control. */
const LARGEST_WINDOW = 2 ** 31 - 1;
const FIRST_WINDOW = 65_535;
const INITIAL_WINDOW_SIZE = 4;

/**
 * @param {number} type
 * @param {number} flags
 * @param {number} stream
 * @param {Uint8Array} payload
 */
function frame(type, flags, stream, payload) {
  const bytes = Buffer.alloc(HEAD_BYTES + payload.length);
  bytes.writeUIntBE(payload.length, 0, 3);
  bytes[3] = type;
  bytes[4] = flags;
  bytes.writeUInt32BE(stream, 5);
  bytes.set(payload, HEAD_BYTES);
  return bytes;
}

/** @param {number} increment */
function windowUpdate(increment) {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(increment);
  return frame(TYPE.windowUpdate, 0, 0, payload);
}

/** What a client sends first: with windows so large that it has to send no updates of them. */
export function opening() {
  const settings = Buffer.alloc(6);
  settings.writeUInt16BE(INITIAL_WINDOW_SIZE, 0);
  settings.writeUInt32BE(LARGEST_WINDOW, 2);
  return Buffer.concat([
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    frame(TYPE.settings, 0, 0, settings),
    windowUpdate(LARGEST_WINDOW - FIRST_WINDOW),
  ]);
}

export const SETTINGS_ACKNOWLEDGED = frame(TYPE.settings, FLAG.acknowledged, 0, new Uint8Array());

/** @param {Uint8Array} payload */
export const pong = (payload) => frame(TYPE.ping, FLAG.acknowledged, 0, payload);

/** @param {number} bytes */
export const moreWindow = (bytes) => windowUpdate(bytes);

/** @param {number} flags */
export const isEndOfStream = (flags) => (flags & FLAG.endStream) !== 0;

/** @param {number} flags */
export const isAcknowledgement = (flags) => (flags & FLAG.acknowledged) !== 0;

const PATH = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit';
const AUTHORITY = 'ratelimit';

/** The fields of a call in the compression of HTTP/2 (HPACK): the first time with their texts, which the server keeps. */
const FIRST_HEAD = Buffer.concat([
  // :method POST and :scheme http are in the static table.
  Buffer.from([0x83, 0x86]),
  kept(0x44, PATH),
  kept(0x41, AUTHORITY),
  kept(0x5f, 'application/grpc'),
  Buffer.from([0x40]),
  text('te'),
  text('trailers'),
]);
/** Afterwards by their numbers, as Envoy sends them: the last that was kept is 62. */
const NEXT_HEAD = Buffer.from([0x83, 0x86, 0x80 | 65, 0x80 | 64, 0x80 | 63, 0x80 | 62]);

/**
 * @param {number} name
 * @param {string} value
 */
function kept(name, value) {
  return Buffer.concat([Buffer.from([name]), text(value)]);
}

/** @param {string} value Shorter than 127 characters. */
function text(value) {
  return Buffer.concat([Buffer.from([value.length]), Buffer.from(value)]);
}

/** A call of one message: its two frames, of which only the number of the stream and the id change. */
export class CallTemplate {
  #first;
  #next;
  #id;

  /**
   * @param {Buffer} message
   * @param {string} id Its text in the message, which other ids of this length replace.
   */
  constructor(message, id) {
    const head = Buffer.alloc(5);
    head.writeUInt32BE(message.length, 1);
    const data = frame(TYPE.data, FLAG.endStream, 0, Buffer.concat([head, message]));
    this.#first = { bytes: Buffer.concat([headersFrame(FIRST_HEAD), data]), dataAt: HEAD_BYTES + FIRST_HEAD.length };
    this.#next = { bytes: Buffer.concat([headersFrame(NEXT_HEAD), data]), dataAt: HEAD_BYTES + NEXT_HEAD.length };
    this.#id = { at: data.indexOf(id), length: id.length };
  }

  /**
   * Returns the bytes of a call.
   *
   * @param {number} stream An odd number: 1 for the first call of a connection.
   * @param {string} id
   */
  call(stream, id) {
    const { bytes, dataAt } = stream === 1 ? this.#first : this.#next;
    const own = Buffer.from(bytes);
    own.writeUInt32BE(stream, 5);
    own.writeUInt32BE(stream, dataAt + 5);
    own.write(id, dataAt + this.#id.at, this.#id.length, 'latin1');
    return own;
  }
}

/** @param {Buffer} block */
function headersFrame(block) {
  return frame(TYPE.headers, FLAG.endHeaders, 0, block);
}
